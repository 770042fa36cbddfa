"""Alembic's entry: migrates over the connection that `harness.reporting.migrate` opened."""

from __future__ import annotations

from alembic import context

from harness.reporting.schema import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
