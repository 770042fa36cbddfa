"""Rating: usage records to money. Reads no events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from operator import attrgetter
from typing import Any, NamedTuple

from harness.engine import number
from harness.engine.number import multiply, to_cents
from harness.engine.record import RatedRecord, UsageRecord
from harness.pricing import Dimension, Kind, PricingModel, Tariff

_ONE = Decimal("1.0000")
_MOST_KNOWN = 4096


@dataclass(slots=True)
class Rater:
    """Rates usage records with one pricing model and remembers what it could not price.

    Attributes:
        model: the prices.
        unpriced: (platform, resource type) to resources the model has no prices for.
        unreadable: (platform, resource type, metric) to usage members that are no number.
    """

    model: PricingModel
    unpriced: Counter[tuple[str, str]] = field(default_factory=Counter)
    unreadable: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    _prices: dict[tuple[str, str], _Prices | None] = field(default_factory=dict)

    def rate(self, records: Sequence[UsageRecord]) -> list[RatedRecord]:
        """Rate the usage records of one resource, by record, then dimension in byte order."""
        if not records:
            return []
        resource = records[0].resource
        key = (resource.platform, resource.resource_type)
        prices = self._of(key)
        if prices is None:
            self.unpriced[key] += 1
            return []
        rated: list[RatedRecord] = []
        for record in records:
            usage = record.usage
            factor = prices.factor(record.state, usage)
            for rate in prices.rates:
                value = usage.get(rate.metric)
                worth = rate.known.get(value) if value is None or value.__class__ is int else None
                if worth is None:
                    worth = rate.worth(value)
                quantity, amount, readable = worth
                if not readable:
                    self.unreadable[(*key, rate.metric)] += 1
                amount = to_cents(multiply(factor, amount) if rate.timed else amount)
                rated.append(RatedRecord(record, rate.metric, quantity, amount))
        return rated

    def state_modifier(self, platform: str, resource_type: str, state: str) -> Decimal:
        """Return the factor of a state, at four places; one the model does not name counts 1."""
        prices = self._of((platform, resource_type))
        return _ONE if prices is None else prices.state_modifier(state)

    def _of(self, key: tuple[str, str]) -> _Prices | None:
        if key not in self._prices:
            tariff = self.model.tariff(*key)
            self._prices[key] = None if tariff is None else _Prices(tariff)
        return self._prices[key]


class _Worth(NamedTuple):
    """A usage member, read and priced, before time and modifiers."""

    quantity: Decimal
    amount: Decimal
    readable: bool


class _Rate:
    """A dimension, prepared for many records.

    Attributes:
        metric: the usage member it reads.
        timed: whether its price is per hour.
        known: what whole numbers and absent members are worth; sizes are few and records many.
    """

    __slots__ = ("_price", "known", "metric", "timed")

    def __init__(self, dimension: Dimension) -> None:
        self.metric = dimension.metric
        self.timed = dimension.kind is Kind.TIME_GAUGE
        self.known: dict[int | None, _Worth] = {}
        self._price = dimension.price

    def worth(self, value: Any) -> _Worth:
        """Read a usage member; one that is absent or unreadable counts zero."""
        quantity = number.ZERO if value is None else number.quantity(value)
        readable = quantity is not None
        quantity = quantity or number.ZERO
        worth = _Worth(quantity, multiply(quantity, self._price), readable)
        if (value is None or value.__class__ is int) and len(self.known) < _MOST_KNOWN:
            self.known[value] = worth
        return worth


class _Prices:
    """A tariff, prepared for many records.

    Attributes:
        rates: by metric in byte order.
    """

    def __init__(self, tariff: Tariff) -> None:
        self.rates = sorted(map(_Rate, tariff.dimensions), key=attrgetter("metric"))
        self._states = {
            state: number.to_four(factor) for state, factor in tariff.state_modifiers.items()
        }
        self._types = tariff.type_modifiers

    def factor(self, state: str, usage: Mapping[str, Any]) -> Decimal:
        """Return what a unit's price per hour is multiplied by: hours and modifiers."""
        factor = number.hours(usage["minutes"])
        if state in self._states:
            factor = multiply(factor, self._states[state])
        if self._types:
            kind = usage.get("type")
            if isinstance(kind, str) and kind in self._types:
                factor = multiply(factor, self._types[kind])
        return factor

    def state_modifier(self, state: str) -> Decimal:
        """Return the factor of a state, at four places."""
        return self._states.get(state, _ONE)
