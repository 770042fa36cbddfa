"""A recording through a stack: judged by its oracle, if it has one, and laid out for snapshots."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from harness.broker.clock import VirtualClock
from harness.calendar import Period, rfc3339
from harness.drill.accounting import Sight, counted
from harness.drill.call import EXPORT, PATIENCE, take
from harness.drill.expectation import Expectation, Key
from harness.drill.metered import Metered, add_up
from harness.drill.observer import Observer
from harness.drill.storing import make_private
from harness.drill.subject import Subject
from harness.drill.verdict import Verdict
from harness.month import Month
from harness.oracle import Oracle
from harness.oracle.document import read as read_oracle
from harness.oracle.fold import BOOKED
from harness.oslo import EXCHANGES, Notification, Unparseable, parse
from harness.recording.instants import NANO
from harness.recording.pace import Pace
from harness.recording.recording import ORACLE, Recording
from harness.recording.survey import Survey
from harness.stack.interface import MonthStack, Stack
from harness.stack.scratch import Scratch

#: What a collector binds to; a message under another key reaches none.
TOPIC = "notifications.info"


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """What one recording through one stack came to; None stands for what could not be seen.

    Attributes:
        name: the recording's.
        stack: kind of the stack.
        published: messages confirmed.
        consumed: oslo type to count.
        skipped: oslo type to count.
        unparseable: bodies that are no notification.
        events: (project, Tally type) to number of stored events.
        rejected: reason to number of events refused and kept.
        metered: rows of the exports, added up; None where no export can be had.
        verdict: of a recording with an oracle.
        problems: what does not add up, in words.
        not_judged: parts nothing lets the drill read.
        lag: wall seconds the publication fell behind its clock at most.
        seconds: wall seconds from the first publication to the end.
    """

    name: str
    stack: str
    published: int
    consumed: Mapping[str, int] | None
    skipped: Mapping[str, int] | None
    unparseable: int | None
    events: Mapping[Key, int] | None
    rejected: Mapping[str, int] | None
    metered: tuple[Metered, ...] | None
    verdict: Verdict | None
    problems: tuple[str, ...]
    not_judged: tuple[str, ...]
    lag: float
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether everything adds up, and the oracle, where there is one, is met."""
        return not self.problems and (self.verdict is None or self.verdict.passed)

    def lines(self) -> tuple[str, ...]:
        """Report it line by line."""
        if self.verdict is not None:
            return self.verdict.lines()
        seen = (self.consumed, self.skipped)
        consumed, skipped = ("unknown" if n is None else str(sum(n.values())) for n in seen)
        unparseable = "unknown" if self.unparseable is None else self.unparseable
        places = f"{consumed} consumed, {skipped} skipped, {unparseable} unparseable"
        return (
            f"recording {self.name} on {self.stack}",
            f"{self.published} published: {places}",
            *self.problems,
            *(f"not judged: {part}" for part in self.not_judged),
            f"{'passed' if self.passed else 'failed'} in {self.seconds:.1f} s",
        )


@dataclass(frozen=True, slots=True)
class RecordedSubject(Subject):
    """A recorded month with an oracle, judged as a generated one is.

    Attributes:
        recording: where its messages come from.
        pace: lets them go.
    """

    recording: Recording = field(kw_only=True)
    pace: Pace = field(kw_only=True)

    @property
    def name(self) -> str:
        """The recording's name."""
        return self.recording.name

    def notifications(self) -> Iterator[Notification]:
        """Read the stream, message by message, at its pace."""
        return self.pace(self.recording.notifications())


def replay(
    recording: Recording,
    stack: Stack,
    *,
    name: str = "",
    factor: float = 0,
    out: Path | None = None,
    patience: float = PATIENCE,
) -> Replayed:
    """Take a recording through a part of `stack` of its own.

    Args:
        recording: checked to its end before anything is published.
        stack: an open stack.
        name: the part's name, unique in a run; default: the recording's.
        factor: virtual seconds in one of the wall; 0 is as fast as it goes.
        out: directory for exports, and for the verdict of a recording with an oracle.
        patience: seconds without progress after which the drill gives up.

    Raises:
        HarnessError: the recording is not whole, or the drill could not be carried out.
    """
    survey = recording.check()
    pace = Pace(VirtualClock((survey.opening or 0) / NANO, factor))
    with (
        Scratch() as scratch,
        stack.month(name or recording.name, cloud=recording.manifest.cloud) as opened,
    ):
        directory = make_private(out or scratch / "out")
        began = time.monotonic()
        extracted = recording.extract(ORACLE, scratch)
        if extracted is not None:
            subject = _subject(recording, read_oracle(extracted), pace)
            verdict = take(subject, opened, kind=stack.kind, out=directory, patience=patience)
            seen = _Seen.of_verdict(verdict, opened, subject, directory)
        else:
            seen = _take(recording, survey, opened, pace, directory=directory, patience=patience)
        return Replayed(
            name=recording.name,
            stack=stack.kind,
            published=seen.published,
            consumed=seen.consumed,
            skipped=seen.skipped,
            unparseable=seen.unparseable,
            events=None if seen.sight.events is None else counted(seen.sight.events),
            rejected=None if seen.sight.dead_letters is None else _reasons(seen.sight),
            metered=add_up(seen.exports),
            verdict=seen.verdict,
            problems=seen.problems,
            not_judged=seen.not_judged,
            lag=pace.lag,
            seconds=time.monotonic() - began,
        )


@dataclass(frozen=True, slots=True)
class _Seen:
    """What either way of replaying sees."""

    published: int
    consumed: Mapping[str, int] | None
    skipped: Mapping[str, int] | None
    unparseable: int | None
    sight: Sight
    exports: Mapping[str, Path]
    not_judged: tuple[str, ...]
    problems: tuple[str, ...] = ()
    verdict: Verdict | None = None

    @classmethod
    def of_verdict(
        cls, verdict: Verdict, opened: MonthStack, subject: Subject, directory: Path
    ) -> _Seen:
        places = verdict.accounting
        with closing(Observer(opened, subject.month.cloud)) as observer:
            sight = observer.look()
        export = directory / "export"
        return cls(
            places.published,
            places.consumed,
            places.skipped,
            places.unparseable,
            sight,
            {str(subject.month.period): export} if export.exists() else {},
            verdict.not_judged,
            verdict=verdict,
        )


def _take(
    recording: Recording,
    survey: Survey,
    opened: MonthStack,
    pace: Pace,
    *,
    directory: Path,
    patience: float,
) -> _Seen:
    """Publish, wait, look and bill each month the recording holds messages of."""
    bound = sum(
        count
        for (exchange, key), count in survey.places.items()
        if exchange in EXCHANGES and key == TOPIC
    )
    declared = tuple(dict.fromkeys((*EXCHANGES, *survey.exchanges)))
    with (
        closing(Observer(opened, recording.manifest.cloud)) as observer,
        closing(opened.publisher(declared)) as publisher,
    ):
        opened.collector.start()
        try:
            before = observer.look()
            published = publisher.publish(pace(recording.notifications()))
            observer.wait(before, bound, patience, lambda _: None)
            after = observer.look()
            exports = {}
            for period in sorted(survey.months):
                export = opened.bill(period, out=directory / period)
                if export is not None:
                    exports[period] = export
        finally:
            opened.collector.stop()
    counters = after.counters
    return _Seen(
        published,
        None if counters is None else counters.consumed,
        None if counters is None else counters.skipped,
        None if counters is None else counters.unparseable,
        after,
        exports,
        observer.not_judged if exports or not survey.months else (*observer.not_judged, EXPORT),
        tuple(_imbalances(after, published, survey.notifications, bound)),
    )


def _imbalances(sight: Sight, published: int, recorded: int, bound: int) -> Iterator[str]:
    """Say what of the messages, and of the events made of them, did not end in one place each."""
    if published != recorded:
        yield f"{published} messages were confirmed, the recording holds {recorded}"
    counters = sight.counters
    if counters is None:
        return
    if counters.handled != bound:
        yield (
            f"{bound} messages were within the collector's reach, and {counters.handled} ended "
            "as consumed, skipped or unparseable"
        )
    if sight.events is None or sight.dead_letters is None or sight.tally is None:
        return
    consumed = sum(counters.consumed.values())
    ended = (
        len(sight.events)
        + len(sight.dead_letters)
        + sight.tally.duplicates
        + sight.tally.refused_by_scope
    )
    if not counters.delivery_errors and consumed != ended:
        yield f"{consumed} notifications were consumed, and {ended} events came to an end"


def _subject(recording: Recording, oracle: Oracle, pace: Pace) -> RecordedSubject:
    """Return the recorded month as something to be judged by its oracle."""
    consumed: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    events: set[tuple[str, int]] = set()
    unparseable = published = 0
    for notification in recording.notifications():
        published += 1
        try:
            envelope = parse(notification.body)
        except Unparseable:
            unparseable += 1
            continue
        if envelope.event_type in BOOKED:
            consumed[envelope.event_type] += 1
            events.add((envelope.message_id, envelope.timestamp // NANO))
        else:
            skipped[envelope.event_type] += 1
    expectation = Expectation(
        published=published,
        consumed=consumed,
        skipped=skipped,
        unparseable=unparseable,
        events=frozenset(events),
        stored={(row.project_id, row.event_type): row.count for row in oracle.counts},
        differing=frozenset(),
    )
    period = Period.parse(rfc3339(oracle.start)[:7])
    month = Month(oracle.seed, period, oracle.cloud, oracle.faults, [], [], [], [], (), ())
    return RecordedSubject(month, oracle, expectation, recording=recording, pace=pace)


def _reasons(sight: Sight) -> Mapping[str, int]:
    return Counter(letter.reason for letter in sight.dead_letters or ())
