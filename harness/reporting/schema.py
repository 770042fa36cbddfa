"""The tables of the Reporting API, for SQLite and PostgreSQL alike.

Instants are ``BIGINT`` microseconds since 1970-01-01 UTC, JSON is ``TEXT`` with numbers spelt as
they arrived, ids of rows are UUID texts. Text compares by bytes, so both databases order alike.
The engine reads `events`, `current_resources`, `projects` and `project_relations` by these names.
Databases are brought here by the migrations next to this module; a test holds the two equal.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

METADATA = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

BYTES = Text().with_variant(Text(collation="C"), "postgresql")


def _text(name: str, *, key: bool = False, null: bool = False) -> Column[str]:
    return Column(name, BYTES, primary_key=key, nullable=null)


def _instant(name: str, *, key: bool = False, null: bool = False) -> Column[int]:
    return Column(name, BigInteger, primary_key=key, nullable=null, autoincrement=False)


EVENTS = Table(
    "events",
    METADATA,
    _text("event_id", key=True),
    _instant("timestamp", key=True),
    _text("event_type"),
    _text("platform"),
    _text("cloud"),
    _text("resource_type"),
    _text("resource_id"),
    _text("project_id"),
    _text("source"),
    _text("payload"),
    _instant("received_at"),
    Index("ix_events_resource", "cloud", "resource_type", "resource_id", "timestamp"),
    Index("ix_events_timestamp", "timestamp", "event_id"),
)

REJECTED_EVENTS = Table(
    "rejected_events",
    METADATA,
    _text("id", key=True),
    _instant("received_at"),
    _text("cloud"),
    _text("reason"),
    _text("raw"),
    Index("ix_rejected_events_received_at", "received_at", "id"),
)

CURRENT_RESOURCES = Table(
    "current_resources",
    METADATA,
    _text("cloud", key=True),
    _text("resource_type", key=True),
    _text("resource_id", key=True),
    _text("platform"),
    _text("project_id"),
    _text("state"),
    _text("size"),
    _instant("created_at", null=True),
    _instant("deleted_at", null=True),
    _instant("first_event_at"),
    _text("last_event_type"),
    _instant("last_event_at"),
    _text("last_payload", null=True),
    Index("ix_current_resources_project", "cloud", "project_id"),
)

RESOURCE_TYPES = Table(
    "resource_types",
    METADATA,
    _text("platform", key=True),
    _text("resource_type", key=True),
    _text("size_schema"),
    _instant("updated_at"),
)

PROJECTS = Table(
    "projects",
    METADATA,
    _text("id", key=True),
    _text("platform"),
    _text("cloud"),
    _text("external_id"),
    _text("name", null=True),
    _text("metadata"),
    _instant("created_at"),
    UniqueConstraint("cloud", "external_id", name="uq_projects_cloud_external_id"),
)

PROJECT_RELATIONS = Table(
    "project_relations",
    METADATA,
    _text("id", key=True),
    Column("source_id", BYTES, ForeignKey("projects.id"), nullable=False),
    Column("target_id", BYTES, ForeignKey("projects.id"), nullable=False),
    _text("relation_type"),
    _text("metadata"),
    _instant("valid_from"),
    _instant("valid_to", null=True),
    _instant("created_at"),
    Index(
        "uq_project_relations_active",
        "source_id",
        "target_id",
        "relation_type",
        unique=True,
        sqlite_where=text("valid_to IS NULL"),
        postgresql_where=text("valid_to IS NULL"),
    ),
    Index("ix_project_relations_source_id", "source_id"),
    Index("ix_project_relations_target_id", "target_id"),
)

INGEST_CREDENTIALS = Table(
    "ingest_credentials",
    METADATA,
    _text("id", key=True),
    _text("platform"),
    _text("cloud"),
    _text("description", null=True),
    Column("token_sha256", BYTES, nullable=False, unique=True),
    _instant("created_at"),
    _instant("revoked_at", null=True),
)

API_TOKENS = Table(
    "api_tokens",
    METADATA,
    _text("id", key=True),
    _text("role"),
    _text("project_ids"),
    Column("token_sha256", BYTES, nullable=False, unique=True),
    _instant("created_at"),
    _instant("revoked_at", null=True),
)

AUDIT_LOG = Table(
    "audit_log",
    METADATA,
    _text("id", key=True),
    _instant("at"),
    _text("actor"),
    _text("action"),
    _text("detail"),
    Index("ix_audit_log_at", "at"),
)

SYNC_RUNS = Table(
    "sync_runs",
    METADATA,
    _text("id", key=True),
    _text("cloud"),
    _text("status"),
    _instant("at"),
    _instant("started_at"),
    _instant("finished_at", null=True),
    _text("stats"),
    Index("ix_sync_runs_cloud", "cloud", "status", "at"),
)

SIZE_NAMES = Table(
    "size_names",
    METADATA,
    _text("cloud", key=True),
    _text("resource_type", key=True),
    _text("member", key=True),
    _text("value", key=True),
    _text("name"),
)
