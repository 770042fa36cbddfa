"""The database behind the API: transactions, and the one writer a cloud has at a time."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import sqlalchemy
from sqlalchemy.dialects import postgresql, sqlite

from harness.reporting import instant, wire
from harness.reporting.schema import AUDIT_LOG
from harness.service import database


class Transaction:
    """A transaction that writes.

    Attributes:
        connection: where statements go.
        now: the transaction's instant.
    """

    def __init__(self, connection: sqlalchemy.Connection, now: int) -> None:
        """Wrap a connection on which a transaction has begun at `now`."""
        self.connection = connection
        self.now = now

    def insert(self, table: sqlalchemy.Table) -> Any:
        """Return an insert that may say ``on_conflict_…``, in the database's own dialect."""
        if self.connection.dialect.name == "postgresql":
            return postgresql.insert(table)
        return sqlite.insert(table)

    def insert_many(self, statement: Any, rows: Iterable[Sequence[Any]]) -> int:
        """Insert rows straight through the driver, and return how many came to be.

        SQLAlchemy words the statement and stays out of the way of the rows: its handling of each
        one's parameters takes longer than the database does.

        Args:
            statement: what `insert` began.
            rows: texts and whole numbers, in the order of the table's columns.
        """
        values = list(rows)
        if not values:
            return 0
        names = [column.name for column in statement.table.columns]
        dialect: Any = sqlite.dialect
        style = "qmark"
        if self.connection.dialect.name == "postgresql":
            dialect, style = postgresql.dialect, "format"
        done = self.connection.exec_driver_sql(
            str(statement.compile(dialect=dialect(paramstyle=style), column_keys=names)),
            values,
            execution_options={"preserve_rowcount": True},
        )
        return int(done.rowcount)

    def audit(self, actor: str, action: str, detail: dict[str, Any]) -> None:
        """Leave a row that says who did what."""
        self.connection.execute(
            AUDIT_LOG.insert(),
            {
                "id": str(uuid4()),
                "at": self.now,
                "actor": actor,
                "action": action,
                "detail": wire.text(detail),
            },
        )


class Store:
    """One database, opened once for the process."""

    def __init__(self, url: str, *, connections: int = 10) -> None:
        """Open the database at `url`; connects on first use."""
        self.engine = database.engine(url, connections=connections)
        self._held: set[str] = set()
        self._guard = threading.Lock()
        self._immediate = self.engine.execution_options(immediate=True)
        self._snapshot = self.engine
        if self.engine.dialect.name == "postgresql":
            self._snapshot = self.engine.execution_options(isolation_level="REPEATABLE READ")

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    @contextmanager
    def read(self) -> Iterator[sqlalchemy.Connection]:
        """Open a transaction that sees one state of the database throughout."""
        with self._snapshot.begin() as connection:
            yield connection

    @contextmanager
    def write(self, *locks: str) -> Iterator[Transaction]:
        """Open a transaction that is alone among those sharing one of its `locks`.

        A cloud has one writer at a time, so what a transaction reads of its resources cannot change
        before it writes them. SQLite has one writer altogether.
        """
        with self._immediate.begin() as connection:
            yield Transaction(connection, _begin(connection, locks))

    @contextmanager
    def hold(self, name: str) -> Iterator[bool]:
        """Hold a lock over many transactions; yields False where someone else holds it.

        On PostgreSQL it holds among all processes of the database, on SQLite within this one.
        """
        if self.engine.dialect.name == "postgresql":
            with self.engine.connect() as connection:
                session = connection.execution_options(isolation_level="AUTOCOMMIT")
                key = _key(f"held:{name}")
                locked = session.execute(
                    sqlalchemy.select(sqlalchemy.func.pg_try_advisory_lock(key))
                ).scalar_one()
                try:
                    yield bool(locked)
                finally:
                    if locked:
                        session.execute(sqlalchemy.select(sqlalchemy.func.pg_advisory_unlock(key)))
            return
        with self._guard:
            locked = name not in self._held
            self._held.add(name)
        try:
            yield locked
        finally:
            if locked:
                self._held.discard(name)


def among(
    connection: sqlalchemy.Connection,
    query: sqlalchemy.Select[Any],
    columns: Sequence[sqlalchemy.Column[Any]],
    keys: Iterable[tuple[str | int, ...]],
) -> sqlalchemy.Select[Any]:
    """Narrow a query to the rows whose `columns` equal one of the `keys`, found through an index.

    PostgreSQL is made to look the keys up one by one. Left to plan ``IN`` itself, it reads the
    whole table, or all of a cloud, while it has no statistics, which makes each batch dearer than
    the one before. The ``OFFSET`` keeps it from planning the look-ups as one join. SQLite uses an
    index for ``IN`` with one column, and reads the whole table for ``IN`` with several.
    """
    wanted = sorted(set(keys))
    if connection.dialect.name != "postgresql":
        query = query.where(columns[0].in_({key[0] for key in wanted}))
        return query.where(sqlalchemy.tuple_(*columns).in_(wanted)) if columns[1:] else query
    arrays = [
        sqlalchemy.literal(
            [key[place] for key in wanted],
            sqlalchemy.ARRAY(
                sqlalchemy.Text if isinstance(column.type, sqlalchemy.Text) else column.type
            ),
        )
        for place, column in enumerate(columns)
    ]
    names = [column.name for column in columns]
    key = sqlalchemy.func.unnest(*arrays).table_valued(*names).render_derived("wanted")
    same = [column == key.c[column.name] for column in columns]
    each = query.where(*same).offset(0).lateral("each")
    return sqlalchemy.select(each).select_from(key).join(each, sqlalchemy.true())


def _key(lock: str) -> int:
    """Return the number PostgreSQL knows a lock by."""
    return int.from_bytes(hashlib.sha256(lock.encode()).digest()[:8], signed=True)


def _begin(connection: sqlalchemy.Connection, locks: tuple[str, ...]) -> int:
    """Take the locks, in one order for all, and return the transaction's instant."""
    if connection.dialect.name != "postgresql":
        return instant.now()
    for key in sorted({_key(lock) for lock in locks}):
        connection.execute(sqlalchemy.select(sqlalchemy.func.pg_advisory_xact_lock(key)))
    clock = sqlalchemy.extract("epoch", sqlalchemy.func.clock_timestamp()) * instant.SECOND
    began = sqlalchemy.select(sqlalchemy.cast(clock, sqlalchemy.BigInteger))
    return int(connection.execute(began).scalar_one())
