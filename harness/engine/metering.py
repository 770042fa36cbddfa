"""Metering: a resource's history to its usage records. Reads no prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.engine import number
from harness.engine.counters import CounterSource, Counting
from harness.engine.instant import SECOND
from harness.engine.invariants import RESERVED, RESERVED_USAGE_FIELD, Violation, check
from harness.engine.record import History, Resource, UsageRecord, Warned
from harness.timeline import HISTORY_STARTS_WITHOUT_CREATE, Interval, Timeline, fold

CANDIDATE_WITHOUT_HISTORY = "candidate_without_history"

_DETAILS = {
    HISTORY_STARTS_WITHOUT_CREATE: "the first stored event is no create; it is billed from there",
    CANDIDATE_WITHOUT_HISTORY: "the projection holds it, no event tells of it; nothing is billed",
}


@dataclass(frozen=True, slots=True)
class Metered:
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
        spans = self._clipped(timeline)
        reserved = [span for span in spans if not RESERVED.isdisjoint(span.size)]
        if reserved:
            found = [
                Violation(resource, RESERVED_USAGE_FIELD, span.start, span.end or self.end)
                for span in reserved
            ]
            return Metered(resource, (), warnings, (), found)
        records = [_record(resource, span, span.end or self.end) for span in spans]
        counting = self._counting(resource)
        counter_warnings = counting.count(records, events) if counting else ()
        violations = check(
            history,
            records,
            self.start,
            self.end,
            counting.metrics if counting else (),
        )
        return Metered(resource, records, warnings, counter_warnings, violations)

    def _clipped(self, timeline: Timeline) -> list[Interval]:
        """Return the intervals cut to the period, empty ones left out."""
        spans = []
        for interval in timeline.intervals:
            end = self.end if interval.end is None else min(interval.end, self.end)
            start = max(interval.start, self.start)
            if start < end:
                spans.append(
                    Interval(start, end, interval.state, interval.size, interval.project_id)
                )
        return spans

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


def _record(resource: Resource, span: Interval, end: int) -> UsageRecord:
    seconds = (end - span.start) // SECOND
    usage = {**span.size, "minutes": number.minutes(seconds), "count": 1}
    return UsageRecord(resource, span.project_id, span.state, span.start, end, seconds, usage)


def _warned(code: str, resource: Resource) -> Warned:
    return Warned(code, resource, _DETAILS[code])
