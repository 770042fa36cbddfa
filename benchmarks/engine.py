"""Metering and rating, against reading the same events and parsing their JSON.

Everything is measured in one run, turn by turn, as the process's own time: on a shared machine
the wall says more about the neighbours.
"""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path

import msgspec
import sqlalchemy as sa

from harness.calendar import Period
from harness.collector.outcome import judge
from harness.engine.computation import bill
from harness.engine.instant import bounds
from harness.engine.metering import Meter
from harness.engine.rating import Rater
from harness.engine.reporting import EVENTS, snapshot
from harness.month import generate
from harness.month.render import body
from harness.pricing import read
from harness.reporting import admin
from harness.reporting.access import Caller, Credential
from harness.reporting.ingest import Ingest
from harness.reporting.metrics import Metrics
from harness.reporting.store import Store
from harness.service import database

PERIOD = Period(2026, 7)
CLOUD = "os-sim"
SEEDS = 20
TURNS = 15
BATCH = 500
#: Metering and rating one seed take at most this many times what the baseline takes.
MOST = 3.0
#: Twenty seeds take at most this many times what one takes.
MOST_TWENTY = 24.0
#: Twenty seeds need at most this many times the memory of one.
MOST_MEMORY = 1.5


def main() -> int:
    place = Path(tempfile.mkdtemp(prefix="tally-benchmark-"))
    try:
        return _measure(place)
    finally:
        shutil.rmtree(place)


def _measure(place: Path) -> int:
    one = _filled(f"sqlite:///{place}/one.db", [1])
    many = _filled(f"sqlite:///{place}/many.db", range(1, SEEDS + 1))
    exact = msgspec.json.Decoder(float_hook=Decimal).decode
    baseline, quick, metering = _turns(
        TURNS,
        lambda: _read(one, lambda text: json.loads(text, parse_float=Decimal)),
        lambda: _read(one, exact),
        lambda: _bill(one),
    )
    (twenty,) = _turns(3, lambda: _bill(many))
    ratio, linear = metering / baseline, twenty / metering
    memory = _peak(many) / _peak(one)
    print(f"reading and parsing, json:    {baseline * 1e3:8.1f} ms")
    print(f"reading and parsing, msgspec: {quick * 1e3:8.1f} ms")
    print(f"metering and rating seed 1:   {metering * 1e3:8.1f} ms = {ratio:.2f} x (most {MOST:g})")
    print(f"                              {'':8}    = {metering / quick:.2f} x msgspec")
    print(f"metering and rating {SEEDS} seeds: {twenty * 1e3:8.1f} ms")
    print(f"                              {'':8}    = {linear:.2f} x one (most {MOST_TWENTY:g})")
    print(f"memory of {SEEDS} seeds: {memory:.2f} x one (most {MOST_MEMORY:g})")
    return int(ratio > MOST or linear > MOST_TWENTY or memory > MOST_MEMORY)


def _filled(url: str, seeds: Iterable[int]) -> sa.Engine:
    """Return a Reporting API's database that ingested the months of some seeds."""
    admin.migrate(url)
    store = Store(url)
    ingest = Ingest(store, Metrics(store, refresh=3600), require_size_schema=False)
    caller = Caller("benchmark", credential=Credential("benchmark", "openstack", CLOUD))
    for seed in seeds:
        stream = generate(seed, PERIOD, CLOUD).stream
        events = [event for item in stream if (event := judge(body(item), CLOUD).event)]
        for start in range(0, len(events), BATCH):
            outcome = ingest.take(events[start : start + BATCH], caller)
            if outcome.rejected:
                raise SystemExit(f"refused: {outcome.rejected[0].reason}")
    store.close()
    return database.engine(url)


def _read(store: sa.Engine, parse: Callable[[str], object]) -> None:
    end = bounds(PERIOD)[1]
    query = sa.select(EVENTS).where(EVENTS.c.timestamp < end)
    with store.connect() as connection, connection.begin():
        for row in connection.execute(query, execution_options={"yield_per": 2000}):
            parse(row.payload)


def _bill(store: sa.Engine) -> int:
    start, end = bounds(PERIOD)
    with snapshot(store) as events:
        found = bill(events.histories(start, end), Meter(start, end), Rater(read("2026-03")))
        return sum(len(rated) for _, rated in found)


def _turns(turns: int, *works: Callable[[], object]) -> list[float]:
    """Return the median seconds of each work, done in turn."""
    spent: list[list[float]] = [[] for _ in works]
    for _ in range(turns):
        for seconds, work in zip(spent, works, strict=True):
            began = time.process_time()
            work()
            seconds.append(time.process_time() - began)
    return [statistics.median(seconds) for seconds in spent]


def _peak(store: sa.Engine) -> int:
    """Return the most bytes in use while everything is metered, caches filled before."""
    _bill(store)
    tracemalloc.start()
    _bill(store)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak
