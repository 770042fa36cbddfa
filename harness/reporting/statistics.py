"""Counting resources and events in groups."""

from __future__ import annotations

from typing import Any

import sqlalchemy

from harness.reporting import scope
from harness.reporting.access import Caller
from harness.reporting.contract import (
    EVENT_GROUPS,
    RESOURCE_GROUPS,
    EventStatisticsQuery,
    ResourceStatisticsQuery,
)
from harness.reporting.instant import DAY, HOUR, rfc3339
from harness.reporting.problem import Problem, contract
from harness.reporting.reading import between, of_status
from harness.reporting.schema import CURRENT_RESOURCES, EVENTS

MOST_ROWS = 10_000
LONGEST_WINDOW = 400 * DAY

_WIDTHS = {"1h": HOUR, "1d": DAY}


def resources(
    connection: sqlalchemy.Connection, caller: Caller, wanted: ResourceStatisticsQuery
) -> dict[str, Any]:
    """Count resources: ``{"items": [{cloud, resource_type, …, count}]}``."""
    if wanted.at is not None:
        raise Problem("not_implemented", "counting as of an instant is not built; leave out at")
    names = _grouping(wanted.group_by, RESOURCE_GROUPS)
    table = CURRENT_RESOURCES
    columns = [table.c[name] for name in names]
    query = (
        sqlalchemy.select(*columns, sqlalchemy.func.count().label("count"))
        .where(scope.visible(caller, table.c.cloud, table.c.project_id), *of_status(wanted.status))
        .group_by(*columns)
        .order_by(*columns)
        .limit(MOST_ROWS + 1)
    )
    return {"items": [dict(row) for row in _rows(connection, query)]}


def events(
    connection: sqlalchemy.Connection, caller: Caller, wanted: EventStatisticsQuery
) -> dict[str, Any]:
    """Count events in buckets: ``{"items": [{bucket, cloud, event_type, …, count}]}``."""
    names = _grouping(wanted.group_by, EVENT_GROUPS)
    if wanted.to - wanted.from_ > LONGEST_WINDOW:
        raise _too_large()
    width = _WIDTHS[wanted.interval]
    timestamp = EVENTS.c.timestamp
    # Before 1970 the remainder is negative in both databases; the second one makes it whole.
    into = (timestamp % width + width) % width
    bucket = (timestamp - into).label("bucket")
    columns = [EVENTS.c[name] for name in names]
    query = (
        sqlalchemy.select(bucket, *columns, sqlalchemy.func.count().label("count"))
        .where(
            scope.visible(caller, EVENTS.c.cloud, EVENTS.c.project_id),
            *between(timestamp, wanted.from_, wanted.to),
        )
        .group_by(bucket, *columns)
        .order_by(bucket, *columns)
        .limit(MOST_ROWS + 1)
    )
    items = []
    for row in _rows(connection, query):
        item = dict(row)
        item["bucket"] = rfc3339(item["bucket"])
        items.append(item)
    return {"items": items}


def _rows(connection: sqlalchemy.Connection, query: sqlalchemy.Select[Any]) -> Any:
    rows = connection.execute(query).mappings().all()
    if len(rows) > MOST_ROWS:
        raise _too_large()
    return rows


def _too_large() -> Problem:
    return Problem(
        "result_too_large",
        "this would group into more rows than statistics answer in one piece; "
        "shorten the window or take longer buckets",
    )


def _grouping(text: str, names: tuple[str, ...]) -> list[str]:
    """Return the named members in the order they are answered."""
    named = text.split(",")
    if not set(names[:2]) <= set(named) <= set(names) or len(set(named)) < len(named):
        message = (
            f"has to name {' and '.join(names[:2])}, and may name {', '.join(names[2:])}, once each"
        )
        raise contract(("query.group_by", message))
    return [name for name in names if name in named]
