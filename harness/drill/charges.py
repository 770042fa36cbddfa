"""What an export charges, worked out a second time from the oracle and the price list.

`harness.oracle.compare` leaves counters and amounts alone, because an installed engine may measure
traffic in windows. A drill that handed the engine the month's own traffic knows every quantity to
the byte and every amount to the cent, and holds the export to them. The arithmetic is written
here again on purpose: none of the engine's is used.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from pathlib import Path

from harness.calendar import rfc3339
from harness.oracle.compare import PLATFORM, RECONCILED, Comparison, Difference, expected_quantity
from harness.oracle.model import Interval, Oracle, Resource
from harness.oracle.rated import RatedError
from harness.pricing import Kind, PricingModel

#: The usage member the month's outgoing traffic becomes.
EGRESS = "egress_gb"

#: What an export calls a run that bills a period, and one that corrects a closed one.
REGULAR, CORRECTION = "regular", "correction"

_CONTEXT = Context(prec=100, rounding=ROUND_HALF_UP)
_CENT, _FOUR, _HOURS = Decimal("0.01"), Decimal("0.0001"), Decimal(1).scaleb(-28)
_GIB = Decimal(2**30)

Cell = tuple[Decimal, Decimal]


def check_charges(
    comparison: Comparison,
    oracle: Oracle,
    export: Path,
    model: PricingModel,
    run_kind: str = REGULAR,
) -> Comparison:
    """Add what is charged wrongly to a comparison; resources that differ already stay as they are.

    Args:
        comparison: what `harness.oracle.compare` came to.
        oracle: the month as it was lived.
        export: directory with ``rated.csv``, of an engine that read the month's own traffic.
        model: the prices it was rated by.
        run_kind: of which kind every row's run has to be, `REGULAR` or `CORRECTION`.
    """
    known = {(found.resource_type, found.resource_id) for found in comparison.differences}
    traffic = {(row.resource_id, row.start, row.end): row.egress_bytes for row in oracle.traffic}
    charged = _read(export / "rated.csv", oracle.cloud)
    foreign = _foreign(
        export / "rated.csv",
        {
            "cloud": oracle.cloud,
            "platform": PLATFORM,
            "currency": model.currency,
            "kind": run_kind,
            "period_from": rfc3339(oracle.start),
            "period_to": rfc3339(oracle.end),
        },
        oracle,
        known,
    )
    known |= foreign.keys()
    further = [
        difference
        for resource in oracle.resources
        if (resource.resource_type, resource.resource_id) not in known
        for difference in _of(resource, model, traffic, charged)
    ]
    found = sorted(
        (*comparison.differences, *foreign.values(), *further),
        key=lambda one: (one.resource_type, one.resource_id),
    )
    return replace(comparison, differences=tuple(found))


def _foreign(
    path: Path, expected: Mapping[str, str], oracle: Oracle, known: Collection[tuple[str, str]]
) -> dict[tuple[str, str], Difference]:
    """Return the first row that is not as all have to be of each resource not known to differ."""
    found: dict[tuple[str, str], Difference] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = row["resource_type"], row["resource_id"]
            for name, wanted in expected.items():
                actual = row.get(name) or ""
                if actual != wanted and key not in found and key not in known:
                    over = f"[{row['from_ts']}, {row['to_ts']})"
                    found[key] = Difference(
                        *key,
                        word="unexpected",
                        start=oracle.start,
                        end=oracle.end,
                        expected=wanted,
                        actual=actual,
                        detail=f'{over} is billed with {name} "{actual}" instead of "{wanted}"',
                        more=0,
                        touched_by=(),
                    )
    return found


def _of(
    resource: Resource,
    model: PricingModel,
    traffic: Mapping[tuple[str, int, int], int],
    charged: Mapping[tuple[str, str, str, str], Cell],
) -> Iterator[Difference]:
    """Yield at most one difference: the first charge that is wrong, with how many follow."""
    tariff = model.tariff(PLATFORM, resource.resource_type)
    if tariff is None or resource.resource_type == RECONCILED:
        return
    wrong: list[Difference] = []
    for interval in resource.intervals:
        for dimension in tariff.dimensions:
            counted = dimension.kind is Kind.COUNTER
            if counted:
                moved = traffic.get((resource.resource_id, interval.start, interval.end), 0)
                quantity = _CONTEXT.quantize(_CONTEXT.divide(Decimal(moved), _GIB), _FOUR)
                factor = Decimal(1)
            else:
                quantity = expected_quantity(dimension.metric, interval)
                factor = _factor(interval, tariff.state_modifiers, tariff.type_modifiers)
            if counted and dimension.metric != EGRESS:
                continue
            amount = _amount(quantity, dimension.price, factor)
            cell = charged.get(
                (
                    resource.resource_id,
                    rfc3339(interval.start),
                    rfc3339(interval.end),
                    dimension.metric,
                )
            )
            wrong += _wrong(resource, interval, dimension.metric, (quantity, amount), cell)
    if wrong:
        yield replace(wrong[0], more=len(wrong) - 1)


def _wrong(
    resource: Resource, interval: Interval, metric: str, expected: Cell, cell: Cell | None
) -> Iterator[Difference]:
    over = f"[{rfc3339(interval.start)}, {rfc3339(interval.end)})"

    def difference(wanted: Decimal, found: Decimal | None, text: str) -> Difference:
        return Difference(
            resource_type=resource.resource_type,
            resource_id=resource.resource_id,
            word="wrong-quantity",
            start=interval.start,
            end=interval.end,
            expected=f"{wanted:f}",
            actual=None if found is None else f"{found:f}",
            detail=text,
            more=0,
            touched_by=resource.faults,
        )

    if cell is None:
        yield difference(expected[0], None, f"{over} is charged nothing for {metric}")
    elif cell[0] != expected[0]:
        text = f"{over} is billed with {metric} {cell[0]:f}, lived with {expected[0]:f}"
        yield difference(expected[0], cell[0], text)
    elif cell[1] != expected[1]:
        text = f"{over} is charged {cell[1]:f} for {metric}, the price list asks {expected[1]:f}"
        yield difference(expected[1], cell[1], text)


def _factor(
    interval: Interval, states: Mapping[str, Decimal], types: Mapping[str, Decimal]
) -> Decimal:
    """Return hours times modifiers: what a quantity and its hourly price are multiplied by."""
    minutes = _CONTEXT.quantize(
        _CONTEXT.divide(Decimal(interval.end - interval.start), Decimal(60)), _FOUR
    )
    hours = _CONTEXT.quantize(_CONTEXT.divide(minutes, Decimal(60)), _HOURS)
    state = _CONTEXT.quantize(states.get(interval.state, Decimal(1)), _FOUR)
    kind = types.get(str(interval.size.get("type", "")), Decimal(1))
    return _CONTEXT.multiply(_CONTEXT.multiply(hours, state), kind)


def _amount(quantity: Decimal, price: Decimal, factor: Decimal) -> Decimal:
    return _CONTEXT.quantize(_CONTEXT.multiply(_CONTEXT.multiply(quantity, price), factor), _CENT)


def _money(path: Path, text: str | None) -> Decimal:
    if text is None:
        raise RatedError(f'{path}: the header lacks the column "amount"')
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite():
        raise RatedError(f'{path}: amount "{text}" is no decimal number')
    return amount


def _read(path: Path, cloud: str) -> dict[tuple[str, str, str, str], Cell]:
    """Return (resource id, from, to, dimension) to quantity and amount, for one cloud."""
    with path.open(encoding="utf-8", newline="") as file:
        return {
            (row["resource_id"], row["from_ts"], row["to_ts"], row["dimension"]): (
                Decimal(row["quantity"]),
                _money(path, row.get("amount")),
            )
            for row in csv.DictReader(file)
            if row["platform"] == PLATFORM and row["cloud"] == cloud
        }
