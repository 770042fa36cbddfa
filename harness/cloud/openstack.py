"""The fake OpenStack API: a token, version documents, and one listing per kind of resource.

Every answer is the cloud as it stands at the run's virtual instant.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from harness.cloud import documents
from harness.cloud.body import BodyTooLong, read_body
from harness.cloud.identity import Identity, Unauthorized
from harness.oracle.live import deleted, live
from harness.oracle.model import Interval, Oracle, Resource

#: Longest body of a login.
_MOST_BYTES = 1024

#: Path of a version document to its content, and where the version it names is rooted.
_VERSIONS: Sequence[tuple[str, str, str, dict[str, Any]]] = (
    (
        "/compute/v2.1/",
        "version",
        "/compute/v2.1/",
        {"id": "v2.1", "status": "CURRENT", "version": "2.96", "min_version": "2.1"},
    ),
    ("/image/", "versions", "/image/v2/", {"id": "v2.15", "status": "CURRENT"}),
    ("/network/", "versions", "/network/v2.0/", {"id": "v2.0", "status": "CURRENT"}),
    ("/load-balancer/", "versions", "/load-balancer/v2.0/", {"id": "v2.0", "status": "CURRENT"}),
)

#: Route, resource type, top-level member, document.
_LISTINGS: Sequence[tuple[str, str, str, Callable[[Resource, Interval], documents.Document]]] = (
    ("/volume/v3/volumes/detail", "volume", "volumes", documents.volume),
    ("/network/v2.0/floatingips", "floating_ip", "floatingips", documents.floating_ip),
    ("/image/v2/images", "image", "images", documents.image),
    (
        "/load-balancer/v2.0/lbaas/loadbalancers",
        "loadbalancer",
        "loadbalancers",
        documents.loadbalancer,
    ),
)

_AWARE = Annotated[datetime, msgspec.Meta(tz=True)]
_Endpoint = Callable[[Request], Awaitable[Response]]


def openstack_routes(oracle: Oracle, now: Callable[[], float]) -> Sequence[BaseRoute]:
    """Return the routes of the fake API, a new token with them.

    Args:
        oracle: what the cloud held.
        now: the instant answers are given for, Unix seconds; behind the month its end counts.

    Raises:
        UnknownFlavor: the oracle names a flavor of another world.
    """
    documents.check_flavors(oracle)
    identity = Identity()

    def guarded(answer: Callable[[Request], Response]) -> _Endpoint:
        async def endpoint(request: Request) -> Response:
            try:
                identity.check(request.headers.get("x-auth-token", ""))
            except Unauthorized as error:
                return _unauthorized(error)
            return answer(request)

        return endpoint

    async def log_in(request: Request) -> Response:
        try:
            body = await read_body(request, _MOST_BYTES)
        except BodyTooLong:
            body = b""
        try:
            token, document = identity.log_in(body, request.headers.get("host", ""))
        except Unauthorized as error:
            return _unauthorized(error)
        return _json(document, 201, {"X-Subject-Token": token})

    routes: list[BaseRoute] = [Route("/v3/auth/tokens", log_in, methods=["POST"])]
    for path, member, root, version in _VERSIONS:
        routes += [
            Route(path, guarded(_constant(_version(member, version)))),
            Route(path.rstrip("/"), guarded(_linked(member, version, root))),
        ]
    routes += [
        Route("/compute/v2.1/servers/detail", guarded(_servers(oracle, now))),
        Route("/compute/v2.1/flavors/detail", guarded(_constant({"flavors": documents.flavors()}))),
        Route("/volume/v3/types", guarded(_constant({"volume_types": documents.volume_types()}))),
    ]
    routes += [
        Route(path, guarded(_listing(oracle, now, kind, member, document)))
        for path, kind, member, document in _LISTINGS
    ]
    return routes


def _constant(body: Any) -> Callable[[Request], Response]:
    return lambda _: _json(body)


def _version(member: str, version: dict[str, Any]) -> dict[str, Any]:
    return {member: [version] if member == "versions" else version}


def _linked(member: str, version: dict[str, Any], root: str) -> Callable[[Request], Response]:
    """Answer keystoneauth, which asks for the catalog's URL as it stands.

    It adds no final slash, follows no relative redirect, and passes over a version without a link.
    """

    def answer(request: Request) -> Response:
        link = {"rel": "self", "href": f"http://{request.headers.get('host', '')}{root}"}
        return _json(_version(member, version | {"links": [link]}))

    return answer


def _listing(
    oracle: Oracle,
    now: Callable[[], float],
    kind: str,
    member: str,
    document: Callable[[Resource, Interval], documents.Document],
) -> Callable[[Request], Response]:
    return lambda _: _json({member: [document(*pair) for pair in live(oracle, now(), kind)]})


def _servers(oracle: Oracle, now: Callable[[], float]) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        since = request.query_params.get("changes-since", "")
        if since:
            try:
                moment = msgspec.convert(since, _AWARE).timestamp()
            except (msgspec.ValidationError, OverflowError):
                return PlainTextResponse(
                    "changes-since: write the instant as in 2026-07-01T00:00:00Z", 400
                )
            if request.query_params.get("deleted", "").lower() == "true":
                gone = deleted(oracle, moment, now(), "instance")
                return _json({"servers": [documents.deleted_server(*pair) for pair in gone]})
        there = live(oracle, now(), "instance")
        return _json({"servers": [documents.server(*pair) for pair in there]})

    return answer


def _json(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(
        msgspec.json.encode(body), status, headers=headers, media_type="application/json"
    )


def _unauthorized(error: Unauthorized) -> Response:
    return _json({"error": {"code": 401, "title": "Unauthorized", "message": str(error)}}, 401)
