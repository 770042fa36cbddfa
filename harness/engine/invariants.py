"""Checks a metered resource against its own events, by other means than the fold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from harness.engine import number
from harness.engine.instant import SECOND, spell
from harness.engine.record import History, Resource, UsageRecord
from harness.timeline import Category, Event, category, same

NO_GAPS_OVERLAPS = "no_gaps_overlaps"
COVERAGE = "coverage"
TRACEABILITY = "traceability"
IMPLICIT_COUNT = "implicit_count"
RESERVED_USAGE_FIELD = "reserved_usage_field"

#: Members metering adds to every usage record; a size must not state them.
RESERVED = frozenset({"minutes", "count"})

Span = tuple[int, int]

# Members of an Enum are slow to reach, and these are reached for every event.
_CREATE, _DELETE = Category.CREATE, Category.DELETE


class Violation(NamedTuple):
    """A rule a resource breaks, with the bounds of what breaks it, in microseconds."""

    resource: Resource
    rule: str
    start: int
    end: int

    def document(self) -> dict[str, Any]:
        """Return the violation as it stands in a run's stats."""
        return {
            **self.resource._asdict(),
            "rule": self.rule,
            "from": spell(self.start),
            "to": spell(self.end),
        }


def lives(events: Iterable[Event], start: int, end: int) -> list[Span]:
    """Return the lives of a resource, clipped to ``[start, end)``.

    Creates open a life, and so does a first event of any other kind but a delete; deletes close
    it. One that is never closed lasts to `end`. `events` stand in the fold's order.
    """
    spans: list[Span] = []
    born: int | None = None
    first = True
    for event in events:
        effect = category(event.event_type)
        if effect is _DELETE:
            if born is not None:
                _clip(spans, born, event.timestamp, start, end)
                born = None
        elif born is None and (first or effect is _CREATE):
            born = event.timestamp
        first = False
    if born is not None:
        _clip(spans, born, end, start, end)
    return spans


def _clip(spans: list[Span], born: int, died: int, start: int, end: int) -> None:
    one, other = max(born, start), min(died, end)
    if one < other:
        spans.append((one, other))


def check(
    history: History,
    records: Sequence[UsageRecord],
    start: int,
    end: int,
    counters: Collection[str] = (),
) -> list[Violation]:
    """Return what the usage records of one resource break.

    Args:
        history: the resource and its events, in the fold's order.
        records: its usage records in order of their starts.
        start: first instant of the period, microseconds.
        end: first instant after it.
        counters: members of the usage that counter sources filled in.
    """
    resource, events = history
    spans = lives(events, start, end)
    booked = [(record.start, record.end) for record in records]
    found: list[Violation] = []
    if booked != spans:  # else each life is one record
        found += [Violation(resource, NO_GAPS_OVERLAPS, *span) for span in _apart(booked, spans)]
        found += [Violation(resource, COVERAGE, *span) for span in _uncovered(booked, spans)]
    found += [
        Violation(resource, TRACEABILITY, record.start, record.end)
        for record in _untraceable(events, records, start, end, counters)
    ]
    for record in records:
        usage, seconds = record.usage, record.seconds
        if (
            usage.get("count") != 1
            or seconds != (record.end - record.start) // SECOND
            or usage.get("minutes") != number.minutes(seconds)
        ):
            found.append(Violation(resource, IMPLICIT_COUNT, record.start, record.end))
    return found


def _apart(booked: Sequence[Span], spans: Sequence[Span]) -> Iterable[Span]:
    """Yield the seams of one life at which two records do not meet."""
    for born, died in spans:
        inside = [span for span in booked if born <= span[0] < died]
        for one, other in pairwise(inside):
            if one[1] != other[0]:
                yield (one[1], other[0])


def _uncovered(booked: Sequence[Span], spans: Sequence[Span]) -> Iterable[Span]:
    """Yield the bounds of everything when what is booked is not exactly what was lived."""
    one, other = _union(booked), _union(spans)
    if one != other:
        edges = [edge for span in (*one, *other) for edge in span]
        yield (min(edges), max(edges))


def _union(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _untraceable(
    events: Sequence[Event],
    records: Sequence[UsageRecord],
    start: int,
    end: int,
    counters: Collection[str],
) -> Iterable[UsageRecord]:
    """Yield the records no event accounts for."""
    state, project, alive, newest = "", "", False, start
    size: Any = {}
    upcoming, last = 0, len(events)
    for record in records:
        begun = record.start
        while upcoming < last and events[upcoming].timestamp <= begun:
            event = events[upcoming]
            upcoming += 1
            newest = event.timestamp
            alive = category(event.event_type) is not _DELETE
            if alive:
                state = event.state or state
                size = size if event.size is None else event.size
                project = event.project_id
        if not (
            alive
            and begun in (newest, start)
            and (record.end == end or _tells_of(record.end, events, upcoming))
            and record.state == state
            and record.project_id == project
            and _holds(record.usage, size, counters)
        ):
            yield record


def _tells_of(instant: int, events: Sequence[Event], upcoming: int) -> bool:
    """Tell whether one of the events from an index on happened at an instant."""
    for index in range(upcoming, len(events)):
        if events[index].timestamp >= instant:
            return events[index].timestamp == instant
    return False


def _holds(usage: dict[str, Any], size: Any, counters: Collection[str]) -> bool:
    """Tell whether a usage is the size, the two implicit members and counters, nothing else."""
    if len(usage) == len(size) + len(RESERVED) and usage.items() >= size.items():
        return True
    return all(
        member in size or member in RESERVED or member in counters for member in usage
    ) and all(
        member in counters or (member in usage and same(usage[member], value))
        for member, value in size.items()
    )
