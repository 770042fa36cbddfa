"""The ASGI app of the Reporting API, and the OpenAPI document it serves."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from harness.reporting.access import Needs
from harness.reporting.answers import ProblemDocument
from harness.reporting.frame import REQUEST_ID, Frame
from harness.reporting.problem import MEDIA_TYPE, Problem, contract
from harness.reporting.routes import events, internal, probes, projects, resources
from harness.reporting.routes.route import Route, guarded
from harness.reporting.service import Service
from harness.reporting.settings import Settings

ROUTES: tuple[Route, ...] = (
    *events.ROUTES,
    *resources.ROUTES,
    *projects.ROUTES,
    *internal.ROUTES,
    *probes.ROUTES,
)

_MEANINGS = {
    400: "The request does not match this document.",
    401: "No bearer token, or one that is unknown or revoked.",
    403: "A bearer token that does not open this.",
    404: "There is no such thing.",
    409: "What is stored stands against it.",
    413: "The body or the batch is too large.",
    422: "The request is well formed, and its content cannot be.",
    500: "A fault of the service.",
    501: "Not implemented.",
    503: "The database is of no use at present.",
}

_SCHEMES = {
    Needs.INGEST: "An ingest token, tly_i_… .",
    Needs.PROJECT: "An api token of any role, tly_a_… .",
    Needs.READ_ALL: "An api token of role read_all or admin.",
    Needs.ADMIN: "An api token of role admin.",
    Needs.INTERNAL: "The shared secret of the environment.",
}


def create_app(settings: Settings) -> FastAPI:
    """Return the app; ``app.state.service.close()`` closes its database.

    The database has to have been migrated (`harness.reporting.migrate`); until it is, ``/readyz``
    says so.
    """
    app = FastAPI(
        title="Reporting API",
        version=metadata.version("tally-harness"),
        description="Keeps the events of resources, and answers what became of them.",
        redirect_slashes=False,
        redoc_url=None,
    )
    app.state.service = Service(settings)
    for route in ROUTES:
        app.router.add_api_route(
            route.path,
            route.handler,
            methods=[route.method],
            status_code=route.status,
            response_model=route.answer,
            summary=route.summary,
            operation_id=_operation_id(route),
            route_class_override=guarded(route.needs),
        )
    app.openapi = lambda: _document(app)  # type: ignore[method-assign]  # FastAPI's documented way
    app.add_middleware(Frame)
    app.add_exception_handler(RequestValidationError, _refuse_contract)
    app.add_exception_handler(HTTPException, _refuse)
    return app


def _operation_id(route: Route) -> str:
    parts = route.documented_path.replace("{", "").replace("}", "").replace("-", "_").split("/")
    return "_".join([route.method.lower(), *filter(None, parts)])


def _refuse_contract(_request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    return contract(*_places(error)).response()


def _places(error: RequestValidationError) -> Iterator[tuple[str, str]]:
    for each in error.errors():
        yield ".".join(str(part) for part in each["loc"]), each["msg"]


def _refuse(request: Request, error: Exception) -> Response:
    if isinstance(error, Problem):
        return error.response()
    if not isinstance(error, HTTPException):
        raise error
    if error.status_code == 405:
        allowed = ", ".join(_methods(request))
        return Problem(
            "method_not_allowed",
            f"this path accepts {allowed}",
            headers={"Allow": allowed},
        ).response()
    if error.status_code == 404:
        return Problem("not_found", "the API has no such path").response()
    return contract(("body", str(error.detail))).response()


def _methods(request: Request) -> list[str]:
    found = set()
    for route in request.app.routes:
        if route.matches(request.scope)[0].value:
            found |= route.methods
    return sorted(found)


def _document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document: FastAPI's, with our security, bodies and refusals."""
    if app.openapi_schema is not None:
        return app.openapi_schema
    document = FastAPI.openapi(app)
    schemas = document["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    problem = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs"))
    schemas["ProblemDocument"] = problem
    asked = app.state.service.settings.authenticated
    document["components"]["securitySchemes"] = {
        needs.value: {"type": "http", "scheme": "bearer", "description": text}
        for needs, text in _SCHEMES.items()
    }
    for route in ROUTES:
        operation = document["paths"][route.documented_path][route.method.lower()]
        if asked and route.needs is not Needs.NOTHING:
            operation["security"] = [{route.needs.value: []}]
        operation["parameters"] = [
            each for each in operation.get("parameters", ()) if each["name"] not in route.hidden
        ]
        if route.body is not None:
            operation["requestBody"] = route.body
        _document_answers(route, operation)
    return document


def _document_answers(route: Route, operation: dict[str, Any]) -> None:
    success = operation["responses"][str(route.status)]
    if route.answer is None and route.status != 204:
        success["content"] = {"text/plain": {"schema": {"type": "string"}}}
    refusals = {500, 503, *route.refusals}
    if operation["parameters"] or "requestBody" in operation:
        refusals.add(400)
    if "requestBody" in operation:
        refusals.add(413)
    if route.needs is not Needs.NOTHING:
        refusals.add(401)
    if route.needs not in {Needs.NOTHING, Needs.INTERNAL}:
        refusals.add(403)
    operation["responses"] = {str(route.status): success} | {
        str(status): {
            "description": _MEANINGS[status],
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}},
        }
        for status in sorted(refusals)
    }
    for status, each in operation["responses"].items():
        each["headers"] = {REQUEST_ID: {"schema": {"type": "string"}, "required": True}}
        if status == "201":
            each["headers"]["Location"] = {"schema": {"type": "string"}, "required": True}
