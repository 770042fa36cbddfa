"""The fold: one walk over a resource's events in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from harness.timeline.category import Category, category
from harness.timeline.value import same

#: The first event of a history is no create; the first interval begins at it all the same.
HISTORY_STARTS_WITHOUT_CREATE = "history_starts_without_create"

_ORDER = itemgetter(0, 1, 2)
# Members of an Enum are slow to reach, and these are reached for every event.
_CREATE, _DELETE = Category.CREATE, Category.DELETE


class Event(NamedTuple):
    """What the fold needs of a stored event.

    Attributes:
        timestamp: when it happened, microseconds.
        received_at: when it was stored, microseconds; breaks ties of `timestamp`.
        event_id: breaks ties of both, in byte order.
        event_type: see `category`.
        state: None or empty when the event leaves the state as it was.
        size: None when the event leaves the size as it was.
        project_id: the owner from here on, whatever the event is.
    """

    timestamp: int
    received_at: int
    event_id: str
    event_type: str
    state: str | None
    size: Mapping[str, Any] | None
    project_id: str


class Interval(NamedTuple):
    """Constant state, size and project over ``[start, end)``, in microseconds.

    Attributes:
        start: first instant.
        end: first instant after it; None while it is open.
        state: empty when no event has told one.
        size: as the event that told it spells it; empty when none has.
        project_id: the owner.
    """

    start: int
    end: int | None
    state: str
    size: Mapping[str, Any]
    project_id: str


class Timeline(NamedTuple):
    """A folded history.

    Attributes:
        intervals: in order, none of them empty.
        created_at: instant of the first create, None without one.
        deleted_at: instant of the last delete, None without one.
        warnings: codes, at most one of each.
    """

    intervals: tuple[Interval, ...]
    created_at: int | None
    deleted_at: int | None
    warnings: tuple[str, ...]


def in_order(events: Iterable[Event]) -> list[Event]:
    """Sort by instant, receipt breaking ties and the id, in byte order, those of both.

    Texts compare by code point, which is the byte order of their UTF-8.
    """
    return sorted(events, key=_ORDER)


def fold(events: Iterable[Event]) -> Timeline:  # noqa: C901 - one walk, hot, and plain to read
    """Fold all events of one resource, given in any order.

    A delete closes the running interval. Any other event that changes state, size or project
    closes it and opens the next; one that changes nothing is ignored. State and size outlive a
    delete, so a later update opens the resource again with what it had. An interval that ends
    where it starts is dropped, and its neighbours stay apart even when they are equal.
    """
    intervals: list[Interval] = []
    warnings: tuple[str, ...] = ()
    created_at: int | None = None
    deleted_at: int | None = None
    start: int | None = None
    state, size, project = "", {}, ""  # type: str, Mapping[str, Any], str
    first = True
    for at, _, _, event_type, new_state, new_size, new_project in in_order(events):
        effect = category(event_type)
        if first:
            first = False
            if effect is not _CREATE:
                warnings = (HISTORY_STARTS_WITHOUT_CREATE,)
        if effect is _DELETE:
            deleted_at = at
            if start is not None and at > start:
                intervals.append(Interval(start, at, state, size, project))
            start = None
            continue
        if effect is _CREATE and created_at is None:
            created_at = at
        next_state = new_state or state
        next_size = size if new_size is None else new_size
        if start is not None:
            if (
                next_state == state
                and new_project == project
                and (next_size is size or same(next_size, size))
            ):
                continue
            if at > start:
                intervals.append(Interval(start, at, state, size, project))
        start, state, size, project = at, next_state, next_size, new_project
    if start is not None:
        intervals.append(Interval(start, None, state, size, project))
    return Timeline(tuple(intervals), created_at, deleted_at, warnings)
