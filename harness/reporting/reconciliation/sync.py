"""One run: ask a cloud, and book what its events lack."""

from __future__ import annotations

import hashlib
import logging
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import sqlalchemy

from harness.reporting import instant, projection, wire
from harness.reporting.ingest import store as store_events
from harness.reporting.item import Event
from harness.reporting.metrics import Metrics
from harness.reporting.problem import Problem
from harness.reporting.projection import Resource
from harness.reporting.reconciliation import corrections
from harness.reporting.reconciliation.clouds import Cloud
from harness.reporting.reconciliation.corrections import Correction, Deferral, Kind
from harness.reporting.reconciliation.observation import Adapter, Key, Observation, count
from harness.reporting.schema import CURRENT_RESOURCES, SIZE_NAMES, SYNC_RUNS
from harness.reporting.store import Store, Transaction

SOURCE = "reconciliation"
LONGEST_WINDOW = instant.DAY
BATCH = 100

_ACTIONS = {Kind.CREATE: "created", Kind.UPDATE: "updated", Kind.DELETE: "deleted"}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run that has ended well."""

    run_id: str
    booked: Counter[str]

    def stats(self) -> dict[str, int]:
        """Return how many corrections of each kind were booked."""
        return {action: self.booked[action] for action in _ACTIONS.values()}

    def document(self) -> dict[str, Any]:
        """Return the answer's JSON value."""
        return {"sync_run_id": self.run_id, "stats": self.stats()}


class Sync:
    """Reconciles clouds with one database, one run per cloud at a time."""

    def __init__(self, store: Store, metrics: Metrics, *, settle: float, budget: float) -> None:
        """Write to `store`, count in `metrics`.

        Args:
            store: the database.
            metrics: the counters.
            settle: seconds a change is left alone.
            budget: seconds a run may take to ask.
        """
        self._store = store
        self._metrics = metrics
        self._settle = round(settle * instant.SECOND)
        self._budget = budget

    def run(self, cloud: Cloud, adapter: Adapter, *, at: int | None = None) -> Outcome:
        """Do one run; `at` is its instant, now by default.

        Raises:
            Problem: 409, another run of the cloud is under way; 500, this one failed.
        """
        with self._store.hold(f"sync:{cloud.cloud}") as held:
            if not held:
                raise Problem("conflict", "a run for this cloud is under way; wait for its end")
            moment = instant.now() if at is None else at
            run_id = self._begin(cloud.cloud, moment)
            outcome = None
            try:
                outcome = self._run(run_id, cloud, adapter, moment)
            finally:
                status = "failed" if outcome is None else "completed"
                self._end(run_id, cloud.cloud, status, outcome)
            return outcome

    def _run(self, run_id: str, cloud: Cloud, adapter: Adapter, at: int) -> Outcome:
        deadline = time.monotonic() + self._budget
        observation = adapter.observe(self._since(cloud.cloud, at), at, deadline)
        _log.info(
            "observed",
            extra={"fields": {"cloud": cloud.cloud, **count(observation)}},
        )
        for flaw in observation.flaws:
            _log.warning("left out", extra={"fields": {"cloud": cloud.cloud, "reason": flaw}})
        _replace_names(self._store, cloud.cloud, observation)
        booked: Counter[str] = Counter()
        deferred: Counter[str] = Counter()
        run = _Run(run_id, cloud, observation, at, self._settle)
        for keys in self._passes(cloud, observation):
            with self._store.write(cloud.cloud) as transaction:
                decided = run.decide(transaction, keys)
                booked.update(run.book(transaction, decided))
            deferred.update(each.value for _, each in decided if isinstance(each, Deferral))
        for action, amount in booked.items():
            self._metrics.count(
                "tally_sync_resources_reconciled", amount, cloud=cloud.cloud, action=action
            )
        for reason, amount in deferred.items():
            self._metrics.count(
                "tally_sync_resources_deferred", amount, cloud=cloud.cloud, reason=reason
            )
        return Outcome(run_id, booked)

    def _passes(self, cloud: Cloud, observation: Observation) -> Iterator[list[Key]]:
        """Yield what to look at: what was observed, then what was not, a batch at a time."""
        observed = sorted(observation.live.keys() | observation.gone.keys())
        yield from _batches(observed)
        with self._store.read() as connection:
            table = CURRENT_RESOURCES
            living = connection.execute(
                sqlalchemy.select(table.c.resource_type, table.c.resource_id).where(
                    table.c.cloud == cloud.cloud,
                    table.c.platform == cloud.platform,
                    table.c.resource_type.in_(sorted(observation.complete)),
                    table.c.deleted_at.is_(None),
                )
            ).all()
        known = set(observed)
        absent = [(row.resource_type, row.resource_id) for row in living]
        yield from _batches(sorted(key for key in absent if key not in known))

    def _since(self, cloud: str, at: int) -> int:
        """Return from when on deletions are asked for."""
        last = sqlalchemy.select(sqlalchemy.func.max(SYNC_RUNS.c.at)).where(
            SYNC_RUNS.c.cloud == cloud, SYNC_RUNS.c.status == "completed", SYNC_RUNS.c.at <= at
        )
        with self._store.read() as connection:
            completed = connection.execute(last).scalar_one()
        earliest = at - LONGEST_WINDOW
        return earliest if completed is None else max(earliest, completed - self._settle)

    def _begin(self, cloud: str, at: int) -> str:
        run_id = str(uuid4())
        with self._store.write(f"sync:{cloud}") as transaction:
            transaction.connection.execute(
                SYNC_RUNS.update()
                .where(SYNC_RUNS.c.cloud == cloud, SYNC_RUNS.c.status == "running")
                .values(status="failed", finished_at=transaction.now)
            )
            transaction.connection.execute(
                SYNC_RUNS.insert(),
                {
                    "id": run_id,
                    "cloud": cloud,
                    "status": "running",
                    "at": at,
                    "started_at": transaction.now,
                    "stats": "{}",
                },
            )
        return run_id

    def _end(self, run_id: str, cloud: str, status: str, outcome: Outcome | None) -> None:
        self._metrics.count("tally_sync_runs", cloud=cloud, status=status)
        if outcome is None:
            self._metrics.count("tally_sync_errors", cloud=cloud)
        stats = {} if outcome is None else outcome.stats()
        with self._store.write(f"sync:{cloud}") as transaction:
            transaction.connection.execute(
                SYNC_RUNS.update()
                .where(SYNC_RUNS.c.id == run_id)
                .values(status=status, finished_at=transaction.now, stats=wire.text(stats))
            )
            transaction.audit("internal", f"sync.{status}", {"id": run_id, "cloud": cloud, **stats})


@dataclass(frozen=True, slots=True)
class _Run:
    """What decisions and bookings of one run share."""

    run_id: str
    cloud: Cloud
    observation: Observation
    at: int
    settle: int

    def decide(
        self, transaction: Transaction, keys: Sequence[Key]
    ) -> list[tuple[Key, Correction | Deferral]]:
        """Decide about resources as their rows stand now, under the cloud's lock."""
        rows = projection.rows(transaction.connection, self.cloud.cloud, keys)
        decided = ((key, self._decide(key, rows.get(key))) for key in keys)
        return [(key, decision) for key, decision in decided if decision is not None]

    def _decide(self, key: Key, row: Resource | None) -> Correction | Deferral | None:
        if key in self.observation.live:
            live = self.observation.live[key]
            return corrections.of_live(live, row, at=self.at, settle=self.settle)
        if key in self.observation.gone:
            gone = self.observation.gone[key]
            return corrections.of_gone(gone, row, at=self.at, settle=self.settle)
        if row is None:
            return None
        return corrections.of_absent(row, at=self.at, settle=self.settle)

    def book(
        self, transaction: Transaction, decided: Sequence[tuple[Key, Correction | Deferral]]
    ) -> Counter[str]:
        """Store the corrections and fold them; return actions and their numbers."""
        events, booked = [], Counter[str]()
        for key, correction in decided:
            if isinstance(correction, Correction):
                events.append(self._event(key, correction))
                booked[_ACTIONS[correction.kind]] += 1
        fresh = store_events(transaction, events, SOURCE)
        projection.fold(transaction, self.cloud.cloud, fresh)
        return booked

    def _event(self, key: Key, correction: Correction) -> Event:
        resource_type, resource_id = key
        kind = correction.kind.value
        named = f"{self.run_id}:{self.cloud.cloud}:{resource_type}:{resource_id}:{kind}"
        payload: dict[str, Any] = {"provider": {"sync_run_id": self.run_id}}
        if correction.state is not None:
            payload["state"] = correction.state
        if correction.size is not None:
            payload["size"] = correction.size
        return Event(
            event_id=f"recon-{hashlib.sha256(named.encode()).hexdigest()}",
            timestamp=correction.timestamp,
            event_type=f"sync.{kind}",
            platform=self.cloud.platform,
            cloud=self.cloud.cloud,
            resource_type=resource_type,
            resource_id=resource_id,
            project_id=correction.project_id,
            payload=wire.text(payload),
            state=correction.state or "",
            size="" if correction.size is None else wire.text(correction.size),
            raw=b"",
        )


def _replace_names(store: Store, cloud: str, observation: Observation) -> None:
    """Put the cloud's size names in place of the ones there were."""
    with store.write(cloud) as transaction:
        transaction.connection.execute(SIZE_NAMES.delete().where(SIZE_NAMES.c.cloud == cloud))
        transaction.insert_many(
            transaction.insert(SIZE_NAMES),
            [(cloud, *key, name) for key, name in sorted(observation.size_names.items())],
        )


def _batches(keys: Sequence[Key]) -> Iterator[list[Key]]:
    for start in range(0, len(keys), BATCH):
        yield list(keys[start : start + BATCH])
