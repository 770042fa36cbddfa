"""Databases of a month: files, or databases made on a PostgreSQL server."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy

from harness.service.database import engine
from harness.stack.interface import StackError


@contextmanager
def on_disk(directory: Path) -> Iterator[tuple[str, str]]:
    """Name the SQLite files of a month: the Reporting API's and the engine's address."""
    yield f"sqlite:///{directory / 'reporting.db'}", f"sqlite:///{directory / 'engine.db'}"


@contextmanager
def on_server(url: str, name: str) -> Iterator[tuple[str, str]]:
    """Make two databases on a PostgreSQL server, and drop them at the end.

    Args:
        url: ``postgresql://…`` of an account that may create databases.
        name: of the month.

    Raises:
        StackError: the server cannot be reached or refuses; never shows the password.
    """
    stem = re.sub(r"[^a-z0-9]+", "_", name.lower())[:30]
    names = [f"tally_{stem}_{secrets.token_hex(4)}_{part}" for part in ("reporting", "engine")]
    server = engine(url, connections=1)
    try:
        for made in names:
            _execute(server, f'CREATE DATABASE "{made}"')
        try:
            reporting, engine_url = (
                sqlalchemy.make_url(url).set(database=made).render_as_string(hide_password=False)
                for made in names
            )
            yield reporting, engine_url
        finally:
            for made in names:
                _execute(server, f'DROP DATABASE IF EXISTS "{made}" WITH (FORCE)')
    finally:
        server.dispose()


def _execute(server: sqlalchemy.Engine, statement: str) -> None:
    try:
        with server.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql(statement)
    except sqlalchemy.exc.SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        raise StackError(
            f"the PostgreSQL server: {' '.join(statement.split()[:2])}: {cause}".rstrip()
        ) from None
