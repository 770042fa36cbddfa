"""The engine's own tables. Instants are microseconds, JSON is text, run ids are UUID texts."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import sqlalchemy as sa

metadata = sa.MetaData()

#: Texts compare by bytes: SQLite does, PostgreSQL under the collation C.
BYTES = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


class Exact(sa.types.TypeDecorator[Decimal]):
    """A decimal of fixed places: NUMERIC on PostgreSQL, its digits as text on SQLite.

    SQLite's numbers are binary floating point, which money never passes through.
    """

    impl = sa.Text
    cache_ok = True

    def __init__(self, places: int, digits: int | None = None) -> None:
        """Hold `places` behind the point and at most `digits` altogether."""
        super().__init__()
        self.places = places
        self.digits = digits

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        """Choose the column's type."""
        if dialect.name == "postgresql":
            numeric = sa.Numeric(self.digits, self.places if self.digits else None)
            return dialect.type_descriptor(numeric)
        return dialect.type_descriptor(sa.Text())

    def process_bind_param(self, value: Decimal | None, dialect: sa.Dialect) -> Any:
        """Spell the number for SQLite."""
        return value if value is None or dialect.name == "postgresql" else f"{value:f}"

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Decimal | None:  # noqa: ARG002 - the decorator's interface
        """Read the number back."""
        return value if value is None or isinstance(value, Decimal) else Decimal(value)


def _key() -> list[sa.Column[Any]]:
    return [
        sa.Column("run_id", BYTES, sa.ForeignKey("runs.id"), nullable=False),
        sa.Column("cloud", BYTES, nullable=False),
        sa.Column("platform", BYTES, nullable=False),
        sa.Column("resource_type", BYTES, nullable=False),
        sa.Column("resource_id", BYTES, nullable=False),
        sa.Column("project_id", BYTES, nullable=False),
    ]


def _interval() -> list[sa.Column[Any]]:
    return [
        sa.Column("state", BYTES, nullable=False),
        sa.Column("from_ts", sa.BigInteger, nullable=False),
        sa.Column("to_ts", sa.BigInteger, nullable=False),
    ]


billing_periods = sa.Table(
    "billing_periods",
    metadata,
    sa.Column("period", BYTES, primary_key=True),
    sa.Column("status", BYTES, nullable=False),
    sa.Column("finalized_run", BYTES),
    sa.Column("finalized_at", sa.BigInteger),
)

pricing_models = sa.Table(
    "pricing_models",
    metadata,
    sa.Column("version", BYTES, primary_key=True),
    sa.Column("valid_from", sa.BigInteger, nullable=False, unique=True),
    sa.Column("currency", BYTES, nullable=False),
    sa.Column("document", BYTES, nullable=False),
    sa.Column("imported_at", sa.BigInteger, nullable=False),
)

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", BYTES, primary_key=True),
    sa.Column("kind", BYTES, nullable=False),
    sa.Column("corrects_run_id", BYTES, sa.ForeignKey("runs.id")),
    sa.Column("period", BYTES, sa.ForeignKey("billing_periods.period"), nullable=False),
    sa.Column("status", BYTES, nullable=False),
    sa.Column("pricing_version", BYTES, sa.ForeignKey("pricing_models.version")),
    sa.Column("clouds", BYTES, nullable=False),
    sa.Column("started_at", sa.BigInteger, nullable=False),
    sa.Column("completed_at", sa.BigInteger),
    sa.Column("stats", BYTES, nullable=False),
    sa.Index("runs_by_period", "period", "status"),
)

usage_records = sa.Table(
    "usage_records",
    metadata,
    *_key(),
    *_interval(),
    sa.Column("seconds", sa.BigInteger, nullable=False),
    sa.Column("usage", BYTES, nullable=False),
    sa.PrimaryKeyConstraint("run_id", "cloud", "resource_type", "resource_id", "from_ts"),
)

rated_records = sa.Table(
    "rated_records",
    metadata,
    *_key(),
    *_interval(),
    sa.Column("dimension", BYTES, nullable=False),
    sa.Column("quantity", Exact(4), nullable=False),
    sa.Column("amount", Exact(2, 14), nullable=False),
    sa.Column("currency", BYTES, nullable=False),
    sa.PrimaryKeyConstraint(
        "run_id", "cloud", "resource_type", "resource_id", "from_ts", "dimension"
    ),
)

correction_deltas = sa.Table(
    "correction_deltas",
    metadata,
    *_key(),
    sa.Column("dimension", BYTES, nullable=False),
    sa.Column("old_amount", Exact(2, 14), nullable=False),
    sa.Column("new_amount", Exact(2, 14), nullable=False),
    sa.Column("delta", Exact(2, 14), nullable=False),
    sa.Column("currency", BYTES, nullable=False),
    sa.PrimaryKeyConstraint(
        "run_id", "cloud", "platform", "resource_type", "resource_id", "project_id", "dimension"
    ),
)

project_statements = sa.Table(
    "project_statements",
    metadata,
    sa.Column("run_id", BYTES, sa.ForeignKey("runs.id"), nullable=False),
    sa.Column("key", BYTES, nullable=False),
    sa.Column("cloud", BYTES, nullable=False),
    sa.Column("project_id", BYTES, nullable=False),
    sa.Column("total", Exact(2, 14), nullable=False),
    sa.Column("currency", BYTES, nullable=False),
    sa.Column("document", BYTES, nullable=False),
    sa.PrimaryKeyConstraint("run_id", "key"),
)

sa.Index(
    "rated_records_by_project",
    rated_records.c.run_id,
    rated_records.c.cloud,
    rated_records.c.project_id,
)
sa.Index(
    "usage_records_by_project",
    usage_records.c.run_id,
    usage_records.c.cloud,
    usage_records.c.project_id,
)
