"""Ingest, events, dead letters, and their counts."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from harness.reporting import answers, batch, contract, reading, statistics
from harness.reporting.access import Needs
from harness.reporting.routes.route import Route, Where, answer

_BODY = {
    "required": True,
    "description": (
        "One canonical event, or an array of at most 1000. An item that is no event is refused"
        " in the answer and kept as a dead letter; it does not fail the request."
    ),
    "content": {
        "application/json": {
            "schema": {
                "anyOf": [
                    {"type": "object"},
                    {"type": "array", "items": {}, "maxItems": batch.MOST},
                ]
            }
        }
    },
}


async def _ingest(request: Request, here: Where) -> Response:
    items = batch.split(await request.body())
    outcome = await run_in_threadpool(here.service.ingest.take, items, here.caller)
    return answer(outcome.document())


def _events(here: Where, wanted: Annotated[contract.EventFilter, Query()]) -> Response:
    with here.service.store.read() as connection:
        return answer(reading.events(connection, here.caller, wanted))


def _rejected(here: Where, wanted: Annotated[contract.RejectedFilter, Query()]) -> Response:
    with here.service.store.read() as connection:
        return answer(reading.rejected(connection, wanted))


def _statistics(here: Where, wanted: Annotated[contract.EventStatisticsQuery, Query()]) -> Response:
    with here.service.store.read() as connection:
        return answer(statistics.events(connection, here.caller, wanted))


ROUTES = (
    Route(
        "POST",
        "/api/v1/events",
        Needs.INGEST,
        _ingest,
        "Store events",
        answers.IngestAnswer,
        body=_BODY,
    ),
    Route(
        "GET",
        "/api/v1/events",
        Needs.PROJECT,
        _events,
        "List events by (timestamp, event_id)",
        answers.page_of(answers.StoredEvent),
    ),
    Route(
        "GET",
        "/api/v1/stats/events",
        Needs.PROJECT,
        _statistics,
        "Count events in buckets of time",
        answers.items_of(answers.EventCount),
        refusals=(422,),
    ),
    Route(
        "GET",
        "/api/v1/rejected-events",
        Needs.ADMIN,
        _rejected,
        "List dead letters by (received_at, id)",
        answers.page_of(answers.RejectedEvent),
    ),
)
