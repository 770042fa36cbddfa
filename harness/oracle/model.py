"""The nouns of the oracle's document, format 4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

#: Raised whenever what the generator books or what the document states changes.
FORMAT = 4


@dataclass(frozen=True, slots=True)
class Interval:
    """Constant state, size and project over ``[start, end)``, in Unix seconds."""

    start: int
    end: int
    state: str
    project_id: str
    size: Mapping[str, int | Decimal | str]


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource the month bills, and the switches that touched it."""

    resource_type: str
    resource_id: str
    workload: str
    intervals: tuple[Interval, ...]
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Count:
    """How many events of a Tally type the collector has to record for a project."""

    project_id: str
    event_type: str
    count: int


@dataclass(frozen=True, slots=True)
class TrafficRow:
    """Bytes an instance moved over one of its intervals."""

    resource_id: str
    start: int
    end: int
    egress_bytes: int
    ingress_bytes: int


@dataclass(frozen=True, slots=True)
class Oracle:
    """The month as it was lived.

    Attributes:
        cloud: name of the cloud.
        seed: 0 to 2**64 - 1.
        start: first instant of the month, Unix seconds.
        end: first instant of the following month.
        resources: by type, then id, in byte order.
        counts: by project, then Tally type, in byte order.
        faults: switches of the run, canonical order.
        traffic: by resource id, then start.
    """

    cloud: str
    seed: int
    start: int
    end: int
    resources: tuple[Resource, ...]
    counts: tuple[Count, ...]
    faults: tuple[str, ...]
    traffic: tuple[TrafficRow, ...]
