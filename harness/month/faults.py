"""The fault switches: what goes wrong between the cloud and the collector.

Whatever is switched on, the cloud lived the same life; the bus tells it differently. Two switches
move the creation of instances to before the month while it is generated (`Leads`); the other four
are passes over the finished schedule, here.

A pass has its private random stream. It picks by walking the billable transitions of the schedule
as it was before any pass, and notes message ids; it acts where those ids turn up in the stream
that the passes ahead of it have left. That keeps the picks of one switch independent of the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from harness.errors import UsageError
from harness.month import twins
from harness.month.model import Transition
from harness.prng import Identifiers, Pcg, fault

PRE_EXISTING = "pre-existing"
MISSING_CREATE = "missing-create"
DUPLICATES = "duplicates"
REORDERING = "reordering"
REFUSED_SHAPES = "refused-shapes"
HELD_BACK = "held-back"

#: Every switch, in the order they are always listed in.
FAULTS = (PRE_EXISTING, MISSING_CREATE, DUPLICATES, REORDERING, REFUSED_SHAPES, HELD_BACK)

#: A copy comes behind the element this many places after the original.
_COPY_DISTANCE = 10


def check_faults(names: Iterable[str]) -> tuple[str, ...]:
    """Return the switches that `names` turns on, each once, in canonical order.

    Raises:
        UsageError: a name is none of the six, or two of them exclude each other; the text has no
            option in front.
    """
    chosen = set()
    for name in names:
        if name not in FAULTS:
            raise UsageError(
                f"unknown fault switch {json.dumps(name, ensure_ascii=False)}; "
                f"the switches are {', '.join(FAULTS)}"
            )
        chosen.add(name)
    if chosen >= {PRE_EXISTING, MISSING_CREATE}:
        raise UsageError(f"{PRE_EXISTING} and {MISSING_CREATE} exclude each other")
    return tuple(name for name in FAULTS if name in chosen)


@dataclass(slots=True)
class Bus:
    """What the bus carries of a schedule.

    Attributes:
        seed: of the month.
        billable: the billable transitions of the schedule, untouched.
        stream: what goes out at once, in publication order.
        touch: called with a transition whose resource a switch reached, and the switch.
        held: what has to wait for a release, in schedule order.
    """

    seed: int
    billable: Sequence[Transition]
    stream: list[Transition]
    touch: Callable[[Transition, str], None]
    held: list[Transition] = field(default_factory=list)

    def pick(self, switch: str, one_in: int) -> set[str]:
        """Draw over the billable transitions; return the message ids of the picked ones."""
        pcg = fault(self.seed, switch)
        return {one.message_id for one in self.billable if pcg.below(one_in) == 0}


def apply(bus: Bus, faults: Sequence[str]) -> None:
    """Run the passes whose switches are on over a bus, in their order."""
    for switch, run in _PASSES.items():
        if switch in faults:
            run(bus)


def _hold_back(bus: Bus) -> None:
    """Take one in twenty out of the stream until a release."""
    picked = bus.pick(HELD_BACK, 20)
    stream = []
    for transition in bus.stream:
        if transition.message_id in picked:
            bus.held.append(transition)
            bus.touch(transition, HELD_BACK)
        else:
            stream.append(transition)
    bus.stream = stream


def _reorder(bus: Bus) -> None:
    """Publish the first transition of one in ten resources behind the second one."""
    moves = _plan_moves(bus)
    stream = []
    aside: dict[str, Transition] = {}
    for transition in bus.stream:
        if transition.message_id in moves:
            aside[moves[transition.message_id]] = transition
            continue
        stream.append(transition)
        if transition.message_id in aside:
            stream.append(aside.pop(transition.message_id))
    bus.stream = stream


def _plan_moves(bus: Bus) -> dict[str, str]:
    """Return message ids of first transitions to those of the second ones they go behind.

    The draw falls at the second transition of a resource, and is spent when one of the two is
    held back.
    """
    pcg = fault(bus.seed, REORDERING)
    held = {transition.message_id for transition in bus.held}
    firsts: dict[str, Transition | None] = {}
    moves = {}
    for second in bus.billable:
        if second.resource_id not in firsts:
            firsts[second.resource_id] = second
            continue
        first = firsts[second.resource_id]
        if first is None:
            continue
        firsts[second.resource_id] = None
        if pcg.below(10) == 0 and not held & {first.message_id, second.message_id}:
            moves[first.message_id] = second.message_id
            bus.touch(second, REORDERING)
    return moves


def _duplicate(bus: Bus) -> None:
    """Publish one in twenty a second time, ten places later."""
    picked = bus.pick(DUPLICATES, 20)
    stream = []
    for place, transition in enumerate(bus.stream):
        stream.append(transition)
        if transition.message_id in picked:
            bus.touch(transition, DUPLICATES)
        if place >= _COPY_DISTANCE:
            earlier = bus.stream[place - _COPY_DISTANCE]
            if earlier.message_id in picked:
                stream.append(earlier)
    stream += [one for one in bus.stream[-_COPY_DISTANCE:] if one.message_id in picked]
    bus.stream = stream


def _refuse_shapes(bus: Bus) -> None:
    """Publish a twin behind some transitions; its id comes from the stream that picked it."""
    pcg = fault(bus.seed, REFUSED_SHAPES)
    picked = {}
    for transition in bus.billable:
        twin = _draw_twin(pcg, transition)
        if twin:
            picked[transition.message_id] = twin
    ids = Identifiers(pcg)
    stream = []
    for transition in bus.stream:
        stream.append(transition)
        twin = picked.pop(transition.message_id, None)
        if twin:
            stream.append(twin(transition, ids.uuid()))
            bus.touch(transition, REFUSED_SHAPES)
    bus.stream = stream


def _draw_twin(pcg: Pcg, transition: Transition) -> Callable[[Transition, str], Transition] | None:
    drawn = pcg.below(400)
    if drawn == 0:
        return twins.oversized
    if drawn <= 2:
        return twins.truncated
    if drawn <= 22 and transition.exchange == "nova":
        return twins.versioned
    return None


_PASSES: dict[str, Callable[[Bus], None]] = {
    HELD_BACK: _hold_back,
    REORDERING: _reorder,
    DUPLICATES: _duplicate,
    REFUSED_SHAPES: _refuse_shapes,
}
