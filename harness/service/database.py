"""Database addresses and connections, shared by the services that store something."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import sqlalchemy
from sqlalchemy import event

from harness.errors import UsageError


def engine(url: str, *, connections: int = 10) -> sqlalchemy.Engine:
    """Open a database.

    Args:
        url: ``sqlite:///PATH`` or ``postgresql://…``.
        connections: most connections held at once.

    A SQLite file that does not exist is created readable by its owner alone. SQLite runs in WAL
    mode with full sync, foreign keys on, and a busy time-out of 30 s, and every transaction that
    SQLAlchemy begins is a real one (``BEGIN``, or ``BEGIN IMMEDIATE`` under the execution option
    ``immediate=True``). Errors show statements without the values they carried.

    Raises:
        UsageError: another scheme, or no driver for it. Never shows the password.
    """
    scheme = url.partition(":")[0]
    if scheme == "sqlite":
        return _sqlite(url, connections)
    if scheme in {"postgresql", "postgres"}:
        address = "postgresql+psycopg:" + url.partition(":")[2]
        try:
            return sqlalchemy.create_engine(
                address, pool_size=connections, max_overflow=0, hide_parameters=True
            )
        except (sqlalchemy.exc.ArgumentError, ValueError) as error:
            raise UsageError(
                "the database URL cannot be read; write postgresql://USER:PASSWORD@HOST:PORT/NAME"
            ) from error
        except ModuleNotFoundError as error:
            raise UsageError(
                "a postgresql:// database needs the driver: pip install 'tally-harness[postgres]'"
            ) from error
    raise UsageError(f'"{scheme}:…" is no database URL; use sqlite:///PATH or postgresql://…')


def _sqlite(url: str, connections: int) -> sqlalchemy.Engine:
    path = url.removeprefix("sqlite:///")
    if path == url or not path:
        raise UsageError("a SQLite database is named sqlite:///PATH, its absolute path behind it")
    _create(Path(path))
    store = sqlalchemy.create_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        hide_parameters=True,
        connect_args={"timeout": 30},
    )

    @event.listens_for(store, "connect")
    def _connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # SQLAlchemy's BEGIN below is the only one
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.close()

    @event.listens_for(store, "begin")
    def _begin(connection: sqlalchemy.Connection) -> None:
        immediate = connection.get_execution_options().get("immediate", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return store


def _create(path: Path) -> None:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise UsageError(f"opening the database {path}: {error.strerror}") from error
