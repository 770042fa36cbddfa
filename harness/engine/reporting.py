"""The Reporting API's database, read at one snapshot.

Its text columns compare by bytes (collation C on PostgreSQL), so an order of the database is the
order of this program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa

from harness.engine import number
from harness.engine.instant import now
from harness.engine.record import History, Resource
from harness.timeline import Event, in_order

EVENTS = sa.table(
    "events",
    *map(
        sa.column,
        (
            "event_id",
            "timestamp",
            "event_type",
            "platform",
            "cloud",
            "resource_type",
            "resource_id",
            "project_id",
            "payload",
            "received_at",
        ),
    ),
)
RESOURCES = sa.table(
    "current_resources",
    *map(
        sa.column,
        ("cloud", "resource_type", "resource_id", "platform", "created_at", "deleted_at"),
    ),
)
PROJECTS = sa.table("projects", *map(sa.column, ("id", "platform", "cloud", "external_id")))
RELATIONS = sa.table(
    "project_relations",
    *map(
        sa.column,
        ("id", "source_id", "target_id", "relation_type", "valid_from", "valid_to"),
    ),
)

_BATCH = 500
_KEY = ("cloud", "resource_type", "resource_id")


class Payload(msgspec.Struct):
    """What metering reads of an event's payload, numbers exact."""

    state: str | None = None
    size: dict[str, Any] | None = None


def _number(text: str) -> Any:
    return number.exact(text)


decode_payload = msgspec.json.Decoder(Payload, float_hook=_number).decode


class Project(NamedTuple):
    """A registered project; `external_id` is the tenant's id in its cloud."""

    id: str
    platform: str
    cloud: str
    external_id: str


class Relation(NamedTuple):
    """A relation between two registered projects."""

    id: str
    source_id: str
    target_id: str
    relation_type: str


class LateResource(NamedTuple):
    """A resource with events that arrived after a run read its history."""

    resource: Resource
    events: int
    last_received_at: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One state of the Reporting API's database.

    Attributes:
        at: every event that is not in the snapshot was received after this; microseconds.
    """

    at: int
    _connection: sa.Connection

    def histories(self, start: int, end: int, clouds: Sequence[str] = ()) -> Iterator[History]:
        """Yield the candidates of a period with their events before its end.

        A candidate was not deleted before `start` and not created at or after `end`. They come
        ordered by (cloud, resource type, resource id) in byte order, one at a time.

        Args:
            start: first instant of the period, microseconds.
            end: first instant after it.
            clouds: only these; all when empty.
        """
        key = [RESOURCES.c[name] for name in _KEY]
        same_key = [EVENTS.c[name] == RESOURCES.c[name] for name in _KEY]
        query = (
            sa.select(
                RESOURCES.c.cloud,
                RESOURCES.c.platform,
                RESOURCES.c.resource_type,
                RESOURCES.c.resource_id,
                EVENTS.c.timestamp,
                EVENTS.c.received_at,
                EVENTS.c.event_id,
                EVENTS.c.event_type,
                EVENTS.c.payload,
                EVENTS.c.project_id,
            )
            .select_from(RESOURCES.outerjoin(EVENTS, sa.and_(*same_key, EVENTS.c.timestamp < end)))
            .where(
                sa.or_(RESOURCES.c.deleted_at.is_(None), RESOURCES.c.deleted_at >= start),
                sa.or_(RESOURCES.c.created_at.is_(None), RESOURCES.c.created_at < end),
            )
            .order_by(*key)
        )
        if clouds:
            query = query.where(RESOURCES.c.cloud.in_(clouds))
        result = self._connection.execute(query, execution_options={"yield_per": _BATCH})
        return _grouped(result.partitions())

    def late(self, start: int, end: int, since: int, clouds: Sequence[str]) -> list[LateResource]:
        """Return resources with events of a period received after an instant, by key."""
        columns = [EVENTS.c.cloud, EVENTS.c.platform, EVENTS.c.resource_type, EVENTS.c.resource_id]
        query = (
            sa.select(*columns, sa.func.count(), sa.func.max(EVENTS.c.received_at))
            .where(
                EVENTS.c.timestamp >= start,
                EVENTS.c.timestamp < end,
                EVENTS.c.received_at > since,
            )
            .group_by(*columns)
            .order_by(*columns)
        )
        if clouds:
            query = query.where(EVENTS.c.cloud.in_(clouds))
        return [
            LateResource(Resource(*row[:4]), int(row[4]), int(row[5]))
            for row in self._connection.execute(query)
        ]

    def projects(self) -> list[Project]:
        """Return every registered project."""
        return [Project(*row) for row in self._connection.execute(sa.select(PROJECTS))]

    def relations(self, types: Sequence[str], start: int, end: int) -> list[Relation]:
        """Return relations of the given types valid at any instant of a period, by id."""
        columns = RELATIONS.c
        query = (
            sa.select(columns.id, columns.source_id, columns.target_id, columns.relation_type)
            .where(
                columns.relation_type.in_(types),
                columns.valid_from < end,
                sa.or_(columns.valid_to.is_(None), columns.valid_to > start),
            )
            .order_by(columns.id)
        )
        return [Relation(*map(str, row)) for row in self._connection.execute(query)]


@contextmanager
def snapshot(store: sa.Engine) -> Iterator[Snapshot]:
    """Open a snapshot; it ends with the block."""
    if store.dialect.name == "postgresql":
        with store.connect() as connection:
            at = _received_before(connection)
        options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with store.connect().execution_options(**options) as connection, connection.begin():
            yield Snapshot(at, connection)
        return
    with store.connect() as connection, connection.begin():
        # One writer at a time takes its instant under the write lock, so what is committed next
        # was received after everything that is visible now.
        last = connection.execute(sa.select(sa.func.max(EVENTS.c.received_at))).scalar()
        yield Snapshot(now() if last is None else int(last), connection)


def _received_before(connection: sa.Connection) -> int:
    """Return an instant before which every receipt is committed.

    Events are received at the instant their transaction began, and a transaction under way may
    commit after the snapshot is taken; so the oldest one under way bounds what is certain.
    """
    text = sa.text(
        "select floor(extract(epoch from least(now(), (select min(xact_start)"
        " from pg_stat_activity where datname = current_database()"
        " and pid <> pg_backend_pid()))) * 1000000)"
    )
    return int(connection.execute(text).scalar_one()) - 1


def _grouped(batches: Iterable[Iterable[Any]]) -> Iterator[History]:
    """Group rows of the joined query by resource."""
    resource: Resource | None = None
    key: tuple[str, str, str] | None = None
    events: list[Event] = []
    for rows in batches:
        for (
            cloud,
            platform,
            kind,
            resource_id,
            at,
            received,
            event_id,
            what,
            payload,
            owner,
        ) in rows:
            if (resource_id, kind, cloud) != key:
                if resource is not None:
                    yield History(resource, in_order(events))
                key = (resource_id, kind, cloud)
                resource = Resource(cloud, platform, kind, resource_id)
                events = []
            if event_id is not None:
                told = decode_payload(payload)
                events.append(Event(at, received, event_id, what, told.state, told.size, owner))
    if resource is not None:
        yield History(resource, in_order(events))
