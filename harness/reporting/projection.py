"""The projection: what each resource is now, derived from its events alone.

A row is the end of walking a resource's events in the order of the timeline's fold. Events that
come last move the row on; an event that belongs further back has the history walked again. Both
are `advance`, so any order of arrival ends in the row that a rebuild makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar

import sqlalchemy

from harness.reporting.item import state_and_size
from harness.reporting.schema import CURRENT_RESOURCES, EVENTS
from harness.reporting.store import Transaction, among
from harness.timeline import Category, category

DELETED = "deleted"

T = TypeVar("T")

Key = tuple[str, str]
"""Resource type and resource id; the cloud goes without saying."""


@dataclass(frozen=True, slots=True)
class Step:
    """What the projection needs of an event: instants in microseconds, payload and size as JSON."""

    timestamp: int
    received_at: int
    event_id: str
    event_type: str
    platform: str
    cloud: str
    resource_type: str
    resource_id: str
    project_id: str
    source: str
    payload: str
    state: str
    size: str

    @property
    def key(self) -> Key:
        """Of which resource of the cloud it tells."""
        return self.resource_type, self.resource_id

    @property
    def place(self) -> tuple[int, int, str]:
        """Where it stands in the order of the fold."""
        return self.timestamp, self.received_at, self.event_id


@dataclass(frozen=True, slots=True)
class Resource:
    """A row of `current_resources`. Lives while `deleted_at` is None."""

    cloud: str
    resource_type: str
    resource_id: str
    platform: str
    project_id: str
    state: str
    size: str
    created_at: int | None
    deleted_at: int | None
    first_event_at: int
    last_event_type: str
    last_event_at: int
    last_payload: str | None

    @property
    def key(self) -> Key:
        """Which resource of the cloud it is."""
        return self.resource_type, self.resource_id


def advance(row: Resource | None, step: Step) -> Resource:
    """Return the row after one more event, which has to come last.

    The first create dates the resource, the last delete ends it, and whatever comes after a delete
    brings it back: the rules of the timeline's fold, so that row and intervals never disagree about
    whether a resource lives.
    """
    kind = category(step.event_type)
    created_at = row.created_at if row else None
    if kind is Category.CREATE and created_at is None:
        created_at = step.timestamp
    gone = kind is Category.DELETE
    return Resource(
        cloud=step.cloud,
        resource_type=step.resource_type,
        resource_id=step.resource_id,
        platform=step.platform,
        project_id=step.project_id,
        state=DELETED if gone else step.state or (row.state if row else ""),
        size=step.size or (row.size if row else "{}"),
        created_at=created_at,
        deleted_at=step.timestamp if gone else None,
        first_event_at=row.first_event_at if row else step.timestamp,
        last_event_type=step.event_type,
        last_event_at=step.timestamp,
        last_payload=step.payload,
    )


def replay(steps: Iterable[Step]) -> Resource:
    """Return the row of a whole history, in any order; there has to be one event at least."""
    row = None
    for step in sorted(steps, key=attrgetter("place")):
        row = advance(row, step)
    if row is None:
        raise ValueError("a history holds one event at least")
    return row


def fold(transaction: Transaction, cloud: str, fresh: Sequence[Step]) -> int:
    """Bring a cloud's rows up to date with events just stored; return how many were replayed."""
    by_key: dict[Key, list[Step]] = {}
    for step in sorted(fresh, key=attrgetter("place")):
        by_key.setdefault(step.key, []).append(step)
    known = rows(transaction.connection, cloud, by_key)
    late = {
        key: steps
        for key, steps in by_key.items()
        if key in known and steps[0].timestamp <= known[key].last_event_at
    }
    changed = []
    for key in sorted(by_key.keys() - late.keys()):
        row = known.get(key)
        for step in by_key[key]:
            row = advance(row, step)
        changed.append(row)
    changed += map(replay, histories(transaction.connection, cloud, late))
    write(transaction, [row for row in changed if row is not None])
    return len(late)


def rebuild(transaction: Transaction, cloud: str, resource_type: str | None = None) -> int:
    """Derive every row of a cloud, or of one of its types, anew; return how many there are."""
    wanted = [EVENTS.c.cloud == cloud]
    if resource_type is not None:
        wanted.append(EVENTS.c.resource_type == resource_type)
    found = transaction.connection.execute(
        sqlalchemy.select(EVENTS.c.resource_type, EVENTS.c.resource_id)
        .where(*wanted)
        .distinct()
        .order_by(EVENTS.c.resource_type, EVENTS.c.resource_id)
    )
    keys = [(row.resource_type, row.resource_id) for row in found]
    for chunk in _chunks(keys):
        write(transaction, list(map(replay, histories(transaction.connection, cloud, chunk))))
    return len(keys)


def histories(
    connection: sqlalchemy.Connection, cloud: str, keys: Iterable[Key]
) -> Iterator[list[Step]]:
    """Read all events of each of the resources; those without events are left out."""
    columns = [EVENTS.c[name] for name in _STORED]
    for resource_type, ids in _by_type(keys):
        query = sqlalchemy.select(*columns).where(
            EVENTS.c.cloud == cloud, EVENTS.c.resource_type == resource_type
        )
        stored = connection.execute(among(connection, query, [EVENTS.c.resource_id], ids))
        steps = sorted(map(_step, stored), key=attrgetter("resource_id"))
        for _, history in groupby(steps, key=attrgetter("resource_id")):
            yield list(history)


def write(transaction: Transaction, rows: Sequence[Resource]) -> None:
    """Insert the rows, or put them in place of the ones there are."""
    if not rows:
        return
    insert = transaction.insert(CURRENT_RESOURCES)
    keys = [column.name for column in CURRENT_RESOURCES.primary_key]
    taken = {name: insert.excluded[name] for name in _COLUMNS if name not in keys}
    transaction.insert_many(
        insert.on_conflict_do_update(index_elements=keys, set_=taken),
        map(_values, rows),
    )


def rows(connection: sqlalchemy.Connection, cloud: str, keys: Iterable[Key]) -> dict[Key, Resource]:
    """Read the rows there are of the named resources of a cloud."""
    found = {}
    for resource_type, ids in _by_type(keys):
        query = sqlalchemy.select(*(CURRENT_RESOURCES.c[name] for name in _COLUMNS)).where(
            CURRENT_RESOURCES.c.cloud == cloud,
            CURRENT_RESOURCES.c.resource_type == resource_type,
        )
        named = among(connection, query, [CURRENT_RESOURCES.c.resource_id], ids)
        for row in connection.execute(named):
            found[resource_type, row.resource_id] = Resource(*row)
    return found


_COLUMNS = tuple(field.name for field in fields(Resource))
_values = attrgetter(*_COLUMNS)
_STORED = tuple(field.name for field in fields(Step) if field.name not in {"state", "size"})


def _step(row: Any) -> Step:
    state, size = state_and_size(row.payload)
    return Step(**row._mapping, state=state, size=size)  # noqa: SLF001 -- the documented name of a row's dict


def _by_type(keys: Iterable[Key]) -> Iterator[tuple[str, list[tuple[str]]]]:
    """Group keys by their type, at most 500 ids at a time, each alone in a tuple."""
    for resource_type, group in groupby(sorted(keys), key=lambda key: key[0]):
        for chunk in _chunks([(resource_id,) for _, resource_id in group]):
            yield resource_type, chunk


def _chunks(items: list[T], most: int = 500) -> Iterator[list[T]]:
    for start in range(0, len(items), most):
        yield items[start : start + most]
