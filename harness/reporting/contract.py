"""The shapes of requests: what the API accepts, in its OpenAPI document and in fact."""

from __future__ import annotations

from itertools import permutations
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


#: What statistics are grouped by: always the first two, and any of the others.
RESOURCE_GROUPS = ("cloud", "resource_type", "state", "platform", "project_id")
EVENT_GROUPS = ("cloud", "event_type", "source")


def _groupings(names: tuple[str, ...]) -> list[Any]:
    return [
        ",".join(order)
        for size in range(2, len(names) + 1)
        for order in permutations(names, size)
        if set(names[:2]) <= set(order)
    ]


class ResourceStatisticsQuery(Query):
    """How to count resources."""

    group_by: str = Field(max_length=512, json_schema_extra={"enum": _groupings(RESOURCE_GROUPS)})
    status: Status = "active"
    at: str | None = None


class EventStatisticsQuery(Query):
    """How to count events; buckets are aligned to UTC."""

    group_by: str = Field(max_length=512, json_schema_extra={"enum": _groupings(EVENT_GROUPS)})
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
