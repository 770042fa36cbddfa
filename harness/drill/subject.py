"""What a drill is about: a generated month, its oracle, and what both ask of a pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.calendar import Period
from harness.drill.expectation import Expectation, Key, expect
from harness.drill.grammar import CLOUD
from harness.drill.storing import write_private
from harness.month import Month, generate
from harness.month.render import notification
from harness.oracle import Oracle
from harness.oracle.compare import RECONCILED, Comparison
from harness.oracle.document import encode
from harness.oracle.fold import fold
from harness.oslo import Notification


@dataclass(frozen=True, slots=True)
class Subject:
    """A month and what it asks for.

    Attributes:
        month: what the generator made.
        oracle: what has to be billed.
        expectation: what the pipeline has to show.
    """

    month: Month
    oracle: Oracle
    expectation: Expectation

    def __repr__(self) -> str:
        return f"<Subject {self.name}, {self.month.cloud}>"

    @property
    def name(self) -> str:
        """A name for files and vhosts: period, seed and switches; not the cloud."""
        return "-".join((str(self.month.period), f"seed-{self.month.seed}", *self.month.faults))

    @property
    def counts(self) -> Mapping[Key, int]:
        """The oracle's counts: (project, Tally type) to number."""
        return {(row.project_id, row.event_type): row.count for row in self.oracle.counts}

    def notifications(self) -> Iterator[Notification]:
        """Render the stream, message by message, in publication order."""
        return map(notification, self.month.stream)

    def documented(self, comparison: Comparison | None) -> frozenset[Key]:
        """Return the resources that have to differ, of the types that were compared at all."""
        left_out = {RECONCILED} | set(() if comparison is None else comparison.unpriced)
        return frozenset(key for key in self.expectation.differing if key[0] not in left_out)

    def write_oracle(self, path: Path) -> None:
        """Leave ``oracle.json``, mode 0600."""
        write_private(path, encode(self.oracle))


def prepare(
    seed: int, period: Period | str, *, cloud: str = CLOUD, faults: Sequence[str] = ()
) -> Subject:
    """Generate a month, fold its oracle, and work out what both ask for.

    Args:
        seed: 0 to 2**64 - 1.
        period: any month, or ``YYYY-MM``.
        cloud: name of the cloud.
        faults: fault switches, by `harness.drill.grammar.faults`.
    """
    month = generate(
        seed,
        Period.parse(period) if isinstance(period, str) else period,
        cloud=cloud,
        faults=tuple(faults),
    )
    oracle = fold(month)
    return Subject(month, oracle, expect(month, oracle))


def released(subject: Subject) -> Subject:
    """Return the same month with what it held back published behind the stream."""
    month = replace(subject.month, stream=subject.month.stream + subject.month.held, held=[])
    return Subject(month, subject.oracle, expect(month, subject.oracle))
