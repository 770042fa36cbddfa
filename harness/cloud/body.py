"""Bodies of requests, read up to a bound."""

from __future__ import annotations

from starlette.requests import Request

from harness.errors import HarnessError


class BodyTooLong(HarnessError):
    """A body holds more bytes than its route takes."""


async def read_body(request: Request, most: int) -> bytes:
    """Return the body of `request`.

    Raises:
        BodyTooLong: it is longer than `most` bytes; the rest is not kept.
    """
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise BodyTooLong(f"the body is longer than {most} bytes")
    return body
