"""Create every table."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

BYTES = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, BYTES, nullable=null)


def _instant(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=null, autoincrement=False)


def upgrade() -> None:
    """Create the tables and their indexes."""
    _events()
    _resources()
    _registry()
    _access()
    _reconciliation()


def _events() -> None:
    op.create_table(
        "events",
        _text("event_id"),
        _instant("timestamp"),
        _text("event_type"),
        _text("platform"),
        _text("cloud"),
        _text("resource_type"),
        _text("resource_id"),
        _text("project_id"),
        _text("source"),
        _text("payload"),
        _instant("received_at"),
        sa.PrimaryKeyConstraint("event_id", "timestamp", name="pk_events"),
    )
    op.create_index(
        "ix_events_resource", "events", ["cloud", "resource_type", "resource_id", "timestamp"]
    )
    op.create_index("ix_events_timestamp", "events", ["timestamp", "event_id"])
    op.create_table(
        "rejected_events",
        _text("id"),
        _instant("received_at"),
        _text("cloud"),
        _text("reason"),
        _text("raw"),
        sa.PrimaryKeyConstraint("id", name="pk_rejected_events"),
    )
    op.create_index("ix_rejected_events_received_at", "rejected_events", ["received_at", "id"])


def _resources() -> None:
    op.create_table(
        "current_resources",
        _text("cloud"),
        _text("resource_type"),
        _text("resource_id"),
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
        sa.PrimaryKeyConstraint(
            "cloud", "resource_type", "resource_id", name="pk_current_resources"
        ),
    )
    op.create_index("ix_current_resources_project", "current_resources", ["cloud", "project_id"])
    op.create_table(
        "resource_types",
        _text("platform"),
        _text("resource_type"),
        _text("size_schema"),
        _instant("updated_at"),
        sa.PrimaryKeyConstraint("platform", "resource_type", name="pk_resource_types"),
    )


def _registry() -> None:
    op.create_table(
        "projects",
        _text("id"),
        _text("platform"),
        _text("cloud"),
        _text("external_id"),
        _text("name", null=True),
        _text("metadata"),
        _instant("created_at"),
        sa.PrimaryKeyConstraint("id", name="pk_projects"),
        sa.UniqueConstraint("cloud", "external_id", name="uq_projects_cloud_external_id"),
    )
    op.create_table(
        "project_relations",
        _text("id"),
        _text("source_id"),
        _text("target_id"),
        _text("relation_type"),
        _text("metadata"),
        _instant("valid_from"),
        _instant("valid_to", null=True),
        _instant("created_at"),
        sa.PrimaryKeyConstraint("id", name="pk_project_relations"),
        sa.ForeignKeyConstraint(
            ["source_id"], ["projects.id"], name="fk_project_relations_source_id"
        ),
        sa.ForeignKeyConstraint(
            ["target_id"], ["projects.id"], name="fk_project_relations_target_id"
        ),
    )
    op.create_index(
        "uq_project_relations_active",
        "project_relations",
        ["source_id", "target_id", "relation_type"],
        unique=True,
        sqlite_where=sa.text("valid_to IS NULL"),
        postgresql_where=sa.text("valid_to IS NULL"),
    )
    op.create_index("ix_project_relations_source_id", "project_relations", ["source_id"])
    op.create_index("ix_project_relations_target_id", "project_relations", ["target_id"])


def _access() -> None:
    op.create_table(
        "ingest_credentials",
        _text("id"),
        _text("platform"),
        _text("cloud"),
        _text("description", null=True),
        _text("token_sha256"),
        _instant("created_at"),
        _instant("revoked_at", null=True),
        sa.PrimaryKeyConstraint("id", name="pk_ingest_credentials"),
        sa.UniqueConstraint("token_sha256", name="uq_ingest_credentials_token_sha256"),
    )
    op.create_table(
        "api_tokens",
        _text("id"),
        _text("role"),
        _text("project_ids"),
        _text("token_sha256"),
        _instant("created_at"),
        _instant("revoked_at", null=True),
        sa.PrimaryKeyConstraint("id", name="pk_api_tokens"),
        sa.UniqueConstraint("token_sha256", name="uq_api_tokens_token_sha256"),
    )
    op.create_table(
        "audit_log",
        _text("id"),
        _instant("at"),
        _text("actor"),
        _text("action"),
        _text("detail"),
        sa.PrimaryKeyConstraint("id", name="pk_audit_log"),
    )
    op.create_index("ix_audit_log_at", "audit_log", ["at"])


def _reconciliation() -> None:
    op.create_table(
        "sync_runs",
        _text("id"),
        _text("cloud"),
        _text("status"),
        _instant("at"),
        _instant("started_at"),
        _instant("finished_at", null=True),
        _text("stats"),
        sa.PrimaryKeyConstraint("id", name="pk_sync_runs"),
    )
    op.create_index("ix_sync_runs_cloud", "sync_runs", ["cloud", "status", "at"])
    op.create_table(
        "size_names",
        _text("cloud"),
        _text("resource_type"),
        _text("member"),
        _text("value"),
        _text("name"),
        sa.PrimaryKeyConstraint("cloud", "resource_type", "member", "value", name="pk_size_names"),
    )


def downgrade() -> None:
    """Drop the tables."""
    for table in (
        "size_names",
        "sync_runs",
        "audit_log",
        "api_tokens",
        "ingest_credentials",
        "project_relations",
        "projects",
        "resource_types",
        "current_resources",
        "rejected_events",
        "events",
    ):
        op.drop_table(table)
