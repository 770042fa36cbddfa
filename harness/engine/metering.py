"""Metering: a resource's history to its usage records. Reads no prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.engine import number
from harness.engine.counters import CounterSource, Counting
from harness.engine.instant import SECOND
from harness.engine.invariants import RESERVED, RESERVED_USAGE_FIELD, Violation, check
from harness.engine.record import History, Resource, UsageRecord, Warned
from harness.timeline import HISTORY_STARTS_WITHOUT_CREATE, fold

CANDIDATE_WITHOUT_HISTORY = "candidate_without_history"

_DETAILS = {
    HISTORY_STARTS_WITHOUT_CREATE: "the first stored event is no create; it is billed from there",
    CANDIDATE_WITHOUT_HISTORY: "the projection holds it, no event tells of it; nothing is billed",
}


class Metered(NamedTuple):
    """What metering made of one candidate.

    Attributes:
        resource: the candidate.
        records: its usage records, in order.
        warnings: metering and counter warnings apart: see `counter_warnings`.
        counter_warnings: what counter sources could not tell.
        violations: rules the records break; any of them fails the run.
    """

    resource: Resource
    records: Sequence[UsageRecord]
    warnings: Sequence[Warned] = ()
    counter_warnings: Sequence[Warned] = ()
    violations: Sequence[Violation] = ()


@dataclass(slots=True)
class Meter:
    """Meters candidates over one period.

    Attributes:
        start: first instant of the period, microseconds.
        end: first instant after it.
        sources: counter sources; those of a resource's platform and type are asked.
    """

    start: int
    end: int
    sources: Sequence[CounterSource] = ()
    _by_type: dict[tuple[str, str], Counting] = field(default_factory=dict)

    def meter(self, history: History) -> Metered:
        """Fold, clip, count and check one candidate."""
        resource, events = history
        if not events:
            return Metered(resource, (), (_warned(CANDIDATE_WITHOUT_HISTORY, resource),))
        timeline = fold(events)
        warnings = [_warned(code, resource) for code in timeline.warnings]
        records: list[UsageRecord] = []
        reserved: list[Violation] = []
        for start, end, state, size, project_id in timeline.intervals:
            first = max(start, self.start)
            last = self.end if end is None else min(end, self.end)
            if first >= last:
                continue
            if not RESERVED.isdisjoint(size):
                reserved.append(Violation(resource, RESERVED_USAGE_FIELD, first, last))
            seconds = (last - first) // SECOND
            usage = {**size, "minutes": number.minutes(seconds), "count": 1}
            records.append(UsageRecord(resource, project_id, state, first, last, seconds, usage))
        if reserved:
            return Metered(resource, (), warnings, (), reserved)
        counting = self._counting(resource)
        if counting is None:
            violations = check(history, records, self.start, self.end)
            return Metered(resource, records, warnings, (), violations)
        counted = counting.count(records, events)
        violations = check(history, records, self.start, self.end, counting.metrics)
        return Metered(resource, records, warnings, counted, violations)

    def _counting(self, resource: Resource) -> Counting | None:
        key = (resource.platform, resource.resource_type)
        counting = self._by_type.get(key)
        if counting is None:
            counting = self._by_type[key] = Counting(
                [
                    source
                    for source in self.sources
                    if (source.platform, source.resource_type) == key
                ]
            )
        return counting if counting.metrics else None


def _warned(code: str, resource: Resource) -> Warned:
    return Warned(code, resource, _DETAILS[code])
