"""Alembic's entry: runs the migrations on the connection `harness.engine.migrate` opened."""

from __future__ import annotations

from alembic import context

from harness.engine.migrate import VERSION_TABLE
from harness.engine.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
