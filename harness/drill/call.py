"""A month through a stack to a verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from harness.drill.accounting import Sight, account, hold_against
from harness.drill.chaos import Chaos, Quiet
from harness.drill.charges import REGULAR, check_charges
from harness.drill.observer import DrillStalled, Observer
from harness.drill.storing import make_private, write_private
from harness.drill.subject import Subject
from harness.drill.verdict import Verdict
from harness.errors import UsageError
from harness.oracle.compare import Comparison, compare
from harness.oracle.traffic import increments
from harness.pricing import read as read_pricing
from harness.stack.interface import MonthStack, Stack
from harness.stack.scratch import Scratch

__all__ = ["DrillStalled", "Progress", "run", "take"]

PRICING = "2026-03"
#: Seconds without any progress after which a drill stops waiting for the pipeline.
PATIENCE = 120.0
#: The part of a verdict that is missing where no export can be had.
EXPORT = "export"
#: The part that is missing where an installed engine measured traffic and rated in its own way.
CHARGES = "charges"
#: What a drill leaves in its directory, and in ``export/`` there.
_FILES = ("oracle.json", "counters.json", "verdict.json", "samples.jsonl")
_EXPORTED = ("rated.csv", "deltas.csv")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a drill is.

    Attributes:
        phase: ``start``, ``publish``, ``drain``, ``read``, ``bill`` or ``compare``.
        done: messages of the phase that are through; 0 where a phase does not count.
        total: messages of the phase; 0 where it does not count.
    """

    phase: str
    done: int = 0
    total: int = 0


Watcher = Callable[[Progress], None]


def run(
    subject: Subject,
    stack: Stack,
    *,
    name: str = "",
    out: Path | None = None,
    watch: Watcher | None = None,
    chaos: Chaos | None = None,
    patience: float = PATIENCE,
) -> Verdict:
    """Take a month through a part of `stack` of its own, and return the verdict.

    Args:
        subject: the month, by `prepare`.
        stack: an open stack.
        name: the month's name in the stack, unique in a run; default: period, seed and switches.
        out: directory for ``oracle.json``, ``export/``, ``counters.json`` and ``verdict.json``.
        watch: called as the drill goes on.
        chaos: what to disturb meanwhile.
        patience: seconds without progress after which the drill gives up.

    Raises:
        HarnessError: the drill could not be carried out; a difference is no error.
    """
    with stack.month(name or subject.name, cloud=subject.month.cloud) as opened:
        return take(
            subject, opened, kind=stack.kind, out=out, watch=watch, chaos=chaos, patience=patience
        )


def take(
    subject: Subject,
    opened: MonthStack,
    *,
    kind: str = "",
    out: Path | None = None,
    watch: Watcher | None = None,
    chaos: Chaos | None = None,
    patience: float = PATIENCE,
    run_kind: str = REGULAR,
) -> Verdict:
    """Take a month through parts that are open already; a second call publishes it once more.

    The collector is started here and stopped again. Arguments and errors are those of `run`;
    `kind` is what the verdict calls the stack, `run_kind` what the billing has to call its run.
    """
    chaos = chaos or Quiet()
    if out is not None:
        _check(out)
    opened = chaos.begin(opened)  # may refuse, so nothing is removed before
    with Scratch() as scratch:
        directory = make_private(scratch / "drill" if out is None else _clear(out))
        drill = _Drill(
            subject,
            directory,
            watch or _unwatched,
            kind=kind,
            run_kind=run_kind,
            patience=patience,
        )
        try:
            verdict = drill.carry_out(opened, chaos)
            if out is not None:
                subject.write_oracle(directory / "oracle.json")
                verdict.write(directory)
        finally:
            with suppress(OSError):
                directory.rmdir()  # where nothing came of it
    return verdict


class _Drill:
    """One month on its way; holds what all phases need."""

    def __init__(
        self,
        subject: Subject,
        directory: Path,
        watch: Watcher,
        *,
        kind: str,
        run_kind: str,
        patience: float,
    ) -> None:
        self._subject = subject
        self._kind = kind
        self._directory = directory
        self._watch = watch
        self._patience = patience
        self._run_kind = run_kind
        self._seconds: dict[str, float] = {}

    def carry_out(self, opened: MonthStack, chaos: Chaos) -> Verdict:
        with (
            closing(Observer(opened, self._subject.month.cloud)) as observer,
            closing(opened.publisher()) as publisher,  # declares what the collector binds to
        ):
            try:
                with self._phase("start"):
                    opened.collector.start()
                    before = observer.look()
                began = time.monotonic()
                with self._phase("publish"):
                    published = publisher.publish(
                        self._subject.notifications(), confirmed=self._confirmed(chaos)
                    )
                chaos.settle()
                with self._phase("drain"):
                    observer.wait(before, published, self._patience, self._handled)
                verdict = self._judge(
                    opened, observer, before, published, disturbed=chaos.disturbed, began=began
                )
            finally:
                opened.collector.stop()
        return verdict

    def _judge(
        self,
        opened: MonthStack,
        observer: Observer,
        before: Sight,
        published: int,
        *,
        disturbed: bool,
        began: float,
    ) -> Verdict:
        subject = self._subject
        month = subject.month
        with self._phase("read"):
            after = observer.look()
            not_judged = observer.not_judged
            sums = observer.statistics(after, month.period)
        with self._phase("bill"):
            export = self._bill(opened)
        with self._phase("compare"):
            comparison = None if export is None else self._compare(export)
            if comparison is None:
                not_judged = (*not_judged, EXPORT)
            elif export != self._directory / "export":
                not_judged = (*not_judged, CHARGES)
            balance = account(subject.expectation, published, before, after, disturbed=disturbed)
        self._seconds["total"] = time.monotonic() - began
        return Verdict(
            seed=month.seed,
            period=month.period,
            cloud=month.cloud,
            faults=month.faults,
            stack=self._kind,
            comparison=comparison,
            counts=hold_against(subject.counts, after.events),
            expected_counts=hold_against(subject.expectation.stored, after.events),
            accounting=balance.with_problems(sums),
            documented=subject.documented(comparison),
            not_judged=not_judged,
            seconds=self._seconds,
        )

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        self._watch(Progress(name))
        began = time.monotonic()
        yield
        self._seconds[name] = time.monotonic() - began

    def _confirmed(self, chaos: Chaos) -> Callable[[int], None]:
        total = self._subject.expectation.published

        def confirmed(number: int) -> None:
            self._watch(Progress("publish", number, total))
            chaos.published(number)

        return confirmed

    def _handled(self, number: int) -> None:
        self._watch(Progress("drain", number, self._subject.expectation.published))

    def _bill(self, opened: MonthStack) -> Path | None:
        samples = self._directory / "samples.jsonl"
        try:
            write_private(samples, b"".join(increments(self._subject.oracle)))
            return opened.bill(
                str(self._subject.month.period), samples=samples, out=self._directory / "export"
            )
        finally:
            samples.unlink(missing_ok=True)

    def _compare(self, export: Path) -> Comparison:
        oracle, model = self._subject.oracle, read_pricing(PRICING)
        comparison = compare(oracle, export, model)
        if export != self._directory / "export":
            return comparison  # an installed engine's, which measured traffic in its own way
        return check_charges(comparison, oracle, export, model, self._run_kind)


def _clear(out: Path) -> Path:
    """Take away what an earlier drill left in `out`, and nothing else."""
    export = out / "export"
    for path in (*(out / name for name in _FILES), *(export / name for name in _EXPORTED)):
        path.unlink(missing_ok=True)
    if export.is_dir():
        export.rmdir()
    return out


def _check(out: Path) -> None:
    """Refuse a directory that holds something a drill did not leave where it writes."""
    export = out / "export"
    for path in (out, export):
        if path.exists() and not path.is_dir():
            raise UsageError(f"{path} is no directory; name another one with --out")
    for path in (*(out / name for name in _FILES), *(export / name for name in _EXPORTED)):
        if path.is_dir():
            raise UsageError(f"{path} is a directory where a drill writes a file; move it away")
    if export.is_dir():
        foreign = sorted(path.name for path in export.iterdir() if path.name not in _EXPORTED)
        if foreign:
            raise UsageError(
                f"{export} holds files no drill wrote: {', '.join(foreign)}; move them away, or "
                "name another directory with --out"
            )


def _unwatched(_: Progress) -> None:
    """Watch nothing."""
