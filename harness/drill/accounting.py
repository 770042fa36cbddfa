"""Where every published message ended: one place each, or the drill has failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from harness.drill.expectation import Expectation, Key
from harness.drill.reporting import DeadLetter, StoredEvent, Tally
from harness.drill.wording import LIMIT, differences
from harness.stack.interface import Counters


@dataclass(frozen=True, slots=True)
class Sight:
    """What could be seen from outside at one instant; None where nothing lets a drill look.

    Attributes:
        counters: of the collector.
        events: everything stored for the cloud.
        dead_letters: everything refused and kept.
        tally: the Reporting API's own counters.
    """

    counters: Counters | None = None
    events: tuple[StoredEvent, ...] | None = None
    dead_letters: tuple[DeadLetter, ...] | None = None
    tally: Tally | None = None


@dataclass(frozen=True, slots=True)
class Accounting:
    """The places every message and every consumed event ended in; None where it was not seen.

    Attributes:
        published: messages confirmed by the broker.
        consumed: oslo type to count.
        skipped: oslo type to count.
        unparseable: bodies that are no notification.
        stored: events that were new to the Reporting API.
        duplicates: events it already held.
        dead_lettered: events it refused and kept.
        refused_by_scope: events of another platform or cloud than the credential's.
        oversize: events the collector gave up as too large.
        problems: what does not add up, in words.
    """

    published: int
    consumed: Mapping[str, int] | None
    skipped: Mapping[str, int] | None
    unparseable: int | None
    stored: int | None
    duplicates: int | None
    dead_lettered: int | None
    refused_by_scope: int | None
    oversize: int | None
    problems: tuple[str, ...]

    def with_problems(self, further: Iterable[str]) -> Accounting:
        """Return the same places with `further` problems behind the ones that are known."""
        return replace(self, problems=(*self.problems, *further))

    @property
    def rejected(self) -> int | None:
        """Events the Reporting API did not take: dead letters and refusals by scope."""
        known = [n for n in (self.dead_lettered, self.refused_by_scope) if n is not None]
        return sum(known) if known else None

    def document(self) -> dict[str, object]:
        """Return the member ``accounting`` of ``verdict.json``."""
        return {
            "published": self.published,
            "consumed": _total(self.consumed),
            "skipped": _total(self.skipped),
            "unparseable": self.unparseable,
            "stored": self.stored,
            "duplicates": self.duplicates,
            "dead_lettered": self.dead_lettered,
            "refused_by_scope": self.refused_by_scope,
            "oversize": self.oversize,
            "problems": list(self.problems),
        }


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A project's events of one Tally type, where their number is not the expected one."""

    project_id: str
    event_type: str
    count: int


@dataclass(frozen=True, slots=True)
class Counts:
    """Stored events against the oracle's counts.

    Attributes:
        expected: how many events the oracle counts.
        stored: how many the Reporting API holds; None where it could not be asked.
        missing: rows of the oracle with too few events, and by how many.
        surplus: rows with too many, and by how many.
    """

    expected: int
    stored: int | None
    missing: tuple[Shortfall, ...] = ()
    surplus: tuple[Shortfall, ...] = ()

    def document(self) -> dict[str, object]:
        """Return the member ``counts`` of ``verdict.json``."""
        return {
            "expected": self.expected,
            "stored": self.stored,
            "missing": [_row(row) for row in self.missing],
            "surplus": [_row(row) for row in self.surplus],
        }


def counted(events: Iterable[StoredEvent]) -> Counter[Key]:
    """Group stored events by project and Tally type."""
    return Counter((event.project_id, event.event_type) for event in events)


def hold_against(oracle: Mapping[Key, int], events: Iterable[StoredEvent] | None) -> Counts:
    """Compare stored events with the oracle's counts, row by row."""
    expected = Counter(oracle)
    if events is None:
        return Counts(expected.total(), None)
    stored = counted(events)
    return Counts(
        expected.total(), stored.total(), _rows(expected - stored), _rows(stored - expected)
    )


def account(
    expectation: Expectation, published: int, before: Sight, after: Sight, *, disturbed: bool
) -> Accounting:
    """Find out where everything ended between two sights, and what does not add up.

    Args:
        expectation: what the month asks for.
        published: messages the broker confirmed.
        before: as it was before the first publication.
        after: as it was once the outbox was empty.
        disturbed: a part was killed or cut off meanwhile, so messages may have been handled more
            than once: counters have to be at least the stream's instead of equal to it.
    """
    problems: list[str] = []
    if published != expectation.published:
        problems.append(
            f"{published} messages were confirmed, the stream holds {expectation.published}"
        )
    counters = _since(before.counters, after.counters)
    if counters is not None:
        problems += _of_counters(expectation, counters, disturbed=disturbed)
    stored = _new(before.events, after.events)
    dead = _new(before.dead_letters, after.dead_letters)
    if dead:
        reasons = Counter(letter.reason for letter in (after.dead_letters or ())[-dead:])
        problems += [
            f"{number} events were dead-lettered: {reason}"
            for reason, number in reasons.most_common(LIMIT)
        ]
    duplicates = scope = None
    if after.tally is not None:
        earlier = before.tally or Tally(0, 0)
        duplicates = after.tally.duplicates - earlier.duplicates
        scope = after.tally.refused_by_scope - earlier.refused_by_scope
        if scope:
            problems.append(f"{scope} events were refused by the scope of the ingest credential")
    if after.events is not None:
        problems += _of_events(expectation, after.events)
    oversize = None
    if counters is not None:
        oversize, unbalanced = _of_delivery(counters, (stored, duplicates, dead, scope))
        if not disturbed:
            problems += unbalanced
        known = {event.event_id for event in before.events or ()}
        repeats = expectation.repeats + sum(event in known for event, _ in expectation.events)
        quiet = not disturbed and not counters.delivery_errors
        if quiet and duplicates is not None and duplicates != repeats:
            problems.append(
                f"the Reporting API absorbed {duplicates} duplicates, the stream repeats {repeats}"
            )
    return Accounting(
        published=published,
        consumed=None if counters is None else counters.consumed,
        skipped=None if counters is None else counters.skipped,
        unparseable=None if counters is None else counters.unparseable,
        stored=stored,
        duplicates=duplicates,
        dead_lettered=dead,
        refused_by_scope=scope,
        oversize=oversize,
        problems=tuple(problems),
    )


def _of_counters(expectation: Expectation, counters: Counters, *, disturbed: bool) -> list[str]:
    """Hold a collector's counters against the stream."""
    tables = (
        ("consumed", expectation.consumed, counters.consumed),
        ("skipped", expectation.skipped, counters.skipped),
    )
    problems = []
    unparseable = counters.unparseable
    if unparseable < expectation.unparseable or (
        unparseable > expectation.unparseable and not disturbed
    ):
        problems.append(
            f"{unparseable} bodies were counted as unparseable, expected {expectation.unparseable}"
        )
    for what, expected, found in tables:
        seen = {name: number for name, number in found.items() if number}
        wanted = {name: number for name, number in expected.items() if number}
        if disturbed:
            seen = {name: min(number, wanted.get(name, 0)) for name, number in seen.items()}
        problems += differences(what, wanted, seen)
    if not disturbed and counters.handled != expectation.published:
        problems.append(
            f"{expectation.published} messages were published and {counters.handled} "
            "ended as consumed, skipped or unparseable"
        )
    return problems


def _of_delivery(
    counters: Counters, places: tuple[int | None, int | None, int | None, int | None]
) -> tuple[int | None, list[str]]:
    """Check that every consumed event ended in exactly one of `places`, or was too large to go.

    Returns how many were too large, and what does not add up. A collector counts an event it gave
    up among its delivery errors, and a post that failed as well; so as long as there are none,
    the places have to hold every event, and each error explains at most one.
    """
    problems = []
    if counters.buffered:
        problems.append(f"{counters.buffered} consumed events never left the outbox")
    known = [number for number in places if number is not None]
    if len(known) < len(places):
        return None, problems
    consumed = sum(counters.consumed.values())
    rest = consumed - counters.buffered - sum(known)
    if rest > counters.delivery_errors or (rest < 0 and not counters.delivery_errors):
        stored, duplicates, dead, scope = places
        problems.append(
            f"{consumed} notifications were consumed and {sum(known)} events ended as stored "
            f"({stored}), duplicate ({duplicates}), dead-lettered ({dead}) or refused by "
            f"scope ({scope}), with {counters.delivery_errors} delivery errors"
        )
    return max(0, min(rest, counters.delivery_errors)), problems


def _of_events(expectation: Expectation, events: Iterable[StoredEvent]) -> list[str]:
    """Check that exactly the published events are stored, each once."""
    stored = Counter(event.event_id for event in events)
    wanted = {event_id for event_id, _ in expectation.events}
    named = {event.event_id: event for event in events}
    problems = [
        f"event {event_id} ({named[event_id].event_type} of {named[event_id].resource_id}) "
        f"is stored {number} times"
        for event_id, number in sorted(stored.items())
        if number > 1
    ]
    problems += [
        f"event {event_id} was published and is not stored"
        for event_id in sorted(wanted - stored.keys())
    ]
    problems += [
        f"event {event_id} ({named[event_id].event_type} of {named[event_id].resource_id}) "
        "is stored and was not published"
        for event_id in sorted(stored.keys() - wanted)
    ]
    if len(problems) > LIMIT:
        problems[LIMIT:] = [f"{len(problems) - LIMIT} further events are missing or too many"]
    return problems


def _since(before: Counters | None, after: Counters | None) -> Counters | None:
    if after is None or before is None:
        return after
    return Counters(
        consumed=_less(after.consumed, before.consumed),
        skipped=_less(after.skipped, before.skipped),
        unparseable=after.unparseable - before.unparseable,
        delivered=after.delivered - before.delivered,
        delivery_errors=after.delivery_errors - before.delivery_errors,
        buffered=after.buffered,
    )


def _less(after: Mapping[str, int], before: Mapping[str, int]) -> dict[str, int]:
    rest = {name: number - before.get(name, 0) for name, number in after.items()}
    return {name: number for name, number in rest.items() if number}


def _new(before: tuple[object, ...] | None, after: tuple[object, ...] | None) -> int | None:
    return None if after is None else len(after) - len(before or ())


def _total(counters: Mapping[str, int] | None) -> int | None:
    return None if counters is None else sum(counters.values())


def _rows(counts: Counter[Key]) -> tuple[Shortfall, ...]:
    return tuple(Shortfall(*key, number) for key, number in sorted(counts.items()))


def _row(row: Shortfall) -> dict[str, object]:
    return {"project_id": row.project_id, "event_type": row.event_type, "count": row.count}
