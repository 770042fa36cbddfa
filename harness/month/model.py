"""The nouns of a generated month."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any

from harness.calendar import Period

#: A size as a fact states it: member name to an exact number or a text.
Size = dict[str, int | Decimal | str]


class Kind(Enum):
    """What a transition is to the collector and to the oracle."""

    BOOKED = "booked"
    """Billable: mapped to an event, and a fact of the oracle."""
    UNSIZED = "unsized"
    """``image.create`` ahead of its upload: not billable, id from the identifier stream."""
    NOISE = "noise"
    """Carried by the bus and billed by nobody."""
    TWIN = "twin"
    """A refused shape, added beside a booked transition by a fault pass."""


@dataclass(slots=True)
class Transition:
    """One notification of the month before it is rendered.

    Attributes:
        instant: Unix seconds.
        event_type: the oslo type.
        exchange: the topic exchange it goes to.
        publisher: publisher id; empty for octavia, rendered as null.
        project_id: project of the requester.
        user_id: user of the requester.
        resource_id: what it is about; never rendered.
        workload: ``classic``, ``gardener`` or ``ci``.
        kind: see `Kind`.
        payload: frozen when appended.
        message_id: given once the schedule is sorted.
        truncated: a twin whose inner text is cut to its first half.
    """

    instant: int
    event_type: str
    exchange: str
    publisher: str
    project_id: str
    user_id: str
    resource_id: str
    workload: str
    kind: Kind
    payload: dict[str, Any]
    message_id: str = ""
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """What the generator knows the moment it appends a booked transition.

    Attributes:
        instant: Unix seconds.
        event_type: the oslo type.
        resource_id: id of the resource.
        project_id: the requesting (for a transfer: the accepting) project.
        workload: ``classic``, ``gardener`` or ``ci``.
        state: the state from here on; None when the resource ended.
        size: the whole size from here on; None when the resource ended.
        dropped: shapes intervals but is not counted (missing-create).
    """

    instant: int
    event_type: str
    resource_id: str
    project_id: str
    workload: str
    state: str | None
    size: Size | None
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class Tenant:
    """A project of the simulated cloud.

    Attributes:
        name: registry name, ``tenant-01`` … or ``Infrastructure tenant of alpha``.
        project_id: 32 hex digits.
        user_id: 32 hex digits.
        workload: ``classic``, ``ci`` or ``gardener``.
    """

    name: str
    project_id: str
    user_id: str
    workload: str


@dataclass(frozen=True, slots=True)
class Relation:
    """A Gardener project and the tenant its shoots run on.

    Attributes:
        project: name of the Gardener project, ``alpha`` or ``beta``.
        tenant: the infrastructure tenant.
        shoots: names of its shoots.
    """

    project: str
    tenant: Tenant
    shoots: tuple[str, ...]


@dataclass(slots=True)
class Month:
    """A generated month.

    Attributes:
        seed: 0 to 2**64 - 1.
        period: the billing period.
        cloud: name of the cloud.
        faults: switches that were on, canonical order.
        schedule: every transition by its instant, those of one second as they were appended.
        stream: what goes out at once, in publication order.
        held: what ``held-back`` took out, in schedule order.
        facts: in append order.
        tenants: registration order: classic 1 to 3, ci, alpha, beta.
        relations: alpha, beta.
        touched: (resource type, resource id) to the switches that touched it.
    """

    seed: int
    period: Period
    cloud: str
    faults: tuple[str, ...]
    schedule: list[Transition]
    stream: list[Transition]
    held: list[Transition]
    facts: list[Fact]
    tenants: tuple[Tenant, ...]
    relations: tuple[Relation, ...]
    touched: dict[tuple[str, str], set[str]] = field(default_factory=dict)
