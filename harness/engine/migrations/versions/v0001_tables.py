"""Create every table."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

BYTES = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
MONEY = sa.Text().with_variant(sa.Numeric(14, 2), "postgresql")
QUANTITY = sa.Text().with_variant(sa.Numeric(), "postgresql")


def _text(name: str, reference: str = "", *, null: bool = False) -> sa.Column[Any]:
    keys = [sa.ForeignKey(reference)] if reference else []
    return sa.Column(name, BYTES, *keys, nullable=null)


def _instant(name: str, *, null: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.BigInteger(), nullable=null, autoincrement=False)


def _number(name: str, kind: Any) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)


def _key() -> list[sa.Column[Any]]:
    names = ("cloud", "platform", "resource_type", "resource_id", "project_id")
    return [_text("run_id", "runs.id"), *map(_text, names)]


def _interval() -> list[sa.Column[Any]]:
    return [_text("state"), _instant("from_ts"), _instant("to_ts")]


def upgrade() -> None:
    """Create the tables and their indexes."""
    _runs()
    _records()
    _documents()


def _runs() -> None:
    op.create_table(
        "billing_periods",
        _text("period"),
        _text("status"),
        _text("finalized_run", null=True),
        _instant("finalized_at", null=True),
        sa.PrimaryKeyConstraint("period"),
    )
    op.create_table(
        "pricing_models",
        _text("version"),
        _instant("valid_from"),
        _text("currency"),
        _text("document"),
        _instant("imported_at"),
        sa.PrimaryKeyConstraint("version"),
        sa.UniqueConstraint("valid_from"),
    )
    op.create_table(
        "runs",
        _text("id"),
        _text("kind"),
        _text("corrects_run_id", "runs.id", null=True),
        _text("period", "billing_periods.period"),
        _text("status"),
        _text("pricing_version", "pricing_models.version", null=True),
        _text("clouds"),
        _instant("started_at"),
        _instant("completed_at", null=True),
        _text("stats"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("runs_by_period", "runs", ["period", "status"])


def _records() -> None:
    key = ("run_id", "cloud", "resource_type", "resource_id", "from_ts")
    op.create_table(
        "usage_records",
        *_key(),
        *_interval(),
        _instant("seconds"),
        _text("usage"),
        sa.PrimaryKeyConstraint(*key),
    )
    op.create_table(
        "rated_records",
        *_key(),
        *_interval(),
        _text("dimension"),
        _number("quantity", QUANTITY),
        _number("amount", MONEY),
        _text("currency"),
        sa.PrimaryKeyConstraint(*key, "dimension"),
    )
    for table in ("usage_records", "rated_records"):
        op.create_index(f"{table}_by_project", table, ["run_id", "cloud", "project_id"])


def _documents() -> None:
    op.create_table(
        "correction_deltas",
        *_key(),
        _text("dimension"),
        _number("old_amount", MONEY),
        _number("new_amount", MONEY),
        _number("delta", MONEY),
        _text("currency"),
        sa.PrimaryKeyConstraint(
            "run_id",
            "cloud",
            "platform",
            "resource_type",
            "resource_id",
            "project_id",
            "dimension",
        ),
    )
    op.create_table(
        "project_statements",
        _text("run_id", "runs.id"),
        _text("key"),
        _text("cloud"),
        _text("project_id"),
        _number("total", MONEY),
        _text("currency"),
        _text("document"),
        sa.PrimaryKeyConstraint("run_id", "key"),
    )


def downgrade() -> None:
    """Drop the tables."""
    for table in (
        "project_statements",
        "correction_deltas",
        "rated_records",
        "usage_records",
        "runs",
        "pricing_models",
        "billing_periods",
    ):
        op.drop_table(table)
