"""What the syncs of a month have to book, said from the month and its oracle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.drill.subject import Subject
from harness.month import Kind
from harness.oracle import Interval, Oracle
from harness.oracle.compare import RECONCILED
from harness.oracle.fold import BOOKED
from harness.oracle.live import live

#: Listeners and pools.
Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Sync:
    """What one sync booked.

    Attributes:
        at: its instant, Unix seconds.
        created: resources it found that no event had announced.
        updated: resources whose state, project or size it corrected.
        deleted: resources that were gone without an event.
    """

    at: int
    created: int
    updated: int
    deleted: int


def balancers(oracle: Oracle, at: int) -> Mapping[str, Size]:
    """Return the load balancers live at an instant: id to listeners and pools."""
    return {
        resource.resource_id: _size(interval) for resource, interval in live(oracle, at, RECONCILED)
    }


def expect_syncs(subject: Subject, instants: Iterable[int]) -> tuple[Sync, ...]:
    """Work out what syncs at `instants` have to book, each with an empty outbox.

    A sync creates what lives and was not heard of, and sizes a load balancer that has another size
    than the last sync saw, since no notification states one. Nothing else differs in a month whose
    messages about the end of a resource all go out; of one with the switch ``held-back`` this says
    too little.
    """
    heard: dict[tuple[str, str], int] = {}
    for transition in subject.month.stream:
        if transition.kind is Kind.BOOKED:
            key = BOOKED[transition.event_type][0], transition.resource_id
            heard[key] = min(transition.instant, heard.get(key, transition.instant))
    sized: dict[str, Size] = {}
    expected = []
    for at in instants:
        created = updated = 0
        for resource, interval in live(subject.oracle, at):
            key = resource.resource_type, resource.resource_id
            unheard = heard.get(key, at + 1) > at
            if unheard:
                created += 1
                heard[key] = at
            if resource.resource_type == RECONCILED:
                size = _size(interval)
                updated += not unheard and sized.get(resource.resource_id) != size
                sized[resource.resource_id] = size
        expected.append(Sync(at, created, updated, 0))
    return tuple(expected)


def _size(interval: Interval) -> Size:
    return int(interval.size["listeners"]), int(interval.size["pools"])
