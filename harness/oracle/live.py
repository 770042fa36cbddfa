"""What of a month is live at an instant, and what went away before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.oracle.model import Interval, Oracle, Resource


def clamp(oracle: Oracle, instant: float) -> float:
    """Return `instant`, or the end of the month where it lies behind that."""
    return min(instant, oracle.end)


def interval_at(resource: Resource, instant: float, end: int) -> Interval | None:
    """Return the interval a resource is in at `instant`, None when it is not live.

    At `end`, the end of the month, an interval that reaches it is live still: there the month was
    cut, not the resource's life.
    """
    for interval in resource.intervals:
        if interval.start <= instant < interval.end:
            return interval
        if instant == end == interval.end:
            return interval
    return None


def live(
    oracle: Oracle, instant: float, resource_type: str | None = None
) -> Iterator[tuple[Resource, Interval]]:
    """Yield what is live at `instant`, in document order, with the interval it is in."""
    at = clamp(oracle, instant)
    for resource in _of_type(oracle.resources, resource_type):
        interval = interval_at(resource, at, oracle.end)
        if interval is not None:
            yield resource, interval


def deleted(
    oracle: Oracle, since: float, instant: float, resource_type: str
) -> Iterator[tuple[Resource, Interval]]:
    """Yield what ended within ``(since, instant]``, with its last interval.

    What is live up to the end of the month has not ended.
    """
    at = clamp(oracle, instant)
    for resource in _of_type(oracle.resources, resource_type):
        last = resource.intervals[-1]
        if last.end < oracle.end and since < last.end <= at:
            yield resource, last


def _of_type(resources: Iterable[Resource], resource_type: str | None) -> Iterator[Resource]:
    return (r for r in resources if resource_type in {None, r.resource_type})
