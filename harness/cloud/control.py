"""The control endpoint of a run or a replay: health, the clock, the release.

It carries no credential, so requests a browser sends on behalf of some page are refused.
"""

from __future__ import annotations

import logging
from typing import Annotated, Any

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from harness.broker.clock import VirtualClock
from harness.calendar import rfc3339
from harness.cloud.body import BodyTooLong, read_body
from harness.cloud.publication import Publication, ReleaseRefused
from harness.errors import UsageError

_LOG = logging.getLogger("harness.cloud.control")

#: Longest body of a request that changes the factor.
_MOST_BYTES = 1024

#: The last instant that can be written; a clock at a large factor may run past it.
_END_OF_TIME = 253402300799

_FACTOR_REFUSED = (
    'send a JSON object whose member "factor" is a number, 0 or more, such as {"factor": 744}'
)


class _Factor(msgspec.Struct):
    factor: Annotated[float, msgspec.Meta(ge=0)]


def control_routes(
    clock: VirtualClock, publication: Publication, period: tuple[int, int]
) -> list[BaseRoute]:
    """Return the routes of the control endpoint.

    Args:
        clock: the run's virtual clock.
        publication: the run's progress.
        period: first instant and end of what is published, Unix seconds.
    """
    control = _Control(clock, publication, period)
    return [
        Route("/healthz", control.healthz),
        Route("/clock", control.read_clock, methods=["GET"]),
        Route("/clock", control.set_factor, methods=["PUT"]),
        Route("/release", control.release, methods=["POST"]),
    ]


class _Control:
    def __init__(
        self, clock: VirtualClock, publication: Publication, period: tuple[int, int]
    ) -> None:
        self._clock = clock
        self._publication = publication
        self._period = period

    async def healthz(self, _: Request) -> Response:
        return PlainTextResponse("ok")

    async def read_clock(self, _: Request) -> Response:
        return self._document()

    async def set_factor(self, request: Request) -> Response:
        if _from_browser(request):
            return _refuse(403, "a browser sent this; change the factor with a tool such as curl")
        try:
            body = await read_body(request, _MOST_BYTES)
            factor = msgspec.json.decode(body.decode(), type=_Factor).factor
            self._clock.set_factor(factor)
        except (BodyTooLong, msgspec.DecodeError, UnicodeDecodeError, UsageError):
            return _refuse(400, _FACTOR_REFUSED)
        _LOG.info("the factor changed", extra={"fields": {"factor": _number(factor)}})
        return self._document()

    async def release(self, request: Request) -> Response:
        if _from_browser(request):
            return _refuse(403, "a browser sent this; release with a tool such as curl")
        content_type = request.headers.get("content-type", "")
        if content_type and not content_type.lower().startswith("application/json"):
            return _refuse(415, "a release has no body, or one of type application/json")
        answer = self._document(held=0, holding=False)
        try:
            self._publication.release()
        except ReleaseRefused as error:
            return _refuse(409, str(error))
        _LOG.info("the held-back notifications were released")
        return answer

    def _document(self, **changed: Any) -> Response:
        start, end = self._period
        values = {
            "virtual_now": rfc3339(int(min(self._clock.now(), _END_OF_TIME))),
            "factor": _number(self._clock.factor),
            "published": self._publication.published,
            "total": self._publication.total,
            "held": self._publication.held,
            "holding": self._publication.holding,
            "period_from": rfc3339(start),
            "period_to": rfc3339(end),
        }
        return Response(msgspec.json.encode(values | changed), media_type="application/json")


def _number(factor: float) -> float:
    """Return a factor as it is written: 744 rather than 744.0."""
    return int(factor) if factor.is_integer() and factor < 2**53 else factor


def _refuse(status: int, text: str) -> Response:
    return PlainTextResponse(text, status)


def _from_browser(request: Request) -> bool:
    return "origin" in request.headers or "sec-fetch-site" in request.headers
