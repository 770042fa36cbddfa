"""The drill of late events: a month is billed and closed, the rest arrives, and it is corrected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.broker import Publisher
from harness.drill.call import PATIENCE, Progress, take
from harness.drill.charges import CORRECTION
from harness.drill.subject import Subject, released
from harness.drill.verdict import Verdict
from harness.engine import Engine, Late, Outcome
from harness.errors import UsageError
from harness.oslo import EXCHANGES
from harness.stack.interface import Access, Collector, MonthStack, Stack
from harness.stack.month import OpenMonth


@dataclass(frozen=True, slots=True)
class HeldBack:
    """What a month came to whose switch kept messages back at first.

    Attributes:
        before: the verdict on the run that closed the period, without what was held.
        late: the events that arrived once that run had read its snapshot.
        correction: the run that booked what they change.
        after: the verdict on the correction.
        held: how many messages were held.
    """

    before: Verdict
    late: Late
    correction: Outcome
    after: Verdict
    held: int

    def findings(self) -> tuple[str, ...]:
        """Say what is not as it has to be; empty for a drill that passed.

        The closed month has to differ where something was held and nowhere else, every event
        held has to be found late, and the correction has to match.
        """
        found = [f"before the release: {text}" for text in self.before.findings()]
        found += [f"after the correction: {text}" for text in self.after.findings()]
        if self.before.documented and not self.before.differences:
            found.append("the closed month matches, so nothing was held back from it")
        if not self.after.matches:
            found.append("the corrected month differs from the oracle")
        events = sum(resource.events for resource in self.late.resources)
        if events != self.held:
            found.append(f"{events} events were found late, {self.held} messages were held")
        return tuple(found)

    @property
    def passed(self) -> bool:
        """Nothing is to be found fault with."""
        return not self.findings()


def run_held_back(
    subject: Subject,
    stack: Stack,
    *,
    name: str = "",
    out: Path | None = None,
    watch: Callable[[Progress], None] | None = None,
    patience: float = PATIENCE,
) -> HeldBack:
    """Publish, bill and close a month, release what it held, then detect, correct and compare.

    Args:
        subject: a month with the switch ``held-back`` on.
        stack: an open stack whose engine is this project's.
        name: the month's name in the stack, unique in a run.
        out: directory for ``before/`` and ``after/``, each as a drill leaves it.
        watch: called as the two halves go on.
        patience: seconds without progress after which the drill gives up.

    Raises:
        UsageError: the month holds nothing back, or the stack has no engine of ours.
        HarnessError: the drill could not be carried out; a difference is no error.
    """
    if not subject.month.held:
        raise UsageError(
            f"{subject.name} holds nothing back; prepare it with the fault switch held-back"
        )
    with stack.month(name or subject.name, cloud=subject.month.cloud) as opened:
        books = _Books(opened)
        before = take(
            subject,
            _Billed(opened, books.close_period),
            kind=stack.kind,
            out=None if out is None else out / "before",
            watch=watch,
            patience=patience,
        )
        after = take(
            _rest(subject),
            _Billed(opened, books.correct_period),
            kind=stack.kind,
            out=None if out is None else out / "after",
            watch=watch,
            patience=patience,
            run_kind=CORRECTION,
        )
    late, correction = books.corrected
    return HeldBack(before, late, correction, after, len(subject.month.held))


def _rest(subject: Subject) -> Subject:
    """Return what is published at a release; the Reporting API then holds the whole month."""
    whole = released(subject)
    rest = replace(subject.month, stream=subject.month.held, held=[])
    part = released(Subject(rest, subject.oracle, subject.expectation)).expectation
    expectation = replace(
        whole.expectation,
        published=part.published,
        consumed=part.consumed,
        skipped=part.skipped,
        unparseable=part.unparseable,
    )
    return Subject(rest, subject.oracle, expectation)


class _Books:
    """The engine's steps on either side of the release.

    Attributes:
        corrected: what was found late, and the correction, once there is one.
    """

    corrected: tuple[Late, Outcome]

    def __init__(self, opened: MonthStack) -> None:
        books = opened.books if isinstance(opened, OpenMonth) else None
        if books is None:
            raise UsageError(
                "the held-back drill closes and corrects periods with this project's engine, "
                "which this stack has not; name embedded, local or containers"
            )
        self._books = books

    def close_period(self, period: str, samples: Path | None, out: Path) -> None:
        """Run, finalize and export."""

        def bill(engine: Engine) -> str:
            run = engine.run(period)
            engine.finalize(period, run.run_id)
            return run.run_id

        self._export(samples, out, bill)

    def correct_period(self, period: str, samples: Path | None, out: Path) -> None:
        """Detect late events, correct, finalize the correction and export it."""

        def bill(engine: Engine) -> str:
            late = engine.detect_late(period)
            run = engine.correct(period)
            engine.finalize(period, run.run_id)
            self.corrected = late, run
            return run.run_id

        self._export(samples, out, bill)

    def _export(self, samples: Path | None, out: Path, bill: Callable[[Engine], str]) -> None:
        with self._books.reporting() as url, self._books.engine(url, samples) as engine:
            engine.export(bill(engine), "csv", out)


class _Billed:
    """A month's part of a stack, billed in another way; keeps `harness.stack.MonthStack`."""

    def __init__(self, opened: MonthStack, bill: Callable[[str, Path | None, Path], None]) -> None:
        self.collector: Collector = opened.collector
        self.reporting: Access | None = opened.reporting
        self._opened = opened
        self._bill = bill

    def publisher(self, exchanges: Sequence[str] = EXCHANGES) -> Publisher:
        """Connect a publisher to this month's bus."""
        return self._opened.publisher(exchanges)

    def bill(self, period: str, *, samples: Path | None = None, out: Path) -> Path | None:
        """Bill the period and export it into `out`."""
        self._bill(period, samples, out)
        return out
