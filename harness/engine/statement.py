"""Statements and credit notes: the documents of a run, one per project that pays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import quote

from harness.calendar import Period
from harness.engine import number
from harness.engine.attribution import Attribution, Owner
from harness.engine.instant import bounds, spell

#: What a path segment may hold as it stands, besides letters, digits and ``-._~``.
_SEGMENT = "$&+=:@"


def escape(text: str) -> str:
    """Escape a text as one segment of a path."""
    return quote(text, safe=_SEGMENT)


def key(cloud: str, project_id: str) -> str:
    """Return the key of a project's statement, unique in a run."""
    return f"{escape(cloud)}/{escape(project_id)}"


class Group(NamedTuple):
    """What one statement gathers.

    Attributes:
        payer: the project it is addressed to.
        own: whether the payer has records of its own.
        related: (relation type, project) whose cost it takes, by cloud and project id.
    """

    payer: Owner
    own: bool
    related: list[tuple[str, Owner]]


class Statement(NamedTuple):
    """A finished document.

    Attributes:
        key: see `key`.
        payer: the project it is addressed to.
        total: two places.
        document: members in the order they are written.
    """

    key: str
    payer: Owner
    total: Decimal
    document: dict[str, Any]


#: Returns the line items of one project's records.
Lines = Callable[[Owner], list[dict[str, Any]]]


def gather(owners: Iterable[Owner], attribution: Attribution) -> list[Group]:
    """Return the groups of owners, ordered by the key of the statement."""
    groups: dict[tuple[str, str], Group] = {}
    for owner in owners:
        claim = attribution.claims.get((owner.cloud, owner.project_id))
        payer = owner if claim is None else claim[0]
        place = (payer.cloud, payer.project_id)
        group = groups.get(place) or Group(payer, own=False, related=[])
        if claim is None:
            group = group._replace(own=True)
        else:
            group.related.append((claim[1], owner))
        groups[place] = group
    for group in groups.values():
        group.related.sort(key=lambda entry: (entry[1].cloud, entry[1].project_id))
    return sorted(groups.values(), key=lambda group: key(group.payer.cloud, group.payer.project_id))


def statements(
    groups: Iterable[Group],
    lines: Lines,
    *,
    period: Period,
    currency: str,
    corrects_run_id: str | None = None,
) -> Iterator[Statement]:
    """Yield the documents of groups, one in memory at a time.

    Args:
        groups: who pays for whom.
        lines: gives a project's line items, each with its ``total``.
        period: the billing period.
        currency: of the amounts.
        corrects_run_id: for credit notes, the run they correct.
    """
    start, end = bounds(period)
    for group in groups:
        payer = group.payer
        items = lines(payer) if group.own else []
        related = []
        for relation_type, owner in group.related:
            entries = lines(owner)
            related.append(
                {
                    "relation_type": relation_type,
                    "project_id": owner.project_id,
                    "platform": owner.platform,
                    "line_items": entries,
                    "total": _sum(entries),
                }
            )
        total = _sum([*items, *related])
        document: dict[str, Any] = {
            "billing_period": {"from": spell(start), "to": spell(end)},
            "project_id": payer.project_id,
            "platform": payer.platform,
        }
        if corrects_run_id is not None:
            document["corrects_run_id"] = corrects_run_id
        document |= {
            "line_items": items,
            "related_costs": related,
            "total": total,
            "currency": currency,
        }
        yield Statement(key(payer.cloud, payer.project_id), payer, total, document)


class Booked(NamedTuple):
    """A rated record with what a statement shows of its usage record."""

    platform: str
    resource_type: str
    resource_id: str
    state: str
    start: int
    end: int
    minutes: Decimal
    usage: dict[str, Any]
    dimension: str
    quantity: Decimal
    amount: Decimal
    state_modifier: Decimal


def line_items(rows: Iterable[Booked]) -> list[dict[str, Any]]:
    """Return the line items of a statement.

    Args:
        rows: of one project, ordered by platform, type, id, start, dimension.
    """
    items = []
    for (platform, resource_type, resource_id), resource in groupby(rows, key=lambda row: row[:3]):
        periods = []
        totals: list[Decimal] = []
        usage: dict[str, Any] = {}
        for _, interval in groupby(resource, key=lambda row: (row.start, row.end)):
            cells = list(interval)
            usage = cells[0].usage
            spent = number.total([cell.amount for cell in cells])
            cost = {cell.dimension: cell.amount for cell in cells} | {"total": spent}
            totals.append(spent)
            periods.append(
                {
                    "state": cells[0].state,
                    "hours": number.to_cents(number.hours(cells[0].minutes)),
                    "usage": {cell.dimension: cell.quantity for cell in cells},
                    "cost": dict(sorted(cost.items())),
                    "state_modifier": cells[0].state_modifier,
                }
            )
        items.append(
            {
                "resource_type": resource_type,
                "resource_id": resource_id,
                "platform": platform,
                "description": description(usage, resource_type, resource_id),
                "periods": periods,
                "total": number.total(totals),
            }
        )
    return items


def description(usage: dict[str, Any], resource_type: str, resource_id: str) -> str:
    """Name a resource by what its last usage record says it is."""
    for member in ("flavor", "type"):
        word = usage.get(member)
        if isinstance(word, str) and word:
            return f"{word} {resource_type}"
    return f"{resource_type} {resource_id}"


class Delta(NamedTuple):
    """What a correction changes for one dimension of one resource and project.

    Attributes:
        cloud: part of the key, as are the next five.
        platform: kind of system.
        resource_type: type of the resource.
        resource_id: its id.
        project_id: the owning tenant.
        dimension: the metric.
        old: sum of the baseline, two places.
        new: sum of the correction, two places.
        delta: new less old.
        currency: of the three.
    """

    cloud: str
    platform: str
    resource_type: str
    resource_id: str
    project_id: str
    dimension: str
    old: Decimal
    new: Decimal
    delta: Decimal
    currency: str


def credit_items(deltas: Iterable[Delta]) -> list[dict[str, Any]]:
    """Return the line items of a credit note.

    Args:
        deltas: of one project, ordered by platform, type, id, dimension.
    """
    items = []
    for (platform, resource_type, resource_id), group in groupby(deltas, key=lambda row: row[1:4]):
        rows = list(group)
        items.append(
            {
                "resource_type": resource_type,
                "resource_id": resource_id,
                "platform": platform,
                "dimensions": {
                    row.dimension: {"old": row.old, "new": row.new, "delta": row.delta}
                    for row in rows
                },
                "total": number.total([row.delta for row in rows]),
            }
        )
    return items


def _sum(entries: Iterable[dict[str, Any]]) -> Decimal:
    return number.total([entry["total"] for entry in entries])
