"""Ingest: a batch of items into events, dead letters and the projection, whole or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any
from uuid import uuid4

import sqlalchemy

from harness.reporting import item, projection, sizes, wire
from harness.reporting.access import Caller, Credential
from harness.reporting.item import Event, Refused
from harness.reporting.metrics import Metrics
from harness.reporting.projection import Step
from harness.reporting.schema import EVENTS, REJECTED_EVENTS
from harness.reporting.store import Store, Transaction, among

_values = attrgetter(*EVENTS.columns.keys())


class Overtaken(Exception):  # noqa: N818, RUF100 -- not an error: the transaction is run again
    """Two clouds sent the same event at once, and the other one's transaction was first."""


SCOPE = "scope"
MOST_ROUNDS = 20
LARGEST_DEAD_LETTER = 64 * 1024


@dataclass(frozen=True, slots=True)
class Rejection:
    """An item that was not stored.

    Attributes:
        index: its place in the batch, from 0.
        event_id: as well as it can be read.
        reason: ``scope``, ``schema: …`` or ``size_schema: …``.
        raw: the item's JSON text.
        event: what it said, where it was refused by its scope.
    """

    index: int
    event_id: str
    reason: str
    raw: bytes
    event: Event | None = None

    @property
    def kind(self) -> str:
        """The reason's first word."""
        return self.reason.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a batch."""

    accepted: int
    duplicates: int
    rejected: tuple[Rejection, ...]

    def document(self) -> dict[str, Any]:
        """Return the answer's JSON value."""
        return {
            "accepted": self.accepted,
            "duplicates": self.duplicates,
            "rejected": [
                {"index": each.index, "event_id": each.event_id, "reason": each.reason}
                for each in self.rejected
            ],
        }


class Ingest:
    """Takes batches for one database."""

    def __init__(self, store: Store, metrics: Metrics, *, require_size_schema: bool) -> None:
        """Write to `store` and count in `metrics`.

        With `require_size_schema`, a size of a type that has no schema is refused.
        """
        self._store = store
        self._metrics = metrics
        self._strict = require_size_schema

    def take(self, items: Sequence[bytes], caller: Caller) -> Outcome:
        """Store a batch in one transaction; an empty one needs none.

        An item that is refused does not keep the others from being stored.
        """
        if not items:
            return Outcome(0, 0, ())
        read, rejected = _read(items, caller.credential)
        for _ in range(MOST_ROUNDS):
            try:
                return self._take(read, rejected, caller)
            except Overtaken:
                continue  # what overtook has committed, so the next round finds its events stored
        raise Overtaken

    def _take(
        self, read: list[tuple[int, Event]], rejected: list[Rejection], caller: Caller
    ) -> Outcome:
        clouds = sorted({event.cloud for _, event in read})
        replays: dict[str, int] = {}
        with self._store.write(*clouds) as transaction:
            events, unfit, unvalidated = self._sized(transaction.connection, read)
            refused = sorted(rejected + unfit, key=lambda each: each.index)
            fresh = store(transaction, events, "collector")
            for cloud in clouds:
                replays[cloud] = projection.fold(
                    transaction, cloud, [step for step in fresh if step.cloud == cloud]
                )
            _bury(transaction, refused, caller)
            outcome = Outcome(len(fresh), len(events) - len(fresh), tuple(refused))
            transaction.audit(
                caller.actor,
                "events.ingest",
                {
                    "accepted": outcome.accepted,
                    "duplicates": outcome.duplicates,
                    "rejected": len(refused),
                },
            )
        self._count(events, fresh, replays)
        for (platform, resource_type), amount in Counter(unvalidated).items():
            self._metrics.count(
                "tally_ingest_unvalidated_size",
                amount,
                platform=platform,
                resource_type=resource_type,
            )
        for kind, amount in Counter(each.kind for each in refused).items():
            self._metrics.count("tally_events_rejected", amount, cloud=_cloud(caller), reason=kind)
        return outcome

    def _count(
        self, events: Sequence[Event], fresh: Sequence[Step], replays: Mapping[str, int]
    ) -> None:
        self._metrics.ingested(fresh, "collector")
        repeated = Counter(event.cloud for event in events)
        repeated.subtract(step.cloud for step in fresh)
        for cloud, amount in repeated.items():
            self._metrics.count("tally_events_deduplicated", amount, cloud=cloud)
        for cloud, amount in replays.items():
            self._metrics.count("tally_projection_replays", amount, cloud=cloud)

    def _sized(
        self, connection: sqlalchemy.Connection, read: list[tuple[int, Event]]
    ) -> tuple[list[Event], list[Rejection], list[tuple[str, str]]]:
        """Name and check sizes; return events, rejections, and the types without a schema."""
        schemas = sizes.load_schemas(connection, {event.platform for _, event in read})
        names = sizes.load_names(connection, {event.cloud for _, event in read})
        events, unfit, unvalidated = [], [], []
        for index, event in read:
            fit = event
            named = names.get((event.cloud, event.resource_type))
            if named and event.size:
                renamed = sizes.rename(event.payload, named)
                if renamed:
                    fit = replace(event, payload=renamed[0], size=renamed[1])
            kind = (event.platform, event.resource_type)
            reason = sizes.unbearable(fit.size) if fit.size else None
            if reason is not None or not fit.size:
                pass
            elif kind in schemas:
                reason = sizes.mismatch(schemas[kind], fit.size)
            elif self._strict:
                reason = f"no schema registered for ({kind[0]}, {kind[1]})"
            else:
                unvalidated.append(kind)
            if reason is None:
                events.append(fit)
            else:
                unfit.append(Rejection(index, event.event_id, f"size_schema: {reason}", event.raw))
        return events, unfit, unvalidated


def store(transaction: Transaction, events: Sequence[Event], source: str) -> list[Step]:
    """Insert the events that are not stored yet, in the order of their key; return those.

    An event is stored once per (event_id, timestamp), within a batch, too.

    Raises:
        Overtaken: another cloud's transaction stored one of them meanwhile.
    """
    by_key = {(event.event_id, event.timestamp): event for event in reversed(events)}
    for key in _stored(transaction.connection, by_key):
        by_key.pop(key, None)
    if not by_key:
        return []
    fresh = [_step(by_key[key], source, transaction.now) for key in sorted(by_key)]
    inserted = transaction.insert_many(
        transaction.insert(EVENTS).on_conflict_do_nothing(),
        map(_values, fresh),
    )
    if inserted != len(fresh):
        raise Overtaken
    return fresh


def _stored(
    connection: sqlalchemy.Connection, keys: Collection[tuple[str, int]]
) -> list[tuple[str, int]]:
    columns = EVENTS.c.event_id, EVENTS.c.timestamp
    query = among(connection, sqlalchemy.select(*columns), columns, keys)
    return [(row.event_id, row.timestamp) for row in connection.execute(query)]


def _step(event: Event, source: str, received_at: int) -> Step:
    return Step(
        timestamp=event.timestamp,
        received_at=received_at,
        event_id=event.event_id,
        event_type=event.event_type,
        platform=event.platform,
        cloud=event.cloud,
        resource_type=event.resource_type,
        resource_id=event.resource_id,
        project_id=event.project_id,
        source=source,
        payload=event.payload,
        state=event.state,
        size=event.size,
    )


def _cloud(caller: Caller) -> str:
    return caller.credential.cloud if caller.credential else ""


def _read(
    items: Sequence[bytes], credential: Credential | None
) -> tuple[list[tuple[int, Event]], list[Rejection]]:
    """Decode, validate, and hold each item against what the credential may write."""
    read, rejected = [], []
    for index, raw in enumerate(items):
        try:
            event = item.read(raw)
        except Refused as refused:
            rejected.append(Rejection(index, item.identify(raw), str(refused), raw))
            continue
        scope = (event.platform, event.cloud)
        if credential is None or scope == (credential.platform, credential.cloud):
            read.append((index, event))
        else:
            rejected.append(Rejection(index, event.event_id, SCOPE, raw, event))
    return read, rejected


def _bury(transaction: Transaction, rejected: Sequence[Rejection], caller: Caller) -> None:
    """Keep refused items as dead letters; items of another scope leave an audit row instead."""
    letters = []
    for each in rejected:
        if each.event is not None and caller.credential is not None:
            transaction.audit(
                caller.actor,
                "events.scope_violation",
                {
                    "credential_platform": caller.credential.platform,
                    "credential_cloud": caller.credential.cloud,
                    "event_platform": each.event.platform,
                    "event_cloud": each.event.cloud,
                },
            )
            continue
        kept = each.raw.decode()
        if len(each.raw) > LARGEST_DEAD_LETTER:
            kept = wire.text({"not_stored": {"bytes": len(each.raw)}})
        letters.append(
            {
                "id": str(uuid4()),
                "received_at": transaction.now,
                "cloud": _cloud(caller),
                "reason": each.reason,
                "raw": kept,
            }
        )
    if letters:
        transaction.connection.execute(REJECTED_EVENTS.insert(), letters)
