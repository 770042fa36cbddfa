"""Bringing a database to a schema version, and telling which one it has."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from harness.errors import HarnessError, UsageError
from harness.service import database

EMPTY = "0"

# Alembic announces its dialect whenever it is asked for a version.
logging.getLogger("alembic").setLevel(logging.WARNING)


class WrongSchema(HarnessError):
    """The database is not at the schema version this build needs."""


@dataclass(frozen=True, slots=True)
class Status:
    """Where a database stands.

    Attributes:
        current: its version, `EMPTY` for a database without the schema.
        newest: the version this build needs.
    """

    current: str
    newest: str

    @property
    def ready(self) -> bool:
        """Whether the service can use the database."""
        return self.current == self.newest


def _config(connection: sqlalchemy.Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.set_main_option("path_separator", "os")
    if connection is not None:
        config.attributes["connection"] = connection
    return config


def _versions() -> list[str]:
    scripts = ScriptDirectory.from_config(_config())
    return sorted(script.revision for script in scripts.walk_revisions())


NEWEST = _versions()[-1]


def current(connection: sqlalchemy.Connection) -> str:
    """Return the schema version of the database behind `connection`."""
    return MigrationContext.configure(connection).get_current_revision() or EMPTY


def status(url: str) -> Status:
    """Tell where the database at `url` stands."""
    store = database.engine(url)
    try:
        with store.connect() as connection:
            return Status(current(connection), NEWEST)
    finally:
        store.dispose()


def migrate(url: str) -> Status:
    """Bring the database at `url` to the newest version; does nothing where it is there."""
    return _run(url, NEWEST)


def migrate_down_to(url: str, version: str) -> Status:
    """Take migrations back until the database is at `version`; drops what they had created.

    Raises:
        UsageError: no such version, or one newer than the database's.
    """
    known = [EMPTY, *_versions()]
    if version not in known:
        raise UsageError(f'"{version}" is no schema version; use one of {", ".join(known)}')
    before = status(url).current
    if version > before:
        raise UsageError(f"the database is at {before}, which is below {version}; use migrate")
    return _run(url, version)


def _run(url: str, version: str) -> Status:
    store = database.engine(url)
    try:
        with store.begin() as connection:
            before = current(connection)
            if before > NEWEST:
                raise WrongSchema(
                    f"the database is at schema version {before}, this build knows up to {NEWEST};"
                    " use the build that migrated it"
                )
            if version > before:
                command.upgrade(_config(connection), version)
            elif version < before:
                command.downgrade(_config(connection), "base" if version == EMPTY else version)
        return Status(version, NEWEST)
    finally:
        store.dispose()
