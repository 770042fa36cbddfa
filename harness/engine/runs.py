"""Runs and billing periods: their rows and the states they go through."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import sqlalchemy as sa

from harness.calendar import Period
from harness.engine.errors import RunRefused
from harness.engine.instant import SECOND, now, spell
from harness.engine.schema import billing_periods, runs

REGULAR, CORRECTION = "regular", "correction"
RUNNING, COMPLETED, FINALIZED = "running", "completed", "finalized"
SUPERSEDED, FAILED = "superseded", "failed"
#: A period still runs, has ended and may be metered again, or is closed.
OPEN, GRACE = "open", "grace"

#: A run left running for longer than this was interrupted.
STALE_AFTER = 2 * 3600 * SECOND

_JSON = msgspec.json.Encoder(decimal_format="number")


@dataclass(frozen=True, slots=True)
class Run:
    """A row of `runs`.

    Attributes:
        id: a UUID.
        kind: ``regular`` or ``correction``.
        corrects_run_id: the finalized run a correction stands beside.
        period: the billing period.
        status: running, completed, finalized, superseded, failed.
        pricing_version: the model it rated with.
        clouds: what it was limited to; empty for all.
        started_at: microseconds.
        completed_at: microseconds.
        stats: what it counted, and what went wrong.
    """

    id: str
    kind: str
    corrects_run_id: str | None
    period: Period
    status: str
    pricing_version: str | None
    clouds: tuple[str, ...]
    started_at: int
    completed_at: int | None
    stats: dict[str, Any]


@dataclass(frozen=True, slots=True)
class BillingPeriod:
    """A row of `billing_periods`."""

    period: Period
    status: str
    finalized_run: str | None
    finalized_at: int | None


def find(connection: sa.Connection, run_id: str) -> Run:
    """Return a run.

    Raises:
        RunRefused: there is none of that id.
    """
    row = connection.execute(sa.select(runs).where(runs.c.id == run_id)).one_or_none()
    if row is None:
        raise RunRefused(f"there is no run {run_id}; the ids are printed by run and correct")
    return _run(row)


def begin(
    connection: sa.Connection,
    period: Period,
    pricing_version: str,
    clouds: Sequence[str],
    corrects: str | None = None,
) -> Run:
    """Book a run as running, and its period when it is new."""
    name = str(period)
    status = GRACE if period.has_ended() else OPEN
    known = connection.execute(
        sa.select(billing_periods.c.status).where(billing_periods.c.period == name)
    ).scalar()
    if known is None:
        connection.execute(sa.insert(billing_periods).values(period=name, status=status))
    elif known == OPEN != status:
        connection.execute(
            sa.update(billing_periods).where(billing_periods.c.period == name).values(status=status)
        )
    run = Run(
        id=str(uuid.uuid4()),
        kind=REGULAR if corrects is None else CORRECTION,
        corrects_run_id=corrects,
        period=period,
        status=RUNNING,
        pricing_version=pricing_version,
        clouds=tuple(clouds),
        started_at=now(),
        completed_at=None,
        stats={},
    )
    connection.execute(
        sa.insert(runs).values(
            id=run.id,
            kind=run.kind,
            corrects_run_id=corrects,
            period=name,
            status=RUNNING,
            pricing_version=pricing_version,
            clouds=msgspec.json.encode(run.clouds).decode(),
            started_at=run.started_at,
            stats="{}",
        )
    )
    return run


def complete(connection: sa.Connection, run: Run, stats: dict[str, Any]) -> list[str]:
    """Book a run as completed and supersede the completed ones of its kind and period.

    Returns:
        ids of the runs it supersedes, oldest first.
    """
    others = [
        other.id for other in _of(connection, run.period, COMPLETED) if other.kind == run.kind
    ]
    _set(connection, others, status=SUPERSEDED)
    _set(connection, [run.id], status=COMPLETED, completed_at=now(), stats=_text(stats))
    return others


def fail(connection: sa.Connection, run: Run, stats: dict[str, Any]) -> None:
    """Book a run as failed."""
    _set(connection, [run.id], status=FAILED, stats=_text(stats))


def reclaim(connection: sa.Connection, period: Period) -> list[str]:
    """Book runs as failed that were left running; the caller holds the period's lock."""
    limit = now() - STALE_AFTER
    stale = [run for run in _of(connection, period, RUNNING) if run.started_at < limit]
    for run in stale:
        fail(connection, run, {"error": "interrupted: it was still running two hours later"})
    return [run.id for run in stale]


def require_open(connection: sa.Connection, period: Period) -> None:
    """Raise RunRefused when the period is closed."""
    row = _period(connection, period)
    if row is not None and row.status == FINALIZED:
        raise RunRefused(
            f"{period} is finalized, closed over run {row.finalized_run}; "
            f"book what changed with: tally-harness engine correct --period {period}"
        )


def baseline(connection: sa.Connection, period: Period) -> Run:
    """Return the latest finalized run of a period: the one no finalized run corrects.

    Raises:
        RunRefused: the period is not finalized.
    """
    finalized = _of(connection, period, FINALIZED)
    corrected = {run.corrects_run_id for run in finalized}
    latest = [run for run in finalized if run.id not in corrected]
    if not latest:
        raise RunRefused(
            f"{period} has no finalized run; close it over a completed one with: "
            f"tally-harness engine finalize --period {period} --run ID"
        )
    return latest[-1]


def finalize(connection: sa.Connection, period: Period, run_id: str) -> Run:
    """Finalize a completed run; a regular one closes its period.

    Raises:
        RunRefused: no such run, of another period, not completed, or the period is not in the
            state the run's kind needs.
    """
    run = find(connection, run_id)
    if run.period != period:
        raise RunRefused(
            f"run {run_id} is of {run.period}, not of {period}; name one of that month"
        )
    if run.kind == REGULAR:
        require_open(connection, period)
    elif run.status == COMPLETED and baseline(connection, period).id != run.corrects_run_id:
        raise RunRefused(
            f"the run corrects {run.corrects_run_id}, which is not the latest finalized run of "
            f"{period}; correct the period again"
        )
    if run.status != COMPLETED:
        raise RunRefused(
            f"run {run_id} is {run.status}; only a completed one can be finalized, made by: "
            f"tally-harness engine run --period {period}"
        )
    _set(connection, [run_id], status=FINALIZED)
    if run.kind == REGULAR:
        connection.execute(
            sa.update(billing_periods)
            .where(billing_periods.c.period == str(period))
            .values(status=FINALIZED, finalized_run=run_id, finalized_at=now())
        )
    return run


def periods(connection: sa.Connection) -> list[BillingPeriod]:
    """Return the billing periods, oldest first."""
    query = sa.select(billing_periods).order_by(billing_periods.c.period)
    return [
        BillingPeriod(Period.parse(row.period), row.status, row.finalized_run, row.finalized_at)
        for row in connection.execute(query)
    ]


def read_stats(text: str) -> dict[str, Any]:
    """Read a run's stats, numbers exact."""
    stats: dict[str, Any] = msgspec.json.decode(text)
    return stats


def describe(period: BillingPeriod) -> str:
    """Return the line a list of periods shows."""
    line = f"{period.period} {period.status}"
    if period.finalized_run is not None and period.finalized_at is not None:
        line += f" finalized_run={period.finalized_run} finalized_at={spell(period.finalized_at)}"
    return line


def _period(connection: sa.Connection, period: Period) -> Any:
    query = sa.select(billing_periods).where(billing_periods.c.period == str(period))
    return connection.execute(query).one_or_none()


def _of(connection: sa.Connection, period: Period, status: str) -> list[Run]:
    query = (
        sa.select(runs)
        .where(runs.c.period == str(period), runs.c.status == status)
        .order_by(runs.c.started_at, runs.c.id)
    )
    return [_run(row) for row in connection.execute(query)]


def _set(connection: sa.Connection, ids: Sequence[str], **values: Any) -> None:
    if ids:
        connection.execute(sa.update(runs).where(runs.c.id.in_(ids)).values(**values))


def _text(stats: dict[str, Any]) -> str:
    return _JSON.encode(stats).decode()


def _run(row: Any) -> Run:
    return Run(
        id=row.id,
        kind=row.kind,
        corrects_run_id=row.corrects_run_id,
        period=Period.parse(row.period),
        status=row.status,
        pricing_version=row.pricing_version,
        clouds=tuple(msgspec.json.decode(row.clouds)),
        started_at=row.started_at,
        completed_at=row.completed_at,
        stats=read_stats(row.stats),
    )
