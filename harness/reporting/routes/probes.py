"""What a supervisor and a scraper ask."""

from __future__ import annotations

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import PlainTextResponse, Response

from harness.reporting.access import Needs
from harness.reporting.problem import Problem
from harness.reporting.routes.route import Route, Where


def _healthz(here: Where) -> Response:
    unhealthy = here.service.unhealthy_for()
    if unhealthy > here.service.settings.unhealthy_after:
        raise Problem("unavailable", f"the database has been of no use for {unhealthy:.0f} seconds")
    return PlainTextResponse("ok\n")


def _readyz(here: Where) -> Response:
    trouble = here.service.trouble()
    if trouble is not None:
        raise Problem("unavailable", trouble)
    return PlainTextResponse("ok\n")


def _metrics(here: Where) -> Response:
    if not here.service.settings.metrics:
        raise Problem("not_found", "metrics are switched off; set TALLY_METRICS_ENABLED=true")
    return Response(here.service.metrics.page(), media_type=CONTENT_TYPE_LATEST)


ROUTES = (
    Route("GET", "/healthz", Needs.NOTHING, _healthz, "Whether the process should live on"),
    Route("GET", "/readyz", Needs.NOTHING, _readyz, "Whether requests can be served"),
    Route(
        "GET", "/metrics", Needs.NOTHING, _metrics, "The series a scraper reads", refusals=(404,)
    ),
)
