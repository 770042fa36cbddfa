"""From a seed to a month."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from operator import attrgetter

from harness import prng
from harness.calendar import Period
from harness.month import audits, ci, classic, gardener, world
from harness.month.catalog import resource_type_of
from harness.month.draft import Draft
from harness.month.faults import MISSING_CREATE, PRE_EXISTING, Bus, apply, check_faults
from harness.month.inputs import check_cloud, check_seed
from harness.month.leads import Leads
from harness.month.model import Kind, Month, Transition


def generate(seed: int, period: Period, cloud: str, faults: Sequence[str] = ()) -> Month:
    """Generate a month; equal arguments give equal months, down to the byte.

    Args:
        seed: 0 to 2**64 - 1.
        period: the month of the calendar; the working week follows it.
        cloud: any text but the empty one, one with NUL, and the virtual platforms.
        faults: names of fault switches, in any order.

    Raises:
        UsageError: an argument is outside what is said above.
    """
    switches = check_faults(faults)
    check_seed(seed)
    check_cloud(cloud)
    with _uncollected():
        return _generate(seed, period, cloud, switches)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector away from a month while it grows.

    A month is a million objects with hardly a cycle among them, and all of them stay: looking
    for garbage there again and again takes a third of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _generate(seed: int, period: Period, cloud: str, switches: tuple[str, ...]) -> Month:
    draft = _draft(seed, period, cloud, switches)
    for project in draft.world.classics:
        classic.generate(draft, project)
    for garden in draft.world.gardens:
        gardener.generate(draft, garden)
    ci.generate(draft)
    audits.append(draft)
    if MISSING_CREATE in switches:
        _drop_early(draft)
    schedule = _schedule(draft)

    def touch(transition: Transition, switch: str) -> None:
        resource_type = resource_type_of(transition.event_type)
        draft.touch(resource_type, transition.resource_id, switch)

    billable = [one for one in schedule if one.kind is Kind.BOOKED]
    bus = Bus(seed, billable, list(schedule), touch)
    apply(bus, switches)
    return Month(
        seed=seed,
        period=period,
        cloud=cloud,
        faults=switches,
        schedule=schedule,
        stream=bus.stream,
        held=bus.held,
        facts=draft.facts,
        tenants=draft.world.tenants,
        relations=draft.world.relations,
        touched=draft.touched,
    )


def _draft(seed: int, period: Period, cloud: str, switches: Sequence[str]) -> Draft:
    """Seed the streams and build the world."""
    shape = prng.shape(seed)
    ids = prng.identifiers(seed, cloud, str(period))
    noise_ids = prng.noise_identifiers(seed, cloud, str(period))
    lead = next((one for one in switches if one in {PRE_EXISTING, MISSING_CREATE}), None)
    return Draft(
        period=period,
        cloud=cloud,
        shape=shape,
        ids=ids,
        noise_ids=noise_ids,
        world=world.build(cloud, shape, ids, noise_ids),
        leads=Leads(lead, seed, period.start) if lead else None,
    )


def _drop_early(draft: Draft) -> None:
    """Lose everything before the month; the facts still shape what has to be billed in it."""
    draft.transitions = [one for one in draft.transitions if one.instant >= draft.start]
    draft.facts = [
        replace(fact, dropped=True) if fact.instant < draft.start else fact for fact in draft.facts
    ]


def _schedule(draft: Draft) -> list[Transition]:
    """Sort by instant, stably, and give everything its message id, each stream in that order."""
    schedule = sorted(draft.transitions, key=attrgetter("instant"))
    noise = [transition for transition in schedule if transition.kind is Kind.NOISE]
    others = [transition for transition in schedule if transition.kind is not Kind.NOISE]
    for transitions, ids in ((noise, draft.noise_ids), (others, draft.ids)):
        for transition, message_id in zip(transitions, ids.uuids(len(transitions)), strict=True):
            transition.message_id = message_id
    return schedule
