"""Asking the counter sources of one resource type, and what happens when one fails."""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.counters.source import CounterSource, IdentityNotQueryable
from harness.engine.errors import CounterFailure
from harness.engine.record import UsageRecord, Warned
from harness.timeline import Event

COUNTER_SOURCE_FAILED = "counter_source_failed"
COUNTER_IDENTITY_NOT_QUERYABLE = "counter_identity_not_queryable"


class Counting:
    """The counter sources of one platform and resource type.

    Attributes:
        metrics: the usage members they fill in.
    """

    def __init__(self, sources: Sequence[CounterSource]) -> None:
        """Take the sources of one type."""
        self._sources = sources
        self.metrics = frozenset(source.metric for source in sources)

    def count(self, records: Sequence[UsageRecord], events: Sequence[Event]) -> list[Warned]:
        """Add a member per metric to the usage of every record of one resource.

        A source that fails leaves its member out. The warnings hold one entry per source and
        code, however many records it concerns.

        Raises:
            CounterFailure: a required source failed.
        """
        warnings: list[Warned] = []
        for source in self._sources:
            failures: dict[str, str] = {}
            for record in records:
                try:
                    record.usage[source.metric] = source.quantity(record, events)
                except IdentityNotQueryable as error:
                    failures.setdefault(COUNTER_IDENTITY_NOT_QUERYABLE, str(error))
                except CounterFailure as error:
                    if source.required:
                        raise
                    failures.setdefault(COUNTER_SOURCE_FAILED, f"{source.metric}: {error}")
            warnings += [
                Warned(code, records[0].resource, detail) for code, detail in failures.items()
            ]
        return warnings
