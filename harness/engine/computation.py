"""One computation of a period: meter, rate, attribute, and book it all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from harness.calendar import Period
from harness.engine import ledger
from harness.engine.attribution import attribute
from harness.engine.counters import COUNTER_SOURCE_FAILED, CounterSource
from harness.engine.errors import InvariantsViolated
from harness.engine.instant import bounds, spell
from harness.engine.invariants import Violation
from harness.engine.metering import Meter, Metered
from harness.engine.rating import Rater
from harness.engine.record import History, RatedRecord, Warned
from harness.engine.reporting import Snapshot
from harness.engine.runs import Run
from harness.engine.schema import correction_deltas, rated_records
from harness.engine.statement import (
    credit_items,
    gather,
    line_items,
    statements,
)
from harness.pricing import Kind, PricingModel

#: How many violations a failed run's stats list.
_MOST_VIOLATIONS = 1000


@dataclass(slots=True)
class Computation:
    """Computes one run over a snapshot.

    Attributes:
        period: the billing period.
        model: the prices.
        sources: counter sources.
        attributing: relation types that move cost.
        candidates: how many there were; this and the next members fill as it runs.
        usage_records: how many.
        rated_records: how many.
        metering_warnings: in order of the candidates.
        counter_warnings: in order of the candidates.
        violations: the first thousand.
        violated: how many resources violate an invariant.
        owned: (cloud, project id) to how many resources it had.
    """

    period: Period
    model: PricingModel
    sources: Sequence[CounterSource]
    attributing: Sequence[str]
    candidates: int = 0
    usage_records: int = 0
    rated_records: int = 0
    metering_warnings: list[Warned] = field(default_factory=list)
    counter_warnings: list[Warned] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    violated: int = 0
    owned: Counter[tuple[str, str]] = field(default_factory=Counter)

    def book(self, connection: sa.Connection, snapshot: Snapshot, run: Run) -> dict[str, Any]:
        """Meter and rate everything, book records, deltas and documents; return the stats.

        Raises:
            InvariantsViolated: usage records contradict the events.
            CounterFailure: a required counter source failed.
        """
        start, end = bounds(self.period)
        meter, rater = Meter(start, end, self.sources), Rater(self.model)
        writer = ledger.Writer(connection, run.id, self.model.currency)
        types: set[tuple[str, str]] = set()
        for metered, rated in bill(snapshot.histories(start, end, run.clouds), meter, rater):
            self._note(metered, rated)
            if metered.records:
                types.add((metered.resource.platform, metered.resource.resource_type))
            if not self.violated:
                writer.add(metered.records, rated)
        if self.violated:
            raise InvariantsViolated(
                f"metering contradicts the events of {self.violated} resources; "
                f"the stats of run {run.id} list them under violations"
            )
        writer.flush()
        self.counter_warnings += self._unsourced(types)
        return {
            "snapshot_at": spell(snapshot.at),
            **self.counted(),
            **self._documents(connection, snapshot, run, rater),
            **_listed(rater),
        }

    def counted(self) -> dict[str, Any]:
        """Return what a run's stats say of metering, also of one that failed."""
        stats: dict[str, Any] = {
            "candidates": self.candidates,
            "usage_records": self.usage_records,
            "rated_records": self.rated_records,
        }
        for name, listed in (
            ("metering_warnings", self.metering_warnings),
            ("counter_warnings", self.counter_warnings),
            ("violations", self.violations),
        ):
            if listed:
                stats[name] = [entry.document() for entry in listed]
        return stats

    def _note(self, metered: Metered, rated: Sequence[RatedRecord]) -> None:
        self.candidates += 1
        self.usage_records += len(metered.records)
        self.rated_records += len(rated)
        self.metering_warnings += metered.warnings
        self.counter_warnings += metered.counter_warnings
        for project_id in {record.project_id for record in metered.records}:
            self.owned[metered.resource.cloud, project_id] += 1
        if metered.violations:
            self.violated += 1
            room = _MOST_VIOLATIONS - len(self.violations)
            self.violations += metered.violations[:room]

    def _unsourced(self, types: Iterable[tuple[str, str]]) -> list[Warned]:
        """Warn of priced counters of metered types that no source fills in."""
        filled = {(source.platform, source.resource_type, source.metric) for source in self.sources}
        return [
            Warned(
                COUNTER_SOURCE_FAILED,
                None,
                f"{platform}/{resource_type}: no counter source is configured for "
                f"{dimension.metric}, so its quantity is 0.0000",
            )
            for platform, resource_type in sorted(types)
            if (tariff := self.model.tariff(platform, resource_type)) is not None
            for dimension in tariff.dimensions
            if dimension.kind is Kind.COUNTER
            and (platform, resource_type, dimension.metric) not in filled
        ]

    def _documents(
        self, connection: sa.Connection, snapshot: Snapshot, run: Run, rater: Rater
    ) -> dict[str, Any]:
        """Book deltas and documents, statements or credit notes; return their stats."""
        start, end = bounds(self.period)
        attribution = attribute(
            snapshot.projects(), snapshot.relations(self.attributing, start, end)
        )
        stats: dict[str, Any] = {}
        if run.corrects_run_id is None:
            table = rated_records
        else:
            table = correction_deltas
            stats["deltas"] = ledger.write_deltas(
                connection, run.id, run.corrects_run_id, self.model.currency
            )
        documents = statements(
            gather(ledger.owners(connection, run.id, table), attribution),
            (
                (lambda owner: line_items(ledger.booked(connection, run.id, owner, rater)))
                if run.corrects_run_id is None
                else (lambda owner: credit_items(ledger.deltas(connection, run.id, owner)))
            ),
            period=self.period,
            currency=self.model.currency,
            corrects_run_id=run.corrects_run_id,
        )
        stats["statements"] = ledger.write_statements(connection, run.id, documents)
        if attribution.warnings:
            stats["attribution_warnings"] = [warning.document() for warning in attribution.warnings]
        unregistered = sorted(self.owned.keys() - attribution.registered)
        if unregistered:
            stats["unregistered_projects"] = [
                {
                    "cloud": cloud,
                    "project_id": project_id,
                    "resources": self.owned[cloud, project_id],
                }
                for cloud, project_id in unregistered
            ]
        return stats


def bill(
    histories: Iterable[History], meter: Meter, rater: Rater
) -> Iterator[tuple[Metered, list[RatedRecord]]]:
    """Meter and rate candidates one by one."""
    for history in histories:
        metered = meter.meter(history)
        yield metered, rater.rate(metered.records)


def _listed(rater: Rater) -> dict[str, Any]:
    """Return what a run's stats say of things rating could not price or read."""
    stats: dict[str, Any] = {}
    if rater.unpriced:
        stats["unpriced"] = [
            {"platform": platform, "resource_type": resource_type, "count": count}
            for (platform, resource_type), count in sorted(rater.unpriced.items())
        ]
    if rater.unreadable:
        stats["unreadable"] = [
            {
                "platform": platform,
                "resource_type": resource_type,
                "metric": metric,
                "count": count,
            }
            for (platform, resource_type, metric), count in sorted(rater.unreadable.items())
        ]
    return stats
