"""Relations between projects: who is related to whom, in which way, from when to when.

A relation is valid at an instant t when ``valid_from <= t < valid_to``. Relations of a type that
attributes cost may at no instant lead from a project back to itself.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import sqlalchemy

from harness.reporting import instant, paging, registry, wire
from harness.reporting.access import Caller
from harness.reporting.contract import NewRelation, RelatedQuery, RelationChange, RelationFilter
from harness.reporting.instant import rfc3339
from harness.reporting.problem import Problem, unprocessable
from harness.reporting.schema import PROJECT_RELATIONS, PROJECTS
from harness.reporting.store import Store, Transaction

ADJUSTMENTS = "pricing_adjustments"
MOST_ADJUSTMENTS = 64
LONGEST_DESCRIPTION = 500

_FOREVER = instant.LATEST + 1
_KINDS = ("discount", "kickback", "surcharge", "project_discount")
_RATE = re.compile(r"0(\.\d{1,6})?|1(\.0{1,6})?", re.ASCII)


def render(row: Any) -> dict[str, Any]:
    """Return a relation as it is answered."""
    return {
        "id": row.id,
        "source_id": row.source_id,
        "target_id": row.target_id,
        "relation_type": row.relation_type,
        "metadata": wire.raw(row.metadata),
        "valid_from": rfc3339(row.valid_from),
        "valid_to": None if row.valid_to is None else rfc3339(row.valid_to),
        "created_at": rfc3339(row.created_at),
    }


def relations(
    connection: sqlalchemy.Connection, project_id: str, wanted: RelationFilter
) -> dict[str, Any]:
    """Return a page of a project's relations in the order of (valid_from, id).

    Raises:
        Problem: 404.
    """
    registry.find(connection, project_id)
    table = PROJECT_RELATIONS
    ends = {
        "outgoing": table.c.source_id == project_id,
        "incoming": table.c.target_id == project_id,
        "both": sqlalchemy.or_(table.c.source_id == project_id, table.c.target_id == project_id),
    }
    query = sqlalchemy.select(table).where(ends[wanted.direction])
    if wanted.relation_type is not None:
        query = query.where(table.c.relation_type == wanted.relation_type)
    if wanted.at is not None:
        query = query.where(_valid_at(wanted.at))
    return paging.page(
        connection,
        query,
        (table.c.valid_from, table.c.id),
        render,
        limit=wanted.limit,
        cursor=wanted.cursor,
    )


def related(
    connection: sqlalchemy.Connection, project_id: str, wanted: RelatedQuery
) -> dict[str, Any]:
    """Follow the relations that are valid now, breadth first; each project is listed once.

    Raises:
        Problem: 404.
    """
    registry.find(connection, project_id)
    valid = connection.execute(
        sqlalchemy.select(PROJECT_RELATIONS)
        .where(_valid_at(instant.now()))
        .order_by(PROJECT_RELATIONS.c.relation_type, PROJECT_RELATIONS.c.target_id)
    )
    leaving: dict[str, list[Any]] = {}
    for row in valid:
        leaving.setdefault(row.source_id, []).append(row)
    paths: dict[str, tuple[str, list[str]]] = {project_id: ("", [project_id])}
    waiting = deque([project_id])
    while waiting:
        at = waiting.popleft()
        path = paths[at][1]
        if len(path) > wanted.depth:
            continue
        for row in leaving.get(at, ()):
            if row.target_id not in paths:
                paths[row.target_id] = (row.relation_type, [*path, row.target_id])
                waiting.append(row.target_id)
    del paths[project_id]
    found = {
        row.id: row
        for row in connection.execute(
            sqlalchemy.select(PROJECTS).where(PROJECTS.c.id.in_(list(paths)))
        )
    }
    return {
        "items": [
            {
                "project": registry.render(found[target]),
                "relation_type": relation_type,
                "depth": len(path) - 1,
                "path": path,
            }
            for target, (relation_type, path) in paths.items()
        ],
    }


def relate(
    store: Store,
    caller: Caller,
    project_id: str,
    new: NewRelation,
    *,
    attributing: tuple[str, ...],
) -> dict[str, Any]:
    """Begin a relation and return it.

    Raises:
        Problem: 404 unknown source; 409 one is active; 422 unknown target, a project related to
            itself, a cycle, or adjustments that make no sense.
    """
    check_adjustments(new.metadata)
    metadata = registry.metadata_text(new.metadata)
    with store.write(registry.LOCK) as transaction:
        connection = transaction.connection
        registry.find(connection, project_id)
        if new.target_id == project_id:
            raise unprocessable("body.target_id", "a relation leads from one project to another")
        target = sqlalchemy.select(PROJECTS.c.id).where(PROJECTS.c.id == new.target_id)
        if connection.execute(target).one_or_none() is None:
            raise unprocessable("body.target_id", "no project of this id is registered")
        row = {
            "id": str(uuid4()),
            "source_id": project_id,
            "target_id": new.target_id,
            "relation_type": new.relation_type,
            "metadata": metadata,
            "valid_from": transaction.now if new.valid_from is None else new.valid_from,
            "valid_to": None,
            "created_at": transaction.now,
        }
        _check_alone(connection, row)
        _check_acyclic(connection, row, attributing)
        stored = connection.execute(
            transaction.insert(PROJECT_RELATIONS).returning(PROJECT_RELATIONS), row
        ).one()
        transaction.audit(caller.actor, "relation.create", {"id": stored.id})
        return render(stored)


def change(
    store: Store,
    caller: Caller,
    key: tuple[str, str],
    wanted: RelationChange,
    *,
    attributing: tuple[str, ...],
) -> dict[str, Any]:
    """Change a relation's metadata or end, and return it.

    Args:
        store: where it is.
        caller: who wants it.
        key: id of its source and its own id.
        wanted: members left out stay; metadata is replaced whole.
        attributing: the types that may close no cycle.

    Raises:
        Problem: 404; 409 where its adjustments would change or another one is valid in the time it
            would newly cover; 422 where its end is not behind its beginning or a cycle would close.
    """
    with store.write(registry.LOCK) as transaction:
        row = _find(transaction.connection, key)
        values: dict[str, Any] = {}
        if "metadata" in wanted.model_fields_set:
            if wanted.metadata.get(ADJUSTMENTS) != wire.decode(row.metadata).get(ADJUSTMENTS):
                raise Problem(
                    "conflict",
                    "the pricing adjustments of a relation stay as they began; end it, and begin"
                    " another one with the new ones",
                )
            values["metadata"] = registry.metadata_text(wanted.metadata)
        if "valid_to" in wanted.model_fields_set:
            if wanted.valid_to is not None and wanted.valid_to <= row.valid_from:
                raise unprocessable("body.valid_to", "has to lie behind valid_from")
            values["valid_to"] = wanted.valid_to
            longer = {**row._mapping, "valid_to": wanted.valid_to}  # noqa: SLF001 -- the documented name of a row's dict
            _check_alone(transaction.connection, longer)
            _check_acyclic(transaction.connection, longer, attributing)
        if values:
            _update(transaction, row.id, values)
            transaction.audit(
                caller.actor, "relation.update", {"id": row.id, "members": sorted(values)}
            )
        return render(_find(transaction.connection, key))


def close(store: Store, caller: Caller, key: tuple[str, str]) -> None:
    """End a relation now; one that has ended, or not begun, ends where it stands.

    Raises:
        Problem: 404.
    """
    with store.write(registry.LOCK) as transaction:
        row = _find(transaction.connection, key)
        end = max(transaction.now, row.valid_from)
        if row.valid_to is None or row.valid_to > end:
            _update(transaction, row.id, {"valid_to": end})
            transaction.audit(caller.actor, "relation.close", {"id": row.id})


def check_adjustments(metadata: dict[str, Any]) -> None:
    """Hold the pricing adjustments of a relation against their rules.

    Raises:
        Problem: 422 with the place of every one that misses.
    """
    if ADJUSTMENTS not in metadata:
        return
    at = f"body.metadata.{ADJUSTMENTS}"
    entries = metadata[ADJUSTMENTS]
    if not isinstance(entries, list) or not 1 <= len(entries) <= MOST_ADJUSTMENTS:
        errors = [(at, f"has to be a list of 1 to {MOST_ADJUSTMENTS} adjustments")]
    else:
        errors = [
            (f"{at}.{index}{member}", message)
            for index, entry in enumerate(entries)
            for member, message in _adjustment_errors(entry)
        ]
    if errors:
        raise Problem(
            "validation",
            "the pricing adjustments of this relation are not what the adjustments' rules allow",
            errors=errors,
            status=422,
        )


def _adjustment_errors(entry: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(entry, dict):
        yield "", "has to be an object"
        return
    for member in entry.keys() - {"type", "rate", "scope", "description"}:
        yield f".{member}", "is no member of an adjustment"
    if entry.get("type") not in _KINDS:
        yield ".type", f"has to be one of {', '.join(_KINDS)}"
    rate = entry.get("rate")
    if not isinstance(rate, str) or not _RATE.fullmatch(rate):
        yield ".rate", 'has to be a string from "0" to "1" with at most six decimals'
    scope = entry.get("scope")
    if not isinstance(scope, str) or not scope or not all(scope.split(".", 1)):
        yield ".scope", "has to be all, a platform, or platform.resource_type"
    description = entry.get("description", "")
    if not isinstance(description, str) or len(description.encode()) > LONGEST_DESCRIPTION:
        yield ".description", f"has to be text of at most {LONGEST_DESCRIPTION} characters"


def _valid_at(at: int) -> Any:
    table = PROJECT_RELATIONS
    return sqlalchemy.and_(
        table.c.valid_from <= at,
        sqlalchemy.or_(table.c.valid_to.is_(None), table.c.valid_to > at),
    )


def _find(connection: sqlalchemy.Connection, key: tuple[str, str]) -> Any:
    table = PROJECT_RELATIONS
    row = connection.execute(
        sqlalchemy.select(table).where(table.c.source_id == key[0], table.c.id == key[1])
    ).one_or_none()
    if row is None:
        raise Problem("not_found", "this project has no relation of this id")
    return row


def _update(transaction: Transaction, relation_id: str, values: dict[str, Any]) -> None:
    transaction.connection.execute(
        PROJECT_RELATIONS.update().where(PROJECT_RELATIONS.c.id == relation_id).values(values)
    )


def _check_alone(connection: sqlalchemy.Connection, row: Any) -> None:
    """Refuse a relation while another of its type between its projects is valid."""
    table = PROJECT_RELATIONS
    others = sqlalchemy.select(table).where(
        table.c.source_id == row["source_id"],
        table.c.target_id == row["target_id"],
        table.c.relation_type == row["relation_type"],
        table.c.id != row["id"],
    )
    window = row["valid_from"], row["valid_to"]
    for other in connection.execute(others):
        if _common(window, (other.valid_from, other.valid_to)) is not None:
            raise Problem(
                "conflict",
                "another such relation of the two projects is valid then; end it first",
            )


def _check_acyclic(
    connection: sqlalchemy.Connection, row: Any, attributing: tuple[str, ...]
) -> None:
    """Refuse a relation that at some instant would lead its source back to itself."""
    if row["relation_type"] not in attributing:
        return
    table = PROJECT_RELATIONS
    leaving: dict[str, list[tuple[str, int, int | None]]] = {}
    stored = connection.execute(
        sqlalchemy.select(table).where(
            table.c.relation_type.in_(attributing), table.c.id != row["id"]
        )
    )
    for other in stored:
        leaving.setdefault(other.source_id, []).append(
            (other.target_id, other.valid_from, other.valid_to)
        )
    window = _common((row["valid_from"], row["valid_to"]), (instant.EARLIEST, None))
    waiting = deque([(row["target_id"], window)])
    seen = set()
    while waiting:
        at, during = waiting.popleft()
        if during is None or (at, during) in seen:
            continue
        seen.add((at, during))
        if at == row["source_id"]:
            raise Problem(
                "relation_cycle",
                "followed along the types that move cost, this relation would lead a project"
                " back to itself",
            )
        waiting.extend(
            (target, _common(during, (start, end))) for target, start, end in leaving.get(at, ())
        )


def _common(
    one: tuple[int, int | None], other: tuple[int, int | None]
) -> tuple[int, int | None] | None:
    """Return the window both windows cover, None when there is none."""
    start = max(one[0], other[0])
    end = min(one[1] or _FOREVER, other[1] or _FOREVER)
    return (start, None if end == _FOREVER else end) if start < end else None
