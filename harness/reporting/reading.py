"""Reading events, resources and dead letters."""

from __future__ import annotations

from typing import Any

import sqlalchemy

from harness.reporting import paging, scope, wire
from harness.reporting.access import Caller
from harness.reporting.contract import EventFilter, RejectedFilter, ResourceFilter
from harness.reporting.instant import rfc3339
from harness.reporting.item import state_and_size
from harness.reporting.problem import Problem
from harness.reporting.schema import CURRENT_RESOURCES, EVENTS, REJECTED_EVENTS
from harness.timeline import Event, fold

LONGEST_HISTORY = 10_000

_EVENT = ("event_type", "platform", "cloud", "resource_type", "resource_id", "project_id", "source")
_RESOURCE = ("cloud", "platform", "resource_type", "resource_id", "project_id", "state")


def render_event(row: Any) -> dict[str, Any]:
    """Return a stored event as it is answered."""
    return {
        "event_id": row.event_id,
        "timestamp": rfc3339(row.timestamp),
        **{name: getattr(row, name) for name in _EVENT},
        "payload": wire.raw(row.payload),
        "received_at": rfc3339(row.received_at),
    }


def render_resource(row: Any) -> dict[str, Any]:
    """Return a row of the projection as it is answered."""
    return {
        **{name: getattr(row, name) for name in _RESOURCE},
        "size": wire.raw(row.size),
        "created_at": None if row.created_at is None else rfc3339(row.created_at),
        "deleted_at": None if row.deleted_at is None else rfc3339(row.deleted_at),
        "first_event_at": rfc3339(row.first_event_at),
        "last_event_type": row.last_event_type,
        "last_event_at": rfc3339(row.last_event_at),
        "last_payload": None if row.last_payload is None else wire.raw(row.last_payload),
    }


def render_rejected(row: Any) -> dict[str, Any]:
    """Return a dead letter as it is answered."""
    return {
        "id": row.id,
        "received_at": rfc3339(row.received_at),
        "reason": row.reason,
        "raw": wire.raw(row.raw),
    }


def events(
    connection: sqlalchemy.Connection, caller: Caller, wanted: EventFilter
) -> dict[str, Any]:
    """Return a page of events in the order of (timestamp, event_id)."""
    scope.check_filter(caller, wanted.cloud, wanted.project_id)
    query = sqlalchemy.select(EVENTS).where(
        scope.visible(caller, EVENTS.c.cloud, EVENTS.c.project_id),
        *_equal(
            EVENTS,
            wanted,
            ("cloud", "platform", "project_id", "resource_type", "event_type", "source"),
        ),
        *between(EVENTS.c.timestamp, wanted.from_, wanted.to),
    )
    return paging.page(
        connection,
        query,
        (EVENTS.c.timestamp, EVENTS.c.event_id),
        render_event,
        limit=wanted.limit,
        cursor=wanted.cursor,
    )


def resources(
    connection: sqlalchemy.Connection, caller: Caller, wanted: ResourceFilter
) -> dict[str, Any]:
    """Return a page of resources in the order of their key."""
    scope.check_filter(caller, wanted.cloud, wanted.project_id)
    table = CURRENT_RESOURCES
    query = sqlalchemy.select(table).where(
        scope.visible(caller, table.c.cloud, table.c.project_id),
        *_equal(table, wanted, ("cloud", "platform", "project_id", "resource_type", "state")),
        *of_status(wanted.status),
    )
    return paging.page(
        connection,
        query,
        (table.c.cloud, table.c.resource_type, table.c.resource_id),
        render_resource,
        limit=wanted.limit,
        cursor=wanted.cursor,
    )


def rejected(connection: sqlalchemy.Connection, wanted: RejectedFilter) -> dict[str, Any]:
    """Return a page of dead letters in the order of (received_at, id)."""
    table = REJECTED_EVENTS
    query = sqlalchemy.select(table).where(*between(table.c.received_at, wanted.from_, wanted.to))
    return paging.page(
        connection,
        query,
        (table.c.received_at, table.c.id),
        render_rejected,
        limit=wanted.limit,
        cursor=wanted.cursor,
    )


def history(
    connection: sqlalchemy.Connection, caller: Caller, key: tuple[str, str, str]
) -> dict[str, Any]:
    """Return the events of one resource in the order of the fold, on one page.

    Raises:
        Problem: 404 where the caller sees none, 422 where there are too many.
    """
    shown = [row for row in _history(connection, key) if scope.sees(caller, key[0], row.project_id)]
    if not shown:
        raise _unknown()
    return {"items": [render_event(row) for row in shown], "next_cursor": None}


def lifecycle(
    connection: sqlalchemy.Connection, caller: Caller, key: tuple[str, str, str]
) -> dict[str, Any]:
    """Return one resource: what it is, what happened, and the intervals that make of it.

    Raises:
        Problem: 404 where the caller does not see it, 422 where it has too many events.
    """
    table = CURRENT_RESOURCES
    row = connection.execute(
        sqlalchemy.select(table).where(
            *(table.c[name] == part for name, part in zip(_KEY, key, strict=True))
        )
    ).one_or_none()
    if row is None or not scope.sees(caller, row.cloud, row.project_id):
        raise _unknown()
    stored = _history(connection, key)
    timeline = fold(as_timeline(each) for each in stored)
    return {
        "resource": render_resource(row),
        "events": [
            render_event(each) for each in stored if scope.sees(caller, key[0], each.project_id)
        ],
        "intervals": [
            {
                "from": rfc3339(each.start),
                "to": None if each.end is None else rfc3339(each.end),
                "state": each.state,
                "size": each.size or {},
                "project_id": each.project_id,
            }
            for each in timeline.intervals
            if scope.sees(caller, key[0], each.project_id)
        ],
        "warnings": list(timeline.warnings),
    }


def as_timeline(row: Any) -> Event:
    """Return a stored event as the fold reads it."""
    state, size = state_and_size(row.payload)
    return Event(
        timestamp=row.timestamp,
        received_at=row.received_at,
        event_id=row.event_id,
        event_type=row.event_type,
        state=state,
        size=wire.decode(size) if size else None,
        project_id=row.project_id,
    )


def between(column: sqlalchemy.Column[int], start: int | None, end: int | None) -> list[Any]:
    """Return the conditions of a half-open window."""
    return [
        *([] if start is None else [column >= start]),
        *([] if end is None else [column < end]),
    ]


def of_status(status: str) -> list[Any]:
    """Return the condition that keeps living, deleted or all resources."""
    deleted_at = CURRENT_RESOURCES.c.deleted_at
    return {"active": [deleted_at.is_(None)], "deleted": [deleted_at.is_not(None)], "all": []}[
        status
    ]


_KEY = ("cloud", "resource_type", "resource_id")


def _history(connection: sqlalchemy.Connection, key: tuple[str, str, str]) -> list[Any]:
    query = (
        sqlalchemy.select(EVENTS)
        .where(*(EVENTS.c[name] == part for name, part in zip(_KEY, key, strict=True)))
        .order_by(EVENTS.c.timestamp, EVENTS.c.received_at, EVENTS.c.event_id)
        .limit(LONGEST_HISTORY + 1)
    )
    rows = list(connection.execute(query))
    if len(rows) > LONGEST_HISTORY:
        raise Problem(
            "history_too_long",
            f"this resource has more than {LONGEST_HISTORY} events; page GET /api/v1/events",
        )
    return rows


def _equal(table: sqlalchemy.Table, wanted: Any, names: tuple[str, ...]) -> list[Any]:
    return [
        table.c[name] == getattr(wanted, name)
        for name in names
        if getattr(wanted, name) is not None
    ]


def _unknown() -> Problem:
    return Problem("not_found", "no event of this resource is stored")
