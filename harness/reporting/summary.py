"""What one project had in a window: resources, their beginnings and ends, and their minutes."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby
from typing import Any

import sqlalchemy

from harness.reporting import registry
from harness.reporting.access import Caller
from harness.reporting.contract import SummaryQuery
from harness.reporting.instant import MINUTE
from harness.reporting.problem import Problem
from harness.reporting.reading import as_timeline
from harness.reporting.schema import CURRENT_RESOURCES, EVENTS
from harness.timeline import Category, category, fold

MOST_EVENTS = 200_000


@dataclass(slots=True)
class _Type:
    active_now: int = 0
    created: int = 0
    deleted: int = 0
    lived: int = 0


def summary(
    connection: sqlalchemy.Connection, caller: Caller, project_id: str, wanted: SummaryQuery
) -> dict[str, Any]:
    """Sum a project up over ``[from, to)``.

    `created` and `deleted` count resources of the project with such an event in the window,
    `total_minutes` is what its intervals share with the window, at four places.

    Raises:
        Problem: 403 where the caller's token does not list it, 404, 422 where it takes too much.
    """
    if caller.projects is not None and project_id not in caller.project_ids:
        raise Problem("forbidden", "the token does not list this project")
    project = registry.find(connection, project_id)
    types: dict[str, _Type] = {}
    for resource_type, count in _active(connection, project):
        types.setdefault(resource_type, _Type()).active_now = count
    for (resource_type, _), history in groupby(
        _events(connection, project), key=lambda row: (row.resource_type, row.resource_id)
    ):
        _add(types.setdefault(resource_type, _Type()), list(history), project, wanted)
    return {
        "project": {
            "id": project.id,
            "cloud": project.cloud,
            "external_id": project.external_id,
        },
        "resource_types": [
            {
                "resource_type": name,
                "active_now": each.active_now,
                "created": each.created,
                "deleted": each.deleted,
                "total_minutes": (Decimal(each.lived) / MINUTE).quantize(
                    Decimal("0.0001"), ROUND_HALF_UP
                ),
            }
            for name, each in sorted(types.items())
        ],
    }


def _add(into: _Type, history: list[Any], project: Any, wanted: SummaryQuery) -> None:
    kinds = {
        category(row.event_type)
        for row in history
        if row.project_id == project.external_id and wanted.from_ <= row.timestamp < wanted.to
    }
    into.created += Category.CREATE in kinds
    into.deleted += Category.DELETE in kinds
    for interval in fold(as_timeline(row) for row in history).intervals:
        if interval.project_id == project.external_id:
            end = wanted.to if interval.end is None else min(interval.end, wanted.to)
            into.lived += max(0, end - max(interval.start, wanted.from_))


def _active(connection: sqlalchemy.Connection, project: Any) -> Any:
    table = CURRENT_RESOURCES
    return connection.execute(
        sqlalchemy.select(table.c.resource_type, sqlalchemy.func.count())
        .where(
            table.c.cloud == project.cloud,
            table.c.project_id == project.external_id,
            table.c.deleted_at.is_(None),
        )
        .group_by(table.c.resource_type)
    )


def _events(connection: sqlalchemy.Connection, project: Any) -> list[Any]:
    """Return every event of every resource the project ever had, resource by resource."""
    theirs = sqlalchemy.select(EVENTS.c.resource_type, EVENTS.c.resource_id).where(
        EVENTS.c.cloud == project.cloud, EVENTS.c.project_id == project.external_id
    )
    mine = theirs.distinct().subquery()
    rows = connection.execute(
        sqlalchemy.select(EVENTS)
        .join(
            mine,
            sqlalchemy.and_(
                EVENTS.c.cloud == project.cloud,
                EVENTS.c.resource_type == mine.c.resource_type,
                EVENTS.c.resource_id == mine.c.resource_id,
            ),
        )
        .order_by(EVENTS.c.resource_type, EVENTS.c.resource_id)
        .limit(MOST_EVENTS + 1)
    ).all()
    if len(rows) > MOST_EVENTS:
        raise Problem(
            "result_too_large",
            f"the project's resources have more than {MOST_EVENTS} events, too many to sum up",
        )
    return list(rows)
