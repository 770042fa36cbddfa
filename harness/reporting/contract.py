"""The shapes of the API: what requests are held against, and what answers are documented as."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from harness.reporting import instant, paging

JsonObject = dict[str, Any]


def _instant(value: object) -> int:
    if not isinstance(value, str):
        raise ValueError("must be an RFC 3339 instant, such as 2026-07-01T00:00:00Z")  # noqa: TRY004 -- pydantic reports ValueError only
    return instant.parse(value)


Instant = Annotated[
    int,
    BeforeValidator(_instant),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""RFC 3339 on the wire, microseconds since 1970 UTC within."""

Word = Annotated[str, Field(min_length=1, max_length=512, pattern=r"^[^\x00]+$")]
"""A name or an id."""

Timestamp = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""An instant in an answer."""


class Request(BaseModel):
    """What a caller sends; members nobody knows are refused, so that a typing error is told."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Query(BaseModel):
    """What a caller asks for in the query string; unknown parameters are refused."""

    model_config = ConfigDict(extra="forbid", populate_by_name=False)


class Page(Query):
    """A page of a list."""

    limit: int = Field(paging.DEFAULT, ge=1, le=paging.MOST)
    cursor: str | None = Field(None, max_length=8192)


class EventFilter(Page):
    """Which events to list; `from` is within, `to` is not."""

    cloud: Word | None = None
    platform: Word | None = None
    project_id: Word | None = None
    resource_type: Word | None = None
    event_type: Word | None = None
    source: Literal["collector", "reconciliation"] | None = None
    from_: Instant | None = Field(None, alias="from")
    to: Instant | None = None


Status = Literal["active", "deleted", "all"]


class ResourceFilter(Page):
    """Which resources to list."""

    cloud: Word | None = None
    platform: Word | None = None
    project_id: Word | None = None
    resource_type: Word | None = None
    state: Word | None = None
    status: Status = "active"


class ResourceStatisticsQuery(Query):
    """How to count resources."""

    group_by: str = Field(max_length=512)
    status: Status = "active"
    at: str | None = Field(None, max_length=64, description="Not implemented: answers 501.")


class EventStatisticsQuery(Query):
    """How to count events; buckets are aligned to UTC."""

    group_by: str = Field(max_length=512)
    from_: Instant = Field(alias="from")
    to: Instant
    interval: Literal["1h", "1d"]


class RejectedFilter(Page):
    """Which dead letters to list, by their `received_at`."""

    from_: Instant | None = Field(None, alias="from")
    to: Instant | None = None


class SummaryQuery(Query):
    """The window a summary is about; `from` is within, `to` is not."""

    from_: Instant = Field(alias="from")
    to: Instant


class ProjectFilter(Page):
    """Which projects to list."""

    platform: Word | None = None
    cloud: Word | None = None
    external_id: Word | None = None


class RelationFilter(Page):
    """Which relations of a project to list; `at` keeps those valid then."""

    direction: Literal["incoming", "outgoing", "both"] = "both"
    relation_type: Word | None = None
    at: Instant | None = None


class RelatedQuery(Query):
    """How far to follow the relations of a project."""

    depth: int = Field(1, ge=1, le=10)


class NewProject(Request):
    """A project to register."""

    platform: Word
    cloud: Word
    external_id: Word
    name: Word | None = None
    metadata: JsonObject = Field(default_factory=dict)


class ProjectChange(Request):
    """What to change of a project; members left out stay. Metadata is replaced whole."""

    name: Word | None = None
    metadata: JsonObject = Field(default_factory=dict)


class NewRelation(Request):
    """A relation to begin."""

    target_id: Word
    relation_type: Word
    valid_from: Instant | None = None
    metadata: JsonObject = Field(default_factory=dict)


class RelationChange(Request):
    """What to change of a relation; members left out stay."""

    metadata: JsonObject = Field(default_factory=dict)
    valid_to: Instant | None = None


class SizeSchema(Request):
    """The JSON Schema (2020-12) of a resource type's size."""

    size_schema: JsonObject


class RebuildRequest(Request):
    """Which part of the projection to derive anew; all of it by default."""

    cloud: Word | None = None
    resource_type: Word | None = None


class SyncRequest(Request):
    """The instant of a sync, where the service is set to be told it."""

    at: Instant | None = None


# -- answers


class Answer(BaseModel):
    """What the API answers; documentation only, answers are written by hand."""


class ProblemError(Answer):
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
    index: int
    event_id: str
    reason: str


class IngestAnswer(Answer):
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
    from_: Timestamp = Field(alias="from")
    to: Timestamp | None
    state: str
    size: JsonObject
    project_id: str


class Lifecycle(Answer):
    resource: ResourceAnswer
    events: list[StoredEvent]
    intervals: list[IntervalAnswer]
    warnings: list[str]


class RejectedEvent(Answer):
    id: str
    received_at: Timestamp
    reason: str
    raw: Any


class ResourceCount(Answer):
    cloud: str
    resource_type: str
    state: str | None = None
    platform: str | None = None
    project_id: str | None = None
    count: int


class EventCount(Answer):
    bucket: Timestamp
    cloud: str
    event_type: str
    source: str | None = None
    count: int


class ResourceType(Answer):
    platform: str
    resource_type: str
    size_schema: JsonObject
    updated_at: Timestamp


class Project(Answer):
    id: str
    platform: str
    cloud: str
    external_id: str
    name: str | None
    metadata: JsonObject
    created_at: Timestamp


class Relation(Answer):
    id: str
    source_id: str
    target_id: str
    relation_type: str
    metadata: JsonObject
    valid_from: Timestamp
    valid_to: Timestamp | None
    created_at: Timestamp


class RelatedProject(Answer):
    project: Project
    relation_type: str
    depth: int
    path: list[str]


class SummaryProject(Answer):
    id: str
    cloud: str
    external_id: str


class TypeSummary(Answer):
    resource_type: str
    active_now: int
    created: int
    deleted: int
    total_minutes: float


class Summary(Answer):
    project: SummaryProject
    resource_types: list[TypeSummary]


class Rebuilt(Answer):
    rebuilt: int


class SyncStats(Answer):
    created: int
    updated: int
    deleted: int


class SyncAnswer(Answer):
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
