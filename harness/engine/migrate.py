"""Bringing the engine's database to the schema this build needs."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

VERSION_TABLE = "engine_version"


def migrate(store: sa.Engine) -> None:
    """Bring a database to the newest version; does nothing where it is there already.

    A SQLite file is created for its owner alone: it holds usage and money.
    """
    if store.dialect.name == "sqlite" and store.url.database:
        Path(store.url.database).touch(mode=0o600)
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.set_main_option("path_separator", "os")
    with store.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
