"""A route: where it is, what it asks of a caller, what it answers."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any, cast

from fastapi import Depends, Request
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from harness.reporting import wire
from harness.reporting.access import Caller, Needs
from harness.reporting.problem import contract
from harness.reporting.service import Service


@dataclass(frozen=True, slots=True)
class Route:
    """One row of the API.

    Attributes:
        method: the HTTP method.
        path: with ``{parameters}``.
        needs: what it asks of its caller.
        handler: what serves it.
        summary: a line for the OpenAPI document.
        answer: the shape of its success; None where it has no JSON.
        status: the success.
        refusals: statuses it answers beyond those of every route like it.
        body: its request body for the document, where FastAPI does not read it.
        hidden: query parameters that are refused, each in its own words.
    """

    method: str
    path: str
    needs: Needs
    handler: Callable[..., Any]
    summary: str
    answer: type[BaseModel] | None = None
    status: int = 200
    refusals: tuple[int, ...] = ()
    body: dict[str, Any] | None = None
    hidden: tuple[str, ...] = ()

    @property
    def documented_path(self) -> str:
        """The path as the OpenAPI document has it."""
        return self.path.replace(":path}", "}")


@dataclass(frozen=True, slots=True)
class Here:
    """What a handler works with."""

    service: Service
    caller: Caller


class ExactRequest(Request):
    """A request whose JSON keeps its digits."""

    async def json(self) -> Any:
        """Return the body's value, fractions as `Decimal`."""
        if not hasattr(self, "_json"):
            try:
                self._json = wire.decode(await self.body())
            except ValueError as error:
                raise contract(("body", f"is no JSON: {error}")) from error
        return self._json


def guarded(needs: Needs) -> type[APIRoute]:
    """Return the class of routes that let a caller in before they read anything of the request."""

    class Guarded(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def admitted(request: Request) -> Response:
                service = cast("Service", request.app.state.service)
                caller = await run_in_threadpool(
                    service.doorkeeper.admit, needs, request.headers.get("authorization")
                )
                exact = ExactRequest(request.scope, request.receive)
                exact.state.here = Here(service, caller)
                return await handle(exact)

            return admitted

    return Guarded


async def _here(request: Request) -> Here:
    return cast("Here", request.state.here)


Where = Annotated[Here, Depends(_here)]
"""The parameter by which a handler gets its `Here`."""


def answer(value: Any, status: int = 200, **headers: str) -> Response:
    """Return a JSON answer with numbers spelt as they are."""
    return Response(wire.encode(value), status, headers, media_type="application/json")
