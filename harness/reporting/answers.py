"""The shapes of answers, for the OpenAPI document; answers themselves are written by hand."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, WithJsonSchema

JsonObject = dict[str, Any]

Timestamp = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""An instant in an answer."""


class Answer(BaseModel):
    """Anything the API answers."""


class ProblemError(Answer):
    """Where a request misses, and how."""

    loc: str
    msg: str


class ProblemDocument(Answer):
    """Anything that is no success."""

    type: str
    title: str
    status: int
    detail: str | None = None
    errors: list[ProblemError] = []


class RejectedItem(Answer):
    """An item that was not stored, by its place in the batch."""

    index: int
    event_id: str
    reason: str


class IngestAnswer(Answer):
    """What became of a batch."""

    accepted: int
    duplicates: int
    rejected: list[RejectedItem]


class StoredEvent(Answer):
    """A canonical event, and when it was stored."""

    event_id: str
    timestamp: Timestamp
    event_type: str
    platform: str
    cloud: str
    resource_type: str
    resource_id: str
    project_id: str
    source: Literal["collector", "reconciliation"]
    payload: JsonObject
    received_at: Timestamp


class ResourceAnswer(Answer):
    """What a resource is now."""

    cloud: str
    platform: str
    resource_type: str
    resource_id: str
    project_id: str
    state: str
    size: JsonObject
    created_at: Timestamp | None
    deleted_at: Timestamp | None
    first_event_at: Timestamp
    last_event_type: str
    last_event_at: Timestamp
    last_payload: JsonObject | None


class IntervalAnswer(Answer):
    """Constant state, size and project over [from, to)."""

    from_: Timestamp = Field(alias="from")
    to: Timestamp | None
    state: str
    size: JsonObject
    project_id: str


class Lifecycle(Answer):
    """A resource, its events in the order of the fold, and its intervals."""

    resource: ResourceAnswer
    events: list[StoredEvent]
    intervals: list[IntervalAnswer]
    warnings: list[str]


class RejectedEvent(Answer):
    """A dead letter."""

    id: str
    received_at: Timestamp
    reason: str
    raw: Any


class ResourceCount(Answer):
    """How many resources share the members it was grouped by."""

    cloud: str
    resource_type: str
    state: str | None = None
    platform: str | None = None
    project_id: str | None = None
    count: int


class EventCount(Answer):
    """How many events of a bucket of time share the members it was grouped by."""

    bucket: Timestamp
    cloud: str
    event_type: str
    source: str | None = None
    count: int


class ResourceType(Answer):
    """The JSON Schema that sizes of a type are held against."""

    platform: str
    resource_type: str
    size_schema: JsonObject
    updated_at: Timestamp


class Project(Answer):
    """A project of the registry."""

    id: str
    platform: str
    cloud: str
    external_id: str
    name: str | None
    metadata: JsonObject
    created_at: Timestamp


class Relation(Answer):
    """A relation between two projects; valid from valid_from until before valid_to."""

    id: str
    source_id: str
    target_id: str
    relation_type: str
    metadata: JsonObject
    valid_from: Timestamp
    valid_to: Timestamp | None
    created_at: Timestamp


class RelatedProject(Answer):
    """A project that relations lead to, and the path of ids that leads there."""

    project: Project
    relation_type: str
    depth: int
    path: list[str]


class SummaryProject(Answer):
    """Whom a summary is about."""

    id: str
    cloud: str
    external_id: str


class TypeSummary(Answer):
    """One resource type of a project within the window."""

    resource_type: str
    active_now: int
    created: int
    deleted: int
    total_minutes: float = Field(description="Four places.")


class Summary(Answer):
    """What a project had within a window."""

    project: SummaryProject
    resource_types: list[TypeSummary]


class Rebuilt(Answer):
    """How many rows were derived anew."""

    rebuilt: int


class SyncStats(Answer):
    """How many corrections were booked."""

    created: int
    updated: int
    deleted: int


class SyncAnswer(Answer):
    """A reconciliation that has ended."""

    sync_run_id: str
    stats: SyncStats


def page_of(item: type[Answer]) -> type[Answer]:
    """Return the shape of a page of `item`."""
    return type(
        f"{item.__name__}Page",
        (Answer,),
        {
            "__annotations__": {"items": list[item], "next_cursor": str | None},  # type: ignore[valid-type]
            "__doc__": f"A page of {item.__name__}.",
        },
    )


def items_of(item: type[Answer]) -> type[Answer]:
    """Return the shape of an unpaginated list of `item`."""
    return type(
        f"{item.__name__}Items",
        (Answer,),
        {
            "__annotations__": {"items": list[item]},  # type: ignore[valid-type]
            "__doc__": f"All of {item.__name__} that were asked for.",
        },
    )
