"""Rating: usage records to money. Reads no events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from harness.engine import number
from harness.engine.record import RatedRecord, UsageRecord
from harness.pricing import Kind, PricingModel, Tariff

_ONE = Decimal("1.0000")


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
            for metric, quantity, amount in prices.of(record):
                if quantity is None:
                    self.unreadable[(*key, metric)] += 1
                    rated.append(RatedRecord(record, metric, number.ZERO, amount))
                else:
                    rated.append(RatedRecord(record, metric, quantity, amount))
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


class _Prices:
    """A tariff, prepared for many records."""

    def __init__(self, tariff: Tariff) -> None:
        self._dimensions = sorted(
            (dimension.metric, dimension.kind is Kind.TIME_GAUGE, dimension.price)
            for dimension in tariff.dimensions
        )
        self._states = {
            state: number.to_four(factor) for state, factor in tariff.state_modifiers.items()
        }
        self._types = tariff.type_modifiers

    def of(self, record: UsageRecord) -> Iterator[tuple[str, Decimal | None, Decimal]]:
        """Yield metric, quantity (None: unreadable) and amount of every dimension."""
        usage = record.usage
        factor = number.multiply(number.hours(usage["minutes"]), self.state_modifier(record.state))
        if self._types:
            kind = usage.get("type")
            if isinstance(kind, str):
                factor = number.multiply(factor, self._types.get(kind, _ONE))
        for metric, timed, price in self._dimensions:
            value = usage.get(metric)
            quantity = number.ZERO if value is None else number.quantity(value)
            worth = number.multiply(quantity or number.ZERO, price)
            yield (
                metric,
                quantity,
                number.to_cents(number.multiply(factor, worth) if timed else worth),
            )

    def state_modifier(self, state: str) -> Decimal:
        """Return the factor of a state, at four places."""
        return self._states.get(state, _ONE)
