"""The outbox: events that are booked and not yet delivered, in a SQLite file."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from harness.errors import HarnessError

SCHEMA_VERSION = 1

_BUSY_TIMEOUT = 5.0
_ANSWER_TIMEOUT = 2.0
_VACUUM_PAGES = 1000
_CREATE = (
    "CREATE TABLE outbox "
    "(id INTEGER PRIMARY KEY AUTOINCREMENT, event_json TEXT NOT NULL, created_at TEXT NOT NULL)"
)


class OutboxError(HarnessError):
    """The outbox cannot be opened, read or written; nothing of a failed write is kept."""


@dataclass(frozen=True, slots=True)
class Row:
    """An event in the outbox.

    Attributes:
        id: grows with every event booked.
        event: canonical JSON.
    """

    id: int
    event: str


class Outbox:
    """Keeps events until they are delivered; any thread may use it.

    A returned `insert` is on disk: WAL with full sync. One process owns the file.
    """

    def __init__(self, path: Path, *, now: Callable[[], float] = time.time) -> None:
        """Open the file, creating it with mode 0600.

        Args:
            path: the SQLite file.
            now: wall clock, Unix seconds.

        Raises:
            OutboxError: the file is none of ours, or cannot be opened.
        """
        self._path = path
        self._now = now
        self._lock = threading.Lock()
        try:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise OutboxError(f"opening the outbox {path}: {error.strerror}") from error
        with self._errors("opening"):
            self._connection = sqlite3.connect(
                path, timeout=_BUSY_TIMEOUT, isolation_level=None, check_same_thread=False
            )
        try:
            with self._errors("opening"):
                self._prepare()
                self._depth: int = self._one("SELECT count(*) FROM outbox")
        except OutboxError:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        self._connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # effective before any table
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        with self._transaction():
            version = self._one("PRAGMA user_version")
            if version == 0 and not self._one("SELECT count(*) FROM sqlite_master"):
                self._connection.execute(_CREATE)
                self._connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            elif version != SCHEMA_VERSION:
                raise OutboxError(
                    f"opening the outbox {self._path}: the file carries schema version {version}, "
                    f"this build needs {SCHEMA_VERSION}; name another file or move this one away"
                )

    @property
    def depth(self) -> int:
        """How many events wait."""
        return self._depth

    def insert(self, events: Sequence[bytes]) -> None:
        """Book events in one transaction, in order; on disk when this returns.

        Raises:
            OutboxError: none of them was booked.
        """
        created_at = datetime.fromtimestamp(self._now(), UTC).isoformat().replace("+00:00", "Z")
        rows = [(event.decode(), created_at) for event in events]
        with self._lock, self._errors("writing"):
            with self._transaction():
                self._connection.executemany(
                    "INSERT INTO outbox (event_json, created_at) VALUES (?, ?)", rows
                )
            self._depth += len(rows)

    def oldest(self, limit: int) -> list[Row]:
        """Return up to `limit` events, the oldest first.

        Raises:
            OutboxError: the file cannot be read.
        """
        with self._lock, self._errors("reading"):
            cursor = self._connection.execute(
                "SELECT id, event_json FROM outbox ORDER BY id LIMIT ?", (limit,)
            )
            return [Row(*row) for row in cursor]

    def delete(self, rows: Sequence[Row]) -> None:
        """Forget rows that `oldest` returned, all of them up to the last.

        Raises:
            OutboxError: none of them was deleted.
        """
        if not rows:
            return
        with self._lock, self._errors("writing"):
            with self._transaction():
                cursor = self._connection.execute(
                    "DELETE FROM outbox WHERE id <= ?", (rows[-1].id,)
                )
            self._depth -= cursor.rowcount
            # As a script, because `execute` steps once and a step frees one page.
            self._connection.executescript(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})")

    def oldest_seconds(self) -> float:
        """Return the age of the oldest event: 0 when empty, NaN when the file cannot be read."""
        if not self._lock.acquire(timeout=_ANSWER_TIMEOUT):
            return float("nan")
        try:
            row = self._connection.execute(
                "SELECT created_at FROM outbox ORDER BY id LIMIT 1"
            ).fetchone()
            if row is None:
                return 0.0
            return max(0.0, self._now() - datetime.fromisoformat(row[0]).timestamp())
        except (sqlite3.Error, ValueError):
            return float("nan")
        finally:
            self._lock.release()

    def answers(self) -> bool:
        """Tell whether the file can be read within two seconds."""
        if not self._lock.acquire(timeout=_ANSWER_TIMEOUT):
            return False
        try:
            self._connection.execute("SELECT id FROM outbox LIMIT 1").fetchone()
        except sqlite3.Error:
            return False
        else:
            return True
        finally:
            self._lock.release()

    def close(self) -> None:
        """Close the file; what waits in it is found by the next one to open it."""
        with self._lock:
            self._connection.close()

    def _one(self, statement: str) -> int:
        value: int = self._connection.execute(statement).fetchone()[0]
        return value

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise OutboxError(f"{doing} the outbox {self._path}: {error}") from error
