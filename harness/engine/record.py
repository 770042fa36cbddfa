"""The nouns of metering and rating.

The two kinds a period has thousands of are structs, which are made ten times as fast as frozen
dataclasses and kept out of the garbage collector's way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec

from harness.timeline import Event


class Resource(NamedTuple):
    """What a history is about; the platform is carried along and no part of the key."""

    cloud: str
    platform: str
    resource_type: str
    resource_id: str


class History(NamedTuple):
    """A candidate with all its events before the end of the period, in the fold's order."""

    resource: Resource
    events: Sequence[Event]


class UsageRecord(msgspec.Struct, frozen=True, gc=False):
    """One interval of one resource, clipped to the period. Knows no prices.

    Attributes:
        resource: what was used.
        project_id: the owning tenant.
        state: the state over the interval.
        start: first instant, microseconds.
        end: first instant after it, microseconds.
        seconds: whole seconds between the two, truncated.
        usage: every member of the size, ``minutes``, ``count``, and a member per counter.
    """

    resource: Resource
    project_id: str
    state: str
    start: int
    end: int
    seconds: int
    usage: dict[str, Any]


class RatedRecord(msgspec.Struct, frozen=True, gc=False):
    """What one dimension of a usage record costs.

    Attributes:
        record: what was used.
        dimension: the metric.
        quantity: four places.
        amount: two places.
    """

    record: UsageRecord
    dimension: str
    quantity: Decimal
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Warned:
    """Something a run could do its work in spite of.

    Attributes:
        code: one of the closed set of codes.
        resource: what it is about, None for a warning about the run.
        detail: text for a person.
    """

    code: str
    resource: Resource | None
    detail: str

    def document(self) -> dict[str, str]:
        """Return the warning as it stands in a run's stats."""
        key = {} if self.resource is None else self.resource._asdict()
        return {"code": self.code, **key, "detail": self.detail}
