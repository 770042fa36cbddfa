"""Imported pricing models and which of them is valid for a period."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import sqlalchemy as sa

from harness.calendar import Period
from harness.engine.errors import PricingRefused
from harness.engine.instant import bounds, now, spell
from harness.engine.schema import pricing_models
from harness.pricing import PricingModel, parse


@dataclass(frozen=True, slots=True)
class Imported:
    """A line of the list of pricing models; instants in microseconds."""

    version: str
    valid_from: int
    currency: str
    imported_at: int

    def __str__(self) -> str:
        return (
            f"{self.version} valid_from={spell(self.valid_from)} currency={self.currency} "
            f"imported_at={spell(self.imported_at)}"
        )


def store(connection: sa.Connection, model: PricingModel) -> bool:
    """Import a model; return False when the very same one is there already.

    Raises:
        PricingRefused: the version prices something else already, or another one starts at the
            same instant.
    """
    columns = pricing_models.c
    document = msgspec.json.encode(model.document()).decode()
    known = connection.execute(
        sa.select(columns.document).where(columns.version == model.version)
    ).scalar()
    if known is not None:
        if parse(msgspec.json.decode(known), model.version) == model:
            return False
        raise PricingRefused(
            f"pricing model {model.version} is imported with other prices; "
            "publish changed prices under a new version"
        )
    other = connection.execute(
        sa.select(columns.version).where(columns.valid_from == model.valid_from)
    ).scalar()
    if other is not None:
        raise PricingRefused(
            f"pricing model {model.version}: valid_from {spell(model.valid_from)} is taken by "
            f"version {other}; start at another instant"
        )
    connection.execute(
        sa.insert(pricing_models).values(
            version=model.version,
            valid_from=model.valid_from,
            currency=model.currency,
            document=document,
            imported_at=now(),
        )
    )
    return True


def valid_for(connection: sa.Connection, period: Period) -> PricingModel:
    """Return the newest model valid at the start of a period.

    Raises:
        PricingRefused: there is none.
    """
    start = bounds(period)[0]
    columns = pricing_models.c
    row = connection.execute(
        sa.select(columns.version, columns.document)
        .where(columns.valid_from <= start)
        .order_by(columns.valid_from.desc())
        .limit(1)
    ).one_or_none()
    if row is None:
        raise PricingRefused(
            f"no imported pricing model is valid at {spell(start)}, when {period} begins; "
            "import one with: tally-harness engine pricing import FILE"
        )
    return parse(msgspec.json.decode(row.document), row.version)


def version(connection: sa.Connection, name: str) -> PricingModel:
    """Return an imported version a run rated with."""
    document = connection.execute(
        sa.select(pricing_models.c.document).where(pricing_models.c.version == name)
    ).scalar_one()
    return parse(msgspec.json.decode(document), name)


def imported(connection: sa.Connection) -> list[Imported]:
    """Return the imported models, oldest validity first."""
    columns = pricing_models.c
    query = sa.select(
        columns.version, columns.valid_from, columns.currency, columns.imported_at
    ).order_by(columns.valid_from)
    return [Imported(*row) for row in connection.execute(query)]
