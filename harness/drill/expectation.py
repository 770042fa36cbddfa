"""What the pipeline has to show for a month, said from the month's own transitions and facts.

Nothing here asks the collector's mapping, the Reporting API or the engine, and nothing is a table
of one seed's figures: every number follows from what the month put on the bus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.month import Fact, Kind, Month, Transition
from harness.oracle import Interval, Oracle
from harness.oracle.fold import BOOKED, clip, intervals_of

#: Event types a notification of which states no size: the size before it goes on.
SIZELESS = frozenset(
    {
        "compute.instance.power_off.end",
        "compute.instance.power_on.end",
        "compute.instance.shelve_offload.end",
        "compute.instance.unshelve.end",
    }
)
#: The member that makes a twin's body outgrow what a collector reads.
PADDING = "fault_padding"

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Expectation:
    """What has to be seen once a month was published.

    Attributes:
        published: messages on the bus.
        consumed: oslo type to count; a repeat counts again.
        skipped: oslo type to count.
        unparseable: bodies that are no notification.
        events: (event id, Unix seconds) of everything the Reporting API has to store.
        stored: (project, Tally type) to the number of events stored under it.
        differing: (resource type, resource id) of what an export has to lack or show otherwise,
            because a switch kept a message about it off the bus.
    """

    published: int
    consumed: Mapping[str, int]
    skipped: Mapping[str, int]
    unparseable: int
    events: frozenset[tuple[str, int]]
    stored: Mapping[Key, int]
    differing: frozenset[Key]

    @property
    def repeats(self) -> int:
        """How many consumed messages carry an event that another one carried before."""
        return sum(self.consumed.values()) - len(self.events)


def expect(month: Month, oracle: Oracle, *, released: bool = False) -> Expectation:
    """Work out what the pipeline has to show for `month`.

    Args:
        month: what was generated.
        oracle: what has to be billed for it.
        released: what the month holds back was published as well, behind the stream.
    """
    stream = month.stream + month.held if released else month.stream
    held = [] if released else month.held
    consumed: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    stored: Counter[Key] = Counter()
    events: set[tuple[str, int]] = set()
    unparseable = 0
    for transition in stream:
        if transition.kind is Kind.BOOKED:
            consumed[transition.event_type] += 1
            event = transition.message_id, transition.instant
            if event not in events:
                events.add(event)
                stored[transition.project_id, BOOKED[transition.event_type][1]] += 1
        elif _refused(transition):
            unparseable += 1
        else:
            skipped[transition.event_type] += 1
    return Expectation(
        published=len(stream),
        consumed=consumed,
        skipped=skipped,
        unparseable=unparseable,
        events=frozenset(events),
        stored=stored,
        differing=frozenset(_differing(month, oracle, held)),
    )


def _refused(transition: Transition) -> bool:
    return transition.truncated or (transition.kind is Kind.TWIN and PADDING in transition.payload)


def _differing(month: Month, oracle: Oracle, held: Sequence[Transition]) -> Iterable[Key]:
    """Yield the resources whose history, short of what never went out, folds to something else.

    A resource about which everything went out cannot differ, whatever order it came in. One that
    lacks a message differs exactly when the rest folds to other intervals: a confirm that repeats
    the resize before it can go missing unnoticed, a create cannot.
    """
    absent = {
        (transition.resource_id, transition.instant, transition.event_type) for transition in held
    }
    incomplete = {key[0] for key in absent} | {
        fact.resource_id for fact in month.facts if fact.dropped
    }
    histories: dict[Key, list[Fact]] = {}
    for fact in month.facts:
        if fact.resource_id in incomplete:
            key = BOOKED[fact.event_type][0], fact.resource_id
            histories.setdefault(key, []).append(fact)
    lived = {(r.resource_type, r.resource_id): r.intervals for r in oracle.resources}
    for key, facts in histories.items():
        arrived = [
            fact
            for fact in sorted(facts, key=lambda fact: fact.instant)
            if not fact.dropped and (fact.resource_id, fact.instant, fact.event_type) not in absent
        ]
        if _shown(arrived, oracle) != lived.get(key, ()):
            yield key


def _shown(facts: Iterable[Fact], oracle: Oracle) -> tuple[Interval, ...]:
    return tuple(clip(intervals_of(_as_reported(facts)), oracle.start, oracle.end))


def _as_reported(facts: Iterable[Fact]) -> Iterable[Fact]:
    """Give each fact the size a reader of the bus knows: its own, or the last one reported."""
    known: Mapping[str, object] = {}
    for fact in facts:
        if fact.size is None or fact.event_type not in SIZELESS:
            known = fact.size if fact.size is not None else known
            yield fact
        else:
            yield replace(fact, size=dict(known))  # type: ignore[arg-type]
