"""Resources, their histories, their counts, and the types they are of."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.responses import Response

from harness.reporting import answers, contract, reading, resource_types, statistics
from harness.reporting.access import Needs
from harness.reporting.contract import Word
from harness.reporting.routes.route import Route, Where, answer

Part = Annotated[Word, Path()]


def _resources(here: Where, wanted: Annotated[contract.ResourceFilter, Query()]) -> Response:
    with here.service.store.read() as connection:
        return answer(reading.resources(connection, here.caller, wanted))


def _history(here: Where, cloud: Part, type: Part, id: Part) -> Response:  # noqa: A002 -- the parameters' names
    with here.service.store.read() as connection:
        return answer(reading.history(connection, here.caller, (cloud, type, id)))


def _lifecycle(here: Where, cloud: Part, type: Part, id: Part) -> Response:  # noqa: A002 -- the parameters' names
    with here.service.store.read() as connection:
        return answer(reading.lifecycle(connection, here.caller, (cloud, type, id)))


def _statistics(
    here: Where, wanted: Annotated[contract.ResourceStatisticsQuery, Query()]
) -> Response:
    with here.service.store.read() as connection:
        return answer(statistics.resources(connection, here.caller, wanted))


def _types(here: Where, wanted: Annotated[contract.Page, Query()]) -> Response:
    with here.service.store.read() as connection:
        return answer(resource_types.resource_types(connection, wanted))


def _type(here: Where, platform: Part, resource_type: Part) -> Response:
    with here.service.store.read() as connection:
        return answer(resource_types.find(connection, platform, resource_type))


def _replace_type(
    here: Where, platform: Part, resource_type: Part, body: contract.SizeSchema
) -> Response:
    key = (platform, resource_type)
    return answer(resource_types.replace(here.service.store, here.caller, key, body))


ROUTES = (
    Route(
        "GET",
        "/api/v1/resources",
        Needs.PROJECT,
        _resources,
        "List resources by (cloud, resource_type, resource_id)",
        answers.page_of(answers.ResourceAnswer),
    ),
    Route(
        "GET",
        "/api/v1/resources/{cloud}/{type}/{id:path}/events",
        Needs.PROJECT,
        _history,
        "List the events of one resource in the order of the fold",
        answers.page_of(answers.StoredEvent),
        refusals=(404, 422),
    ),
    Route(
        "GET",
        "/api/v1/resources/{cloud}/{type}/{id:path}/lifecycle",
        Needs.PROJECT,
        _lifecycle,
        "Show one resource, its events and its intervals",
        answers.Lifecycle,
        refusals=(404, 422),
    ),
    Route(
        "GET",
        "/api/v1/stats/resources",
        Needs.PROJECT,
        _statistics,
        "Count resources",
        answers.items_of(answers.ResourceCount),
        refusals=(422, 501),
        hidden=("at",),
    ),
    Route(
        "GET",
        "/api/v1/resource-types",
        Needs.PROJECT,
        _types,
        "List the size schemas",
        answers.page_of(answers.ResourceType),
    ),
    Route(
        "GET",
        "/api/v1/resource-types/{platform}/{resource_type}",
        Needs.PROJECT,
        _type,
        "Show a size schema",
        answers.ResourceType,
        refusals=(404,),
    ),
    Route(
        "PUT",
        "/api/v1/resource-types/{platform}/{resource_type}",
        Needs.ADMIN,
        _replace_type,
        "Put a size schema in place",
        answers.ResourceType,
        refusals=(422,),
    ),
)
