"""The fold: a month's facts become the intervals and counts that have to be billed.

It sees facts only. The rendered notifications, the collector's mapping and the engine's fold stay
unknown to it, so that a mistake in any of them shows as a difference.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from operator import attrgetter

from harness.calendar import rfc3339
from harness.errors import HarnessError
from harness.month.model import Fact, Month, Size
from harness.oracle.model import Count, Interval, Oracle, Resource
from harness.oracle.switches import canonical
from harness.oracle.traffic import METRICS_INTERVAL, place

#: Oslo type to the resource type it belongs to and the Tally type it is counted under. A second
#: copy of the collector's table on purpose; a test holds the two together.
BOOKED = {
    "compute.instance.create.end": ("instance", "compute.instance.create.end"),
    "compute.instance.delete.end": ("instance", "compute.instance.delete.end"),
    "compute.instance.finish_resize.end": ("instance", "compute.instance.resize.end"),
    "compute.instance.resize.confirm.end": ("instance", "compute.instance.resize.confirm.end"),
    "compute.instance.resize.revert.end": ("instance", "compute.instance.resize.revert.end"),
    "compute.instance.shelve_offload.end": ("instance", "compute.instance.shelve"),
    "compute.instance.unshelve.end": ("instance", "compute.instance.unshelve"),
    "compute.instance.power_off.end": ("instance", "compute.instance.power_off"),
    "compute.instance.power_on.end": ("instance", "compute.instance.power_on"),
    "volume.create.end": ("volume", "volume.create.end"),
    "volume.delete.end": ("volume", "volume.delete.end"),
    "volume.resize.end": ("volume", "volume.resize.end"),
    "volume.retype": ("volume", "volume.retype"),
    "volume.transfer.accept.end": ("volume", "volume.transfer.accept.end"),
    "floatingip.create.end": ("floating_ip", "floatingip.create.end"),
    "floatingip.delete.end": ("floating_ip", "floatingip.delete.end"),
    "image.upload": ("image", "image.create"),
    "image.delete": ("image", "image.delete"),
    "octavia.loadbalancer.create.end": ("loadbalancer", "octavia.loadbalancer.create.end"),
    "octavia.loadbalancer.update.end": ("loadbalancer", "octavia.loadbalancer.update.end"),
    "octavia.loadbalancer.delete.end": ("loadbalancer", "octavia.loadbalancer.delete.end"),
}

_Key = tuple[str, str]


class FoldError(HarnessError):
    """A fact the oracle cannot place; the whole oracle is refused."""


def fold(month: Month, metrics_interval: int = METRICS_INTERVAL) -> Oracle:
    """Fold the facts of `month`, and place its traffic on a grid of `metrics_interval` seconds.

    Raises:
        FoldError: a fact of an unknown type, or two of one resource at one instant.
        TrafficError: an instance of a workload without a traffic level.
        MetricsIntervalError: the grid is not within 30 s … 24 h.
    """
    start, end = month.period.start, month.period.end
    groups, counts = _sort_out(month.facts)
    resources = []
    for (resource_type, resource_id), facts in sorted(groups.items()):
        ordered = _order(resource_type, resource_id, facts)
        intervals = tuple(clip(intervals_of(ordered), start, end))
        if intervals:
            touched = month.touched.get((resource_type, resource_id), ())
            resources.append(
                Resource(
                    resource_type, resource_id, ordered[0].workload, intervals, canonical(touched)
                )
            )
    found = tuple(resources)
    return Oracle(
        cloud=month.cloud,
        seed=month.seed,
        start=start,
        end=end,
        resources=found,
        counts=tuple(Count(*pair, number) for pair, number in sorted(counts.items())),
        faults=canonical(month.faults),
        traffic=place(found, month.seed, start, end, metrics_interval),
    )


def intervals_of(facts: Iterable[Fact]) -> list[tuple[int, int | None, str, str, Size]]:
    """Fold one resource's facts, in order, into (start, end, state, project, size).

    An end of None is open. Nothing begins with a fact that reports what is open already, and an
    interval without length is left out.
    """
    found: list[tuple[int, int | None, str, str, Size]] = []
    opened: tuple[int, str, str, Size] | None = None
    for fact in facts:
        alive = fact.state is not None and fact.size is not None
        if opened is not None:
            since, *held = opened
            if alive and held == [fact.state, fact.project_id, fact.size]:
                continue
            if fact.instant > since:
                found.append((since, fact.instant, *opened[1:]))
            opened = None
        if fact.state is not None and fact.size is not None:
            opened = (fact.instant, fact.state, fact.project_id, fact.size)
    if opened is not None:
        found.append((opened[0], None, *opened[1:]))
    return found


def clip(
    intervals: Iterable[tuple[int, int | None, str, str, Size]], start: int, end: int
) -> Iterable[Interval]:
    """Cut intervals to the month ``[start, end)``; what lies outside vanishes."""
    for since, until, state, project_id, size in intervals:
        first = max(since, start)
        last = end if until is None else min(until, end)
        if last > first:
            yield Interval(first, last, state, project_id, size)


def _sort_out(
    facts: Iterable[Fact],
) -> tuple[dict[_Key, list[Fact]], dict[_Key, int]]:
    """Group facts by resource, and count those that are not dropped by project and Tally type."""
    groups: dict[_Key, list[Fact]] = {}
    counts: dict[_Key, int] = {}
    for fact in facts:
        try:
            resource_type, event_type = BOOKED[fact.event_type]
        except KeyError:
            raise FoldError(
                f"{fact.event_type} belongs to no type of resource; book it in the fold's table "
                "and raise the document's format"
            ) from None
        groups.setdefault((resource_type, fact.resource_id), []).append(fact)
        if not fact.dropped:
            pair = fact.project_id, event_type
            counts[pair] = counts.get(pair, 0) + 1
    return groups, counts


def _order(resource_type: str, resource_id: str, facts: list[Fact]) -> Sequence[Fact]:
    facts.sort(key=attrgetter("instant"))
    for earlier, later in itertools.pairwise(facts):
        if earlier.instant == later.instant:
            raise FoldError(
                f"{resource_type} {resource_id} has two facts at {rfc3339(later.instant)}; "
                "nothing says which comes first"
            )
    return facts
