"""Comparing what an engine exported with what the oracle expects.

Equality first: what the oracle expects of a resource and what the export books for it are laid
down in one form and compared with ``==``. Only a pair that differs is looked at more closely, to
say where.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from pathlib import Path

from harness.errors import HarnessError
from harness.oracle import rated
from harness.oracle.model import Interval, Oracle, Resource
from harness.oracle.rated import Instant, RatedRow, spell, spell_bounds
from harness.oracle.switches import canonical
from harness.pricing import Kind, PricingModel

PLATFORM = "openstack"

#: Priced, but sized by reconciliation: no notification states a balancer's listeners and pools.
RECONCILED = "loadbalancer"

_EXACT = Context(prec=160, rounding=ROUND_HALF_UP)
_PLACES = Decimal("0.0001")


class GateError(HarnessError):
    """An export and an oracle that cannot be compared, and why."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A resource that is not billed as it was lived.

    Attributes:
        resource_type: ``instance``, ``volume``, …
        resource_id: its id.
        word: ``lost``, ``unexpected``, ``duplicated``, ``wrong-interval``, ``wrong-state``,
            ``wrong-project`` or ``wrong-quantity``: what the first detail is.
        start: first instant of what the first detail is about.
        end: the instant it ends before.
        expected: what the oracle states, None when it states nothing.
        actual: what the export states, None when it states nothing.
        detail: the first detail in words.
        more: how many further details the resource has.
        touched_by: switches of the run that touched the resource.
    """

    resource_type: str
    resource_id: str
    word: str
    start: Instant
    end: Instant
    expected: str | None
    actual: str | None
    detail: str
    more: int
    touched_by: tuple[str, ...]

    def line(self) -> str:
        """Return the difference as one line of a report."""
        more = f" (and {self.more} more)" if self.more else ""
        touched = f" (touched by {', '.join(self.touched_by)})" if self.touched_by else ""
        return f"{self.resource_type} {self.resource_id}: {self.detail}{more}{touched}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a comparison came to.

    Attributes:
        version: version of the pricing model the export was read by.
        compared: resources held against each other.
        differences: by resource type, then id.
        unpriced: resource type to how many of the oracle's the model does not price.
        reconciled: how many priced load balancers were left to reconciliation.
        skipped: how many rated records name another cloud or platform.
        faults: switches of the month, canonical order.
    """

    version: str
    compared: int
    differences: tuple[Difference, ...]
    unpriced: Mapping[str, int]
    reconciled: int
    skipped: int
    faults: tuple[str, ...]

    @property
    def matches(self) -> bool:
        """Whether no resource differs."""
        return not self.differences

    def lines(self) -> list[str]:
        """Return the report, line by line, the verdict last."""
        left_out = {
            kind: f"{kind}: {count} resources left out; pricing model {self.version} does not "
            "price them"
            for kind, count in self.unpriced.items()
        }
        if self.reconciled:
            left_out[RECONCILED] = (
                f"{RECONCILED}: {self.reconciled} resources left out; only reconciliation knows "
                "their size"
            )
        lines = [difference.line() for difference in self.differences]
        lines += [text for _, text in sorted(left_out.items())]
        if self.skipped:
            lines.append(
                f"{self.skipped} rated records left out; they name another cloud or platform"
            )
        if self.faults:
            lines.append(f"the month ran with the fault switches {', '.join(self.faults)}")
        if self.matches:
            lines.append(f"the export matches the oracle over {self.compared} resources")
        else:
            lines.append(
                f"{len(self.differences)} of {self.compared} resources differ from the oracle"
            )
        return lines


def compare(oracle: Oracle, export: Path, model: PricingModel) -> Comparison:
    """Hold ``rated.csv`` in the directory `export` against `oracle`.

    Args:
        oracle: the month as it was lived.
        export: a directory the engine exported to.
        model: the pricing model the engine rated with.

    Raises:
        RatedError: the file cannot be read.
        GateError: the export bills another cloud, period or pricing model.
    """
    rows = rated.read(export / "rated.csv")
    kept = [row for row in rows if row.platform == PLATFORM and row.cloud == oracle.cloud]
    metrics = _metrics(model)
    _check_gates(oracle, kept, model, metrics)
    booked = _group(kept, metrics)
    compared = reconciled = 0
    unpriced: dict[str, int] = {}
    differences = []
    for resource in oracle.resources:
        key = resource.resource_type, resource.resource_id
        found = booked.pop(key, None)
        if resource.resource_type not in metrics:
            unpriced[resource.resource_type] = unpriced.get(resource.resource_type, 0) + 1
        elif resource.resource_type == RECONCILED:
            reconciled += 1
        else:
            compared += 1
            details = _details(resource, found, metrics[resource.resource_type])
            if details:
                differences.append(_difference(key, details, canonical(resource.faults)))
    for key, found in booked.items():
        compared += 1
        start, end = found.bounds
        what = _Detail(
            "unexpected",
            start,
            end,
            None,
            spell_bounds(start, end),
            "the export bills it and the oracle does not know it",
        )
        differences.append(_difference(key, [what], ()))
    differences.sort(key=lambda difference: (difference.resource_type, difference.resource_id))
    return Comparison(
        version=model.version,
        compared=compared,
        differences=tuple(differences),
        unpriced=dict(sorted(unpriced.items())),
        reconciled=reconciled,
        skipped=len(rows) - len(kept),
        faults=canonical(oracle.faults),
    )


def expected_quantity(metric: str, interval: Interval) -> Decimal:
    """Return what a time gauge measures over an interval, at four places.

    ``count`` is 1, ``minutes`` the interval's length; every other metric is the size's member of
    that name, and 0 where the size has none or a text.
    """
    if metric == "count":
        value = Decimal(1)
    elif metric == "minutes":
        value = _EXACT.divide(Decimal(interval.end - interval.start), Decimal(60))
    else:
        member = interval.size.get(metric)
        numeric = isinstance(member, int | Decimal) and not isinstance(member, bool)
        value = Decimal(member) if numeric and member is not None else Decimal(0)
    return value.quantize(_PLACES, context=_EXACT)


@dataclass(slots=True)
class _Booking:
    """One interval of the export: its first row's state and project, a cell per time gauge."""

    start: Instant
    end: Instant
    state: str
    project_id: str
    cells: dict[str, Decimal]


class _Booked:
    """A resource of the export."""

    def __init__(self) -> None:
        self._intervals: dict[tuple[Instant, Instant], _Booking] = {}
        self._rated: set[tuple[Instant, Instant, str]] = set()
        self.conflict: RatedRow | None = None
        self.duplicate: RatedRow | None = None

    def add(self, row: RatedRow, metrics: Sequence[str]) -> None:
        bounds = row.start, row.end
        interval = self._intervals.setdefault(
            bounds, _Booking(row.start, row.end, row.state, row.project_id, {})
        )
        if (row.state, row.project_id) != (interval.state, interval.project_id):
            self.conflict = self.conflict or row
        if (*bounds, row.dimension) in self._rated:
            self.duplicate = self.duplicate or row
        self._rated.add((*bounds, row.dimension))
        if row.dimension in metrics:
            interval.cells.setdefault(row.dimension, row.quantity)

    @property
    def intervals(self) -> list[_Booking]:
        return sorted(self._intervals.values(), key=lambda interval: interval.start)

    @property
    def bounds(self) -> tuple[Instant, Instant]:
        return min(a for a, _ in self._intervals), max(b for _, b in self._intervals)


@dataclass(frozen=True, slots=True)
class _Detail:
    word: str
    start: Instant
    end: Instant
    expected: str | None
    actual: str | None
    text: str


def _metrics(model: PricingModel) -> dict[str, tuple[str, ...]]:
    """Return resource type to its time gauges, in the model's order."""
    return {
        resource_type: tuple(
            dimension.metric for dimension in tariff.dimensions if dimension.kind is Kind.TIME_GAUGE
        )
        for (platform, resource_type), tariff in model.tariffs.items()
        if platform == PLATFORM
    }


def _check_gates(
    oracle: Oracle,
    kept: Sequence[RatedRow],
    model: PricingModel,
    metrics: Mapping[str, Sequence[str]],
) -> None:
    if not kept:
        raise GateError(
            f"nothing in rated.csv is of cloud {oracle.cloud} and platform {PLATFORM}; export a "
            "run that billed this month"
        )
    month = oracle.start, oracle.end
    for row in kept:
        if (row.period_start, row.period_end) != month:
            raise GateError(
                f"rated.csv is of the period {spell_bounds(row.period_start, row.period_end)}, the "
                f"oracle of {spell_bounds(*month)}"
            )
    rated_by: dict[str, set[str]] = {}
    for row in kept:
        tariff = model.tariff(PLATFORM, row.resource_type)
        if tariff is None or row.dimension not in {d.metric for d in tariff.dimensions}:
            raise GateError(
                f"rated.csv rates {row.resource_type} by {row.dimension}, for which pricing model "
                f"{model.version} has no price; name the model of that run with --pricing"
            )
        rated_by.setdefault(row.resource_type, set()).add(row.dimension)
    for resource_type, dimensions in sorted(rated_by.items()):
        for metric in metrics[resource_type]:
            if metric not in dimensions:
                raise GateError(
                    f"pricing model {model.version} has a price for {metric} of {resource_type} "
                    "and rated.csv no row of it; name the model of that run with --pricing"
                )


def _group(
    rows: Iterable[RatedRow], metrics: Mapping[str, Sequence[str]]
) -> dict[tuple[str, str], _Booked]:
    booked: dict[tuple[str, str], _Booked] = {}
    for row in rows:
        key = row.resource_type, row.resource_id
        booked.setdefault(key, _Booked()).add(row, metrics[row.resource_type])
    return booked


def _difference(
    key: tuple[str, str], details: Sequence[_Detail], touched_by: tuple[str, ...]
) -> Difference:
    first = details[0]
    return Difference(
        *key,
        word=first.word,
        start=first.start,
        end=first.end,
        expected=first.expected,
        actual=first.actual,
        detail=first.text,
        more=len(details) - 1,
        touched_by=touched_by,
    )


def _details(resource: Resource, found: _Booked | None, metrics: Sequence[str]) -> list[_Detail]:
    """Say how the export of one resource departs from the oracle; nothing when it does not."""
    if found is None:
        start, end = resource.intervals[0].start, resource.intervals[-1].end
        return [
            _Detail(
                "lost", start, end, spell_bounds(start, end), None, "the export does not bill it"
            )
        ]
    repeated = _repeated(found)
    if repeated:
        return [repeated]
    wanted = [
        _Booking(
            interval.start,
            interval.end,
            interval.state,
            interval.project_id,
            {metric: expected_quantity(metric, interval) for metric in metrics},
        )
        for interval in resource.intervals
    ]
    actual = found.intervals
    if wanted == actual:
        return []
    return [
        detail
        for index in range(max(len(wanted), len(actual)))
        for detail in _interval_details(
            wanted[index] if index < len(wanted) else None,
            actual[index] if index < len(actual) else None,
            metrics,
        )
    ]


def _repeated(found: _Booked) -> _Detail | None:
    row = found.conflict or found.duplicate
    if row is None:
        return None
    over = spell_bounds(row.start, row.end)
    if found.conflict is not None:
        text = f"{over} is booked under two states or projects"
        stated = f"{row.state} in {row.project_id}"
    else:
        text = f"{over} is rated twice by {row.dimension}"
        stated = f"{row.dimension} {row.quantity}"
    return _Detail("duplicated", row.start, row.end, None, stated, text)


def _interval_details(
    wanted: _Booking | None, actual: _Booking | None, metrics: Sequence[str]
) -> Iterable[_Detail]:
    """Compare the intervals that stand at one index; at least one of them is there."""
    if actual is None:
        assert wanted is not None  # noqa: S101 - the longer list has it
        over = spell_bounds(wanted.start, wanted.end)
        yield _Detail("lost", wanted.start, wanted.end, over, None, f"{over} is not billed")
        return
    over = spell_bounds(actual.start, actual.end)
    if wanted is None:
        yield _Detail(
            "unexpected",
            actual.start,
            actual.end,
            None,
            over,
            f"{over} is billed and the oracle holds no such interval",
        )
        return
    bounds = wanted.start, wanted.end
    if (actual.start, actual.end) != bounds:
        expected = spell_bounds(*bounds)
        yield _Detail(
            "wrong-interval",
            *bounds,
            expected,
            over,
            f"{over} is billed where the oracle holds {expected}",
        )
        return
    if actual.state != wanted.state:
        yield _Detail(
            "wrong-state",
            *bounds,
            wanted.state,
            actual.state,
            f'{over} is billed in state "{actual.state}", lived in "{wanted.state}"',
        )
    if actual.project_id != wanted.project_id:
        yield _Detail(
            "wrong-project",
            *bounds,
            wanted.project_id,
            actual.project_id,
            f"{over} is billed to project {actual.project_id}, lived in {wanted.project_id}",
        )
    for metric in metrics:
        expects, cell = wanted.cells[metric], actual.cells.get(metric)
        if cell is None:
            text = f"{over} is not rated by {metric}"
            yield _Detail("wrong-quantity", *bounds, _four(expects), None, text)
        elif cell != expects:
            yield _Detail(
                "wrong-quantity",
                *bounds,
                _four(expects),
                _four(cell),
                f"{over} is billed with {metric} {_four(cell)}, lived with {_four(expects)}",
            )


def _four(value: Decimal) -> str:
    return format(value.quantize(_PLACES, context=_EXACT), "f")


__all__ = ["Comparison", "Difference", "GateError", "compare", "expected_quantity", "spell"]
