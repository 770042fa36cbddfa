"""One run of a period at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from harness.calendar import Period
from harness.engine.errors import PeriodBusy


@contextmanager
def locked(store: sa.Engine, period: Period) -> Iterator[None]:
    """Hold the period's lock; whoever dies loses it.

    PostgreSQL: an advisory lock of the session, apart for each schema. SQLite: a lock on a file
    beside the database.

    Raises:
        PeriodBusy: another run holds it.
    """
    if store.dialect.name == "postgresql":
        options = {"isolation_level": "AUTOCOMMIT"}
        with store.connect().execution_options(**options) as connection:
            number = period.year * 100 + period.month
            held = connection.execute(
                sa.text(
                    "select pg_try_advisory_lock("
                    "hashtext('tally-engine.' || current_schema()), :number)"
                ),
                {"number": number},
            ).scalar()
            if not held:
                raise _busy(period)
            try:
                yield
            finally:
                connection.execute(sa.text("select pg_advisory_unlock_all()"))
        return
    path = f"{store.url.database}.{period}.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _busy(period) from None
        yield
    finally:
        os.close(descriptor)


def _busy(period: Period) -> PeriodBusy:
    return PeriodBusy(f"{period} is being computed already; try again once that run is over")
