"""Answers that are no success: problem documents, ``application/problem+json``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from harness.reporting import wire

MEDIA_TYPE = "application/problem+json"

#: Kind to (status, title). The type of a document is ``urn:tally:error:`` and its kind.
KINDS = {
    "validation": (400, "Validation failed"),
    "unauthorized": (401, "Unauthorized"),
    "forbidden": (403, "Forbidden"),
    "not_found": (404, "Not found"),
    "method_not_allowed": (405, "Method not allowed"),
    "conflict": (409, "Conflict"),
    "payload_too_large": (413, "Payload too large"),
    "history_too_long": (422, "History too long"),
    "result_too_large": (422, "Result too large"),
    "relation_cycle": (422, "Relation cycle"),
    "not_implemented": (501, "Not implemented"),
    "internal": (500, "Internal error"),
    "unavailable": (503, "Service unavailable"),
}


class Problem(HTTPException):
    """An answer that is no success.

    Attributes:
        kind: one of `KINDS`.
        errors: pairs of where (``body.at``, ``query.limit``) and what.
    """

    def __init__(
        self,
        kind: str,
        detail: str,
        *,
        errors: Iterable[tuple[str, str]] = (),
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Word the answer; `status` is the kind's own unless given."""
        super().__init__(status or KINDS[kind][0], detail, dict(headers or {}))
        self.kind = kind
        self.errors = tuple(errors)

    def response(self) -> Response:
        """Return the answer."""
        document: dict[str, Any] = {
            "type": f"urn:tally:error:{self.kind}",
            "title": KINDS[self.kind][1],
            "status": self.status_code,
            "detail": self.detail,
        }
        if self.errors:
            document["errors"] = [{"loc": loc, "msg": msg} for loc, msg in self.errors]
        return Response(
            wire.encode(document), self.status_code, self.headers, media_type=MEDIA_TYPE
        )


def contract(*errors: tuple[str, str]) -> Problem:
    """Return the answer to a request that does not match the OpenAPI document."""
    return Problem(
        "validation", "the request is not what the API's OpenAPI document accepts", errors=errors
    )


def unprocessable(loc: str, message: str) -> Problem:
    """Return the 422 answer to a well-formed request whose content cannot be."""
    return Problem("validation", message, errors=[(loc, message)], status=422)
