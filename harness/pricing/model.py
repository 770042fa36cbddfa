"""The nouns of a pricing model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any


class Kind(Enum):
    """How a dimension is rated."""

    TIME_GAUGE = "time_gauge"
    """Price for a unit held over an hour."""
    COUNTER = "counter"
    """Price for a unit consumed; no modifier applies."""

    @property
    def price_member(self) -> str:
        """Name of the member a dimension of this kind states its price in."""
        return "price_per_unit_hour" if self is Kind.TIME_GAUGE else "price_per_unit"


@dataclass(frozen=True, slots=True)
class Dimension:
    """One thing a resource type is rated by.

    Attributes:
        metric: the member of a usage record it reads.
        kind: see `Kind`.
        price: not negative, per unit and hour or per unit.
    """

    metric: str
    kind: Kind
    price: Decimal


@dataclass(frozen=True, slots=True)
class Tariff:
    """The prices of one resource type.

    Attributes:
        dimensions: in the order of the file, each metric once.
        state_modifiers: state to factor; a state that is absent counts 1.
        type_modifiers: usage member ``type`` to factor; one that is absent counts 1.
    """

    dimensions: tuple[Dimension, ...]
    state_modifiers: Mapping[str, Decimal]
    type_modifiers: Mapping[str, Decimal]


@dataclass(frozen=True, slots=True)
class PricingModel:
    """A version of the price list.

    Attributes:
        version: its name.
        valid_from: microseconds since 1970-01-01 UTC.
        currency: three capital letters.
        tariffs: (platform, resource type) to prices, in the order of the file.
    """

    version: str
    valid_from: int
    currency: str
    tariffs: Mapping[tuple[str, str], Tariff]

    def tariff(self, platform: str, resource_type: str) -> Tariff | None:
        """Return the prices of a type, None when the model does not price it."""
        return self.tariffs.get((platform, resource_type))

    def document(self) -> dict[str, Any]:
        """Return the model as plain values, prices as texts; `parse` reads it back.

        Two models that price the same give equal documents, however their files spell a number.
        """
        pricing: dict[str, dict[str, Any]] = {}
        for (platform, resource_type), tariff in self.tariffs.items():
            entry: dict[str, Any] = {
                "dimensions": [
                    {
                        "metric": dimension.metric,
                        "type": dimension.kind.value,
                        dimension.kind.price_member: _plain(dimension.price),
                    }
                    for dimension in tariff.dimensions
                ]
            }
            for member in ("state_modifiers", "type_modifiers"):
                modifiers = getattr(tariff, member)
                if modifiers:
                    entry[member] = {name: _plain(factor) for name, factor in modifiers.items()}
            pricing.setdefault(platform, {})[resource_type] = entry
        return {
            "version": self.version,
            "valid_from": _rfc3339(self.valid_from),
            "currency": self.currency,
            "pricing": pricing,
        }


def _rfc3339(micros: int) -> str:
    """Write microseconds since the epoch as an instant, the fraction only when there is one."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
    return moment.isoformat().replace("+00:00", "Z")


def _plain(number: Decimal) -> str:
    """Spell a number without exponent and without final zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
