"""The ASGI apps of a month being published."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from harness.broker.clock import VirtualClock
from harness.cloud.control import control_routes
from harness.cloud.exposition import metrics_routes
from harness.cloud.openstack import openstack_routes
from harness.cloud.publication import Publication
from harness.month import Month
from harness.oracle import Oracle
from harness.oracle.inventory import Inventory

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


def control_app(clock: VirtualClock, publication: Publication, period: tuple[int, int]) -> ASGIApp:
    """Return the app of a replay: the control endpoint and nothing else.

    Args:
        clock: the virtual clock.
        publication: the progress.
        period: first and last instant of what is replayed, Unix seconds.
    """
    return _app(control_routes(clock, publication, period))


def run_app(
    month: Month,
    oracle: Oracle,
    clock: VirtualClock,
    publication: Publication,
    *,
    metrics: bool = True,
) -> ASGIApp:
    """Return the app of a run: the control endpoint, the fake OpenStack API and ``/metrics``.

    Args:
        month: what is published.
        oracle: its oracle, which the other two answer from.
        clock: the virtual clock, whose instant they answer for.
        publication: the progress.
        metrics: whether ``/metrics`` is there.

    Raises:
        UnknownFlavor: the oracle names a flavor of another world.
    """
    routes = list(control_routes(clock, publication, (oracle.start, oracle.end)))
    routes += openstack_routes(oracle, clock.now)
    if metrics:
        inventory = Inventory(month, oracle)
        routes += metrics_routes(lambda: inventory.at(clock.now()))
    return _app([*routes, Route("/{path:path}", _nowhere, methods=_METHODS)])


def _app(routes: list[BaseRoute]) -> ASGIApp:
    app = Starlette(routes=routes)
    app.router.redirect_slashes = False
    return app


async def _nowhere(_: Request) -> Response:
    return PlainTextResponse("404 page not found", 404)
