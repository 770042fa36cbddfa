"""What the routes work with: one store, one doorkeeper, one set of counters."""

from __future__ import annotations

import threading
import time
from typing import Self

import sqlalchemy
from sqlalchemy.exc import SQLAlchemyError

from harness.reporting import migrate
from harness.reporting.access import Doorkeeper
from harness.reporting.ingest import Ingest
from harness.reporting.metrics import Metrics
from harness.reporting.reconciliation.sync import Sync
from harness.reporting.settings import Settings
from harness.reporting.store import Store


class Service:
    """Everything behind one app.

    Attributes:
        settings: how it runs.
        store: its database.
        metrics: its counters.
        doorkeeper: lets callers in.
        ingest: takes batches.
        sync: reconciles clouds.
    """

    def __init__(self, settings: Settings) -> None:
        """Open the database lazily: a service starts whether or not its database is there."""
        self.settings = settings
        self.store = Store(settings.db_url, connections=settings.db_connections)
        self.metrics = Metrics(self.store, refresh=settings.metrics_refresh)
        self.doorkeeper = Doorkeeper(
            self.store,
            internal_token=settings.internal_token,
            authenticated=settings.authenticated,
        )
        self.ingest = Ingest(
            self.store, self.metrics, require_size_schema=settings.require_size_schema
        )
        self.sync = Sync(
            self.store,
            self.metrics,
            settle=settings.sync_settle,
            budget=settings.sync_budget,
        )
        self._used_at = time.monotonic()
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the database's connections."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def trouble(self) -> str | None:
        """Return why requests cannot be served now, None when they can."""
        try:
            with self.store.read() as connection:
                version = migrate.current(connection)
        except SQLAlchemyError as error:
            return f"the database does not answer ({type(error).__name__})"
        if version != migrate.NEWEST:
            return (
                f"the database is at schema version {version} and has to be at {migrate.NEWEST};"
                " run tally-harness reporting admin migrate"
            )
        return None

    def unhealthy_for(self) -> float:
        """Return for how many seconds the database has been of no use; 0 while it answers."""
        try:
            with self.store.read() as connection:
                connection.execute(sqlalchemy.text("SELECT 1"))
        except SQLAlchemyError:
            return time.monotonic() - self._used_at
        with self._lock:
            self._used_at = time.monotonic()
        return 0
