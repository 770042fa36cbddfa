"""The verdict of a drill: three parts, what is documented to differ, and how it is written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from harness.calendar import Period
from harness.drill.accounting import Accounting, Counts
from harness.drill.expectation import Key
from harness.drill.storing import write_private
from harness.drill.subject import Subject
from harness.drill.table import in_table_order
from harness.oracle.compare import Comparison, Difference
from harness.oracle.rated import spell

FORMAT = 1
#: The closed set of words for a difference.
WORDS = (
    "lost",
    "unexpected",
    "duplicated",
    "late",
    "wrong-interval",
    "wrong-state",
    "wrong-project",
    "wrong-quantity",
)


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What one month through one stack came to.

    A verdict equals the `Subject` it is about when it passed, and another verdict when both say
    the same but for the seconds they took.

    Attributes:
        seed: seed of the month.
        period: its billing period.
        cloud: its cloud.
        faults: switches that were on, canonical order.
        stack: kind of the stack.
        comparison: the export against the oracle; None where no export could be had.
        counts: stored events against the oracle's counts.
        expected_counts: the same for what went out: what a switch kept back is not missing here.
        accounting: where every message ended.
        documented: resources that have to differ under the switches that were on.
        not_judged: parts nothing lets the drill read; never counted as passed.
        seconds: phase to wall seconds; ``total`` runs from the first publication to the verdict.
    """

    seed: int
    period: Period
    cloud: str
    faults: tuple[str, ...]
    stack: str
    comparison: Comparison | None
    counts: Counts
    expected_counts: Counts
    accounting: Accounting
    documented: frozenset[Key]
    not_judged: tuple[str, ...]
    seconds: Mapping[str, float]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Subject):
            month = other.month
            return self.passed and (self.seed, self.period, self.cloud, self.faults) == (
                month.seed,
                month.period,
                month.cloud,
                month.faults,
            )
        if isinstance(other, Verdict):
            return self._said() == other._said()
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        word = "passed" if self.passed else "failed"
        return f"<Verdict seed {self.seed}, {self.period}, {self.cloud}, {self.stack}: {word}>"

    def _said(self) -> tuple[object, ...]:
        return self.document() | {"seconds": None, "stack": None}, self.counters(), self.documented

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Resources that differ, marked or not."""
        return () if self.comparison is None else self.comparison.differences

    @property
    def matches(self) -> bool:
        """Nothing differs in any part, marked or not."""
        counts = self.counts
        return not (
            self.differences or counts.missing or counts.surplus or self.accounting.problems
        )

    @property
    def passed(self) -> bool:
        """Exactly what the switches are documented to do differs, and all of it is marked."""
        return not self.findings()

    def findings(self) -> tuple[str, ...]:
        """Say what is not as it has to be; empty for a drill that passed."""
        return (
            *self._of_nothing(),
            *self._of_export(),
            *_of_counts(self.expected_counts),
            *self.accounting.problems,
        )

    def undocumented(self) -> tuple[Difference, ...]:
        """Return the differences no switch is documented to make, or that carry no mark."""
        return tuple(
            difference
            for difference in self.differences
            if _key(difference) not in self.documented or not difference.touched_by
        )

    def skip_counters(self) -> dict[str, int] | None:
        """Return what the collector skipped, most frequent first; None where it was not seen."""
        skipped = self.accounting.skipped
        return None if skipped is None else in_table_order(skipped)

    def _of_nothing(self) -> Iterable[str]:
        """A drill that could look at nothing has not passed."""
        places = self.accounting
        if self.comparison is None and places.consumed is None and places.stored is None:
            yield (
                "nothing could be judged; give the stack an export, a Reporting API with a token, "
                "or the address of the collector's metrics"
            )

    def _of_export(self) -> Iterable[str]:
        seen = set(map(_key, self.differences))
        yield from (difference.line() for difference in self.undocumented())
        if self.comparison is not None:
            for resource_type, resource_id in sorted(self.documented - seen):
                yield (
                    f"{resource_type} {resource_id}: the export matches the oracle, and "
                    f"{', '.join(self.faults)} has to make it differ"
                )

    @property
    def touched(self) -> int:
        """How many differences carry the mark of a switch."""
        return sum(bool(difference.touched_by) for difference in self.differences)

    def lines(self) -> tuple[str, ...]:
        """Report it line by line: the places, the comparison, then what the drill made of it."""
        return tuple(self._report())

    def _report(self) -> Iterable[str]:
        on = f" with {', '.join(self.faults)}" if self.faults else ""
        yield f"seed {self.seed}, {self.period}, {self.cloud}{on}, on {self.stack}"
        places = self.accounting
        yield (
            f"{places.published} published: {_number(places.consumed)} consumed, "
            f"{_number(places.skipped)} skipped, {_number(places.unparseable)} unparseable"
        )
        yield (
            f"{_number(places.stored)} stored, {_number(places.duplicates)} duplicates, "
            f"{_number(places.rejected)} rejected"
        )
        if self.comparison is not None:
            yield from self.comparison.lines()
        for part in self.not_judged:
            yield f"not judged: {part}"
        findings = self.findings()
        reported = {difference.line() for difference in self.differences}
        yield from (line for line in findings if line not in reported)
        seconds = self.seconds.get("total", 0.0)
        if findings:
            yield f"failed, {len(findings)} findings, in {seconds:.1f} s"
        elif self.not_judged:
            yield f"passed as far as it was judged, in {seconds:.1f} s"
        elif self.faults:
            documented = f"as documented for {', '.join(self.faults)}"
            if self.differences:
                yield (
                    f"passed {documented}: exactly these {len(self.differences)} resources "
                    f"differ, all marked, in {seconds:.1f} s"
                )
            else:
                yield f"passed {documented}: nothing differs, in {seconds:.1f} s"
        else:
            yield f"passed in {seconds:.1f} s"

    def document(self) -> dict[str, object]:
        """Return ``verdict.json``."""
        comparison = self.comparison
        return {
            "format": FORMAT,
            "seed": self.seed,
            "period": str(self.period),
            "cloud": self.cloud,
            "faults": list(self.faults),
            "stack": self.stack,
            "matches": self.matches,
            "compared": 0 if comparison is None else comparison.compared,
            "unpriced": {} if comparison is None else dict(comparison.unpriced),
            "differences": [_difference(difference) for difference in self.differences],
            "counts": self.counts.document(),
            "accounting": self.accounting.document(),
            "not_judged": list(self.not_judged),
            "seconds": {phase: round(took, 3) for phase, took in self.seconds.items()},
        }

    def counters(self) -> dict[str, object]:
        """Return ``counters.json``."""
        places = self.accounting
        return {
            "published": places.published,
            "consumed": None if places.consumed is None else dict(places.consumed),
            "skipped": None if places.skipped is None else dict(places.skipped),
            "unparseable": places.unparseable,
            "stored": places.stored,
            "duplicates": places.duplicates,
            "rejected": places.rejected,
        }

    def write(self, directory: Path) -> None:
        """Leave ``verdict.json`` and ``counters.json`` in `directory`, mode 0600."""
        write_private(directory / "verdict.json", encode(self.document()))
        write_private(directory / "counters.json", encode(self.counters()))


def encode(document: Mapping[str, Any]) -> bytes:
    """Render a document sorted, indented, and ended by a line feed."""
    return msgspec.json.format(msgspec.json.encode(document, order="sorted"), indent=2) + b"\n"


def _difference(difference: Difference) -> dict[str, object]:
    return {
        "resource_type": difference.resource_type,
        "resource_id": difference.resource_id,
        "word": difference.word,
        "from": spell(difference.start),
        "to": spell(difference.end),
        "expected": difference.expected,
        "actual": difference.actual,
        "detail": difference.detail,
        "more": difference.more,
        "touched_by": list(difference.touched_by),
    }


def _key(difference: Difference) -> Key:
    return difference.resource_type, difference.resource_id


def _of_counts(counts: Counts) -> Iterable[str]:
    for what, rows in (("too few", counts.missing), ("too many", counts.surplus)):
        for row in rows:
            yield (
                f"stored events: {row.count} {what} of {row.event_type} in project {row.project_id}"
            )


def _number(count: int | Mapping[str, int] | None) -> str:
    if count is None:
        return "unknown"
    return str(count if isinstance(count, int) else sum(count.values()))
