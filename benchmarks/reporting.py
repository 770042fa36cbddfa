"""The Reporting API's cost as ratios in one run, on SQLite and on a private PostgreSQL.

Ingest of a month (validation, deduplication, projection, audit) against bare ``executemany``
inserts of the rows it leaves, and statistics over ten months against a bare ``COUNT … GROUP BY``:
the best of three, since machines are noisy. The tenth month's ingest against the first one's, by
processor time: batches into a database that holds nine months alternate with batches into an empty
one, and the median of five such pairs counts.
"""

from __future__ import annotations

import gzip
import statistics as figures
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy

from harness.reporting import admin, batch, statistics, wire
from harness.reporting.access import Caller, Credential
from harness.reporting.contract import EventStatisticsQuery
from harness.reporting.instant import DAY, parse
from harness.reporting.schema import AUDIT_LOG, CURRENT_RESOURCES, EVENTS
from harness.reporting.service import Service
from harness.reporting.settings import Settings
from harness.stack.interface import Unavailable
from harness.stack.postgresql import PrivatePostgres

MONTH = Path(__file__).parents[1] / "tests" / "reporting" / "month.jsonl.gz"
CALLER = Caller("benchmark", "admin", Credential("benchmark", "openstack", "os-sim"))
ROUNDS = 3
PAIRS = 5
BATCH = 500
RATIO = 5.0
GROWTH = 1.2


def main() -> int:
    """Print a line per ratio; return 0 when all hold."""
    lines = gzip.decompress(MONTH.read_bytes()).splitlines()
    held = True
    with tempfile.TemporaryDirectory() as directory:
        numbers = iter(range(1000))
        held &= _measure("sqlite", lambda: f"sqlite:///{directory}/{next(numbers)}.db", lines)
    try:
        server = PrivatePostgres()
    except Unavailable as error:
        print(f"postgresql: not measured: {error}")
        return 0 if held else 1
    with server:
        numbers = iter(range(1000))
        held &= _measure("postgresql", lambda: server.create_database(f"b{next(numbers)}"), lines)
    return 0 if held else 1


def _measure(kind: str, new: Callable[[], str], lines: list[bytes]) -> bool:
    ingest, bare = [], []
    for _ in range(ROUNDS):
        with _service(new()) as full, _service(new()) as empty:
            ingest.append(_timed(lambda full=full: _ingest(full, lines)))
            tables = _rows(full)
            bare.append(_timed(lambda empty=empty, tables=tables: _insert(empty, tables)))
    held = _report(f"{kind}: ingest / bare inserts", min(ingest) / min(bare), RATIO)
    with _service(new()) as service:
        for month in range(10):
            _ingest(service, _shifted(lines, month))
        counted = min(_timed(lambda: _count(service)) for _ in range(ROUNDS))
        answered = min(_timed(lambda: _statistics(service)) for _ in range(ROUNDS))
    held &= _report(f"{kind}: statistics / bare count", answered / counted, RATIO)
    growth = figures.median(_growth(new, lines) for _ in range(PAIRS))
    return _report(f"{kind}: tenth month / first month", growth, GROWTH) and held


def _growth(new: Callable[[], str], lines: list[bytes]) -> float:
    """Return what a month costs on top of nine by what it costs an empty database."""
    with _service(new()) as full, _service(new()) as empty:
        for month in range(9):
            _ingest(full, _shifted(lines, month))
        tenth = _shifted(lines, 9)
        spent = {full: 0, empty: 0}
        for at in range(0, len(tenth), BATCH):
            for service in spent:
                began = _processor_time(service)
                _ingest(service, tenth[at : at + BATCH])
                spent[service] += _processor_time(service) - began
    return spent[full] / spent[empty]


def _processor_time(service: Service) -> int:
    """Return the nanoseconds this process has run, and the one PostgreSQL serves it with."""
    spent = time.process_time_ns()
    if service.store.engine.dialect.name == "postgresql":
        with service.store.read() as connection:
            backend = connection.execute(sqlalchemy.select(sqlalchemy.func.pg_backend_pid()))
            schedule = Path(f"/proc/{backend.scalar_one()}/schedstat").read_text(encoding="ascii")
            spent += int(schedule.split()[0])
    return spent


def _report(what: str, ratio: float, most: float) -> bool:
    print(f"{what}: {ratio:.2f} (at most {most})")
    return ratio <= most


@contextmanager
def _service(url: str) -> Iterator[Service]:
    admin.migrate(url)
    with Service(Settings(db_url=url)) as service:
        with service.store.read() as connection:
            connection.execute(sqlalchemy.text("SELECT 1"))
        yield service


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _ingest(service: Service, lines: list[bytes]) -> None:
    for at in range(0, len(lines), BATCH):
        body = b"[" + b",".join(lines[at : at + BATCH]) + b"]"
        outcome = service.ingest.take(batch.split(body), CALLER)
        if outcome.accepted != len(lines[at : at + BATCH]):
            raise AssertionError(outcome)
        wire.encode(outcome.document())


def _rows(service: Service) -> dict[sqlalchemy.Table, list[tuple[Any, ...]]]:
    with service.store.read() as connection:
        return {
            table: [tuple(row) for row in connection.execute(sqlalchemy.select(table))]
            for table in (EVENTS, CURRENT_RESOURCES, AUDIT_LOG)
        }


def _insert(service: Service, tables: dict[sqlalchemy.Table, list[tuple[Any, ...]]]) -> None:
    """Insert the same rows through the driver's executemany, a transaction per batch of events."""
    for table, rows in tables.items():
        for at in range(0, len(rows), BATCH):
            with service.store.write() as transaction:
                transaction.insert_many(transaction.insert(table), rows[at : at + BATCH])


def _shifted(lines: list[bytes], month: int) -> list[bytes]:
    """Return the month's events as another month's: other ids, other instants."""
    year = b"%d" % (2026 + month)
    tag = b"%02d" % month
    return [
        line.replace(b'"timestamp":"2026', b'"timestamp":"' + year)
        .replace(b'"event_id":"', b'"event_id":"' + tag)
        .replace(b'"resource_id":"', b'"resource_id":"' + tag)
        for line in lines
    ]


_START, _END = parse("2026-07-01T00:00:00Z"), parse("2035-09-01T00:00:00Z")


def _statistics(service: Service) -> None:
    """Answer the ten months, each within the widest window there is."""
    with service.store.read() as connection:
        for year in range(2026, 2036):
            start = parse(f"{year}-07-01T00:00:00Z")
            wanted = EventStatisticsQuery.model_construct(
                group_by="cloud,event_type", from_=start, to=start + 31 * DAY, interval="1d"
            )
            wire.encode(statistics.events(connection, CALLER, wanted))


def _count(service: Service) -> None:
    bucket = EVENTS.c.timestamp // DAY
    query = sqlalchemy.select(
        bucket, EVENTS.c.cloud, EVENTS.c.event_type, sqlalchemy.func.count()
    ).group_by(bucket, EVENTS.c.cloud, EVENTS.c.event_type)
    with service.store.read() as connection:
        connection.execute(query.where(EVENTS.c.timestamp.between(_START, _END))).all()


if __name__ == "__main__":
    raise SystemExit(main())
