"""What exports add up to: rows few enough to be read, and to be pinned by a snapshot."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Metered:
    """What a period's export adds up to for a project: the sum over its resources.

    Attributes:
        period: ``YYYY-MM``.
        project_id: whom it is billed to.
        resource_type: type of the resources.
        dimension: what was measured.
        resources: how many there are.
        quantity: sum of the quantities.
        amount: sum of the amounts.
        currency: of the amount.
    """

    period: str
    project_id: str
    resource_type: str
    dimension: str
    resources: int
    quantity: Decimal
    amount: Decimal
    currency: str


def add_up(exports: Mapping[str, Path]) -> tuple[Metered, ...] | None:
    """Add exports up by project, resource type and dimension; None where there are none.

    Args:
        exports: ``YYYY-MM`` to the directory that holds its ``rated.csv``.
    """
    if not exports:
        return None
    rows: list[Metered] = []
    for period, directory in sorted(exports.items()):
        groups: dict[tuple[str, str, str, str], list[dict[str, str]]] = {}
        with (directory / "rated.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                key = row["project_id"], row["resource_type"], row["dimension"], row["currency"]
                groups.setdefault(key, []).append(row)
        for (project, resource_type, dimension, currency), members in sorted(groups.items()):
            rows.append(
                Metered(
                    period=period,
                    project_id=project,
                    resource_type=resource_type,
                    dimension=dimension,
                    resources=len({row["resource_id"] for row in members}),
                    quantity=sum((Decimal(row["quantity"]) for row in members), Decimal()),
                    amount=sum((Decimal(row["amount"]) for row in members), Decimal()),
                    currency=currency,
                )
            )
    return tuple(rows)
