"""What to book where a cloud and its events disagree. Pure: one resource at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from harness.reporting import wire
from harness.reporting.projection import Resource
from harness.reporting.reconciliation.observation import Gone, Live
from harness.timeline import same


class Kind(Enum):
    """What a correction does."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


class Deferral(Enum):
    """Why a resource is left to a later run."""

    TRANSITIONAL = "transitional"
    RECENT = "recent"


@dataclass(frozen=True, slots=True)
class Correction:
    """An event to book. Instants are microseconds since 1970 UTC.

    Attributes:
        kind: what it does.
        timestamp: when it happened, as far as anyone can tell.
        project_id: the owner from then on.
        state: None for a delete.
        size: None where it stays as it was.
    """

    kind: Kind
    timestamp: int
    project_id: str
    state: str | None = None
    size: Mapping[str, Any] | None = None


def of_live(
    seen: Live, row: Resource | None, *, at: int, settle: int
) -> Correction | Deferral | None:
    """Decide about a resource the cloud holds.

    Args:
        seen: what the cloud says.
        row: what the events say, None when there are none.
        at: the instant of the run.
        settle: how long a change is left alone, microseconds.
    """
    correction = _difference(seen, row, at)
    if correction is None:
        return None
    if seen.transitional:
        return Deferral.TRANSITIONAL
    if _recent(seen.changed_at, at, settle) or _recent(_newest(row), at, settle):
        return Deferral.RECENT
    return _behind(correction, row)


def of_gone(
    gone: Gone, row: Resource | None, *, at: int, settle: int
) -> Correction | Deferral | None:
    """Decide about a resource the cloud reports as deleted: dated when the cloud says it was."""
    if row is None or row.deleted_at is not None:
        return None
    if _recent(gone.deleted_at, at, settle) or _recent(row.last_event_at, at, settle):
        return Deferral.RECENT
    return _behind(Correction(Kind.DELETE, gone.deleted_at, row.project_id), row)


def of_absent(row: Resource, *, at: int, settle: int) -> Correction | Deferral | None:
    """Decide about a resource that is missing from a complete listing: dated at the run."""
    if row.deleted_at is not None:
        return None
    if _recent(row.last_event_at, at, settle):
        return Deferral.RECENT
    return _behind(Correction(Kind.DELETE, at, row.project_id), row)


def _difference(seen: Live, row: Resource | None, at: int) -> Correction | None:
    if row is None or row.deleted_at is not None:
        began = at if row is not None or seen.created_at is None else min(seen.created_at, at)
        return Correction(Kind.CREATE, began, seen.project_id, seen.state, seen.size or {})
    resized = seen.size is not None and not same(seen.size, wire.decode(row.size))
    if not resized and (seen.state, seen.project_id) == (row.state, row.project_id):
        return None
    return Correction(Kind.UPDATE, at, seen.project_id, seen.state, seen.size)


def _newest(row: Resource | None) -> int | None:
    return None if row is None else row.last_event_at


def _recent(changed_at: int | None, at: int, settle: int) -> bool:
    """Whether a change lies within the window that is left to settle, or behind the run."""
    return changed_at is not None and changed_at > at - settle


def _behind(correction: Correction, row: Resource | None) -> Correction:
    """Date a correction behind the newest event.

    Earlier, it would never be what the fold ends with, and every run would book it again.
    """
    if row is None or correction.timestamp >= row.last_event_at:
        return correction
    return Correction(
        correction.kind,
        row.last_event_at + 1,
        correction.project_id,
        correction.state,
        correction.size,
    )
