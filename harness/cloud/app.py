"""The ASGI apps of a month being published."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.types import ASGIApp

from harness.broker.clock import VirtualClock
from harness.cloud.control import control_routes
from harness.cloud.publication import Publication


def control_app(clock: VirtualClock, publication: Publication, period: tuple[int, int]) -> ASGIApp:
    """Return the app of a replay: the control endpoint and nothing else.

    Args:
        clock: the virtual clock.
        publication: the progress.
        period: first and last instant of what is replayed, Unix seconds.
    """
    app = Starlette(routes=control_routes(clock, publication, period))
    app.router.redirect_slashes = False
    return app
