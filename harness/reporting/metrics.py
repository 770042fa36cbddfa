"""Counters of the Reporting API, and the count of what lives."""

from __future__ import annotations

import threading
import time
from collections import Counter as Counts
from collections.abc import Iterable

import sqlalchemy
from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest

from harness.reporting.projection import Step
from harness.reporting.schema import CURRENT_RESOURCES
from harness.reporting.store import Store

OTHER = "other"
MOST_VALUES = 128
LONGEST_VALUE = 128


class _Labels:
    """Bounds what one label of one series can hold, so that no caller can grow the page forever."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], set[str]] = {}
        self._lock = threading.Lock()

    def bound(self, series: str, label: str, value: str) -> str:
        if len(value) > LONGEST_VALUE:
            return OTHER
        with self._lock:
            seen = self._seen.setdefault((series, label), set())
            if value not in seen:
                if len(seen) >= MOST_VALUES:
                    return OTHER
                seen.add(value)
        return value


_COUNTERS = {
    "tally_events_ingested": (
        "Events stored.",
        ("platform", "cloud", "resource_type", "event_type", "source"),
    ),
    "tally_events_deduplicated": ("Events that were stored before.", ("cloud",)),
    "tally_events_rejected": ("Items that were not stored.", ("cloud", "reason")),
    "tally_ingest_unvalidated_size": (
        "Sizes stored without a schema to hold them against.",
        ("platform", "resource_type"),
    ),
    "tally_projection_replays": ("Resources whose history was walked again.", ("cloud",)),
    "tally_sync_runs": ("Reconciliations that ended.", ("cloud", "status")),
    "tally_sync_resources_reconciled": ("Corrections booked.", ("cloud", "action")),
    "tally_sync_resources_deferred": ("Corrections left to a later run.", ("cloud", "reason")),
    "tally_sync_errors": ("Reconciliations that failed.", ("cloud",)),
}

_LIVE = ("platform", "cloud", "resource_type", "state")


class Metrics:
    """The series of one service, on a registry of its own."""

    def __init__(self, store: Store, *, refresh: float) -> None:
        """Count live resources in `store` at most every `refresh` seconds."""
        self._store = store
        self._refresh = refresh
        self._registry = CollectorRegistry()
        self._labels = _Labels()
        self._counters = {
            name: Counter(name, text, labels, registry=self._registry)
            for name, (text, labels) in _COUNTERS.items()
        }
        self._live = Gauge(
            "tally_current_resources", "Resources that live.", _LIVE, registry=self._registry
        )
        self._counted_at = float("-inf")
        self._lock = threading.Lock()

    def count(self, name: str, amount: int = 1, **labels: str) -> None:
        """Add to a counter; zero adds no series."""
        if amount:
            bounded = {
                label: self._labels.bound(name, label, value) for label, value in labels.items()
            }
            self._counters[name].labels(**bounded).inc(amount)

    def ingested(self, steps: Iterable[Step], source: str) -> None:
        """Count stored events."""
        kinds = Counts(
            (step.platform, step.cloud, step.resource_type, step.event_type) for step in steps
        )
        for (platform, cloud, resource_type, event_type), amount in kinds.items():
            self.count(
                "tally_events_ingested",
                amount,
                platform=platform,
                cloud=cloud,
                resource_type=resource_type,
                event_type=event_type,
                source=source,
            )

    def page(self) -> bytes:
        """Return the page a scrape reads."""
        with self._lock:
            if time.monotonic() - self._counted_at >= self._refresh:
                self._count_live()
                self._counted_at = time.monotonic()
            return generate_latest(self._registry)

    def _count_live(self) -> None:
        columns = [CURRENT_RESOURCES.c[name] for name in _LIVE]
        query = (
            sqlalchemy.select(*columns, sqlalchemy.func.count())
            .where(CURRENT_RESOURCES.c.deleted_at.is_(None))
            .group_by(*columns)
        )
        with self._store.read() as connection:
            counted = connection.execute(query).all()
        self._live.clear()
        for *values, amount in counted:
            bounded = [
                self._labels.bound("tally_current_resources", label, value)
                for label, value in zip(_LIVE, values, strict=True)
            ]
            self._live.labels(*bounded).inc(amount)
