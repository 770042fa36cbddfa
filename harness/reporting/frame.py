"""What holds for every request: its id, the bound of its body, and an answer whatever happens."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from contextlib import suppress
from uuid import uuid4

from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.reporting.problem import Problem, contract

LARGEST_BODY = 8 * 1024 * 1024
BODY_SECONDS = 60.0
DRAIN_SECONDS = 1.0
REQUEST_ID = "X-Request-ID"

_ADOPTED = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
_log = logging.getLogger(__name__)


class Frame:
    """ASGI middleware around the whole API."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap `app`; a body has `BODY_SECONDS` to arrive."""
        self._app = app
        self._body_seconds = BODY_SECONDS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        request_id = headers.get(b"x-request-id", b"").decode("latin-1")
        if not _ADOPTED.fullmatch(request_id):
            request_id = str(uuid4())
        status = 0
        began = time.monotonic()

        async def send_named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message.get("headers", ()),
                    (REQUEST_ID.lower().encode(), request_id.encode()),
                ]
            await send(message)

        body = _Body(receive, headers.get(b"content-length", b""), self._body_seconds)
        try:
            await self._app(scope, body.receive, send_named)
        except (PoolTimeout, OperationalError, InterfaceError):
            _log.exception("the database failed", extra={"fields": {"request_id": request_id}})
            problem = Problem("unavailable", "the database cannot be used at present; try again")
            if not status:
                await problem.response()(scope, receive, send_named)
        except Exception:  # noqa: BLE001 -- the last resort, logged with its traceback
            _log.exception("a request failed", extra={"fields": {"request_id": request_id}})
            problem = Problem("internal", f"the log tells more under the request id {request_id}")
            if not status:
                await problem.response()(scope, receive, send_named)
        _log.debug(
            "request",
            extra={
                "fields": {
                    "request_id": request_id,
                    "method": scope["method"],
                    "path": scope["path"],
                    "status": status,
                    "seconds": round(time.monotonic() - began, 6),
                }
            },
        )


class _Body:
    """Counts a body while it is read, so that no more than the bound is ever held."""

    def __init__(self, receive: Receive, announced: bytes, seconds: float) -> None:
        self._receive = receive
        self._announced = int(announced) if announced.isdigit() and len(announced) < 20 else 0
        self._deadline = time.monotonic() + seconds
        self._seconds = seconds
        self._size = 0
        self._complete = False

    async def receive(self) -> Message:
        if self._complete:
            return await self._receive()
        await self._check(self._announced)
        left = self._deadline - time.monotonic()
        try:
            message = await asyncio.wait_for(self._receive(), max(left, 0.001))
        except TimeoutError as error:
            late = f"the body has not arrived within {self._seconds:g} seconds"
            raise contract(("body", late)) from error
        self._size += len(message.get("body", b""))
        await self._check(self._size, arrived=not message.get("more_body", False))
        self._complete = not message.get("more_body", False)
        return message

    async def _check(self, size: int, *, arrived: bool = False) -> None:
        if size > LARGEST_BODY:
            if not arrived:
                await self._drain()
            raise Problem(
                "payload_too_large",
                f"a request body carries at most {LARGEST_BODY} bytes; send fewer events at once",
                headers={"Connection": "close"},
            )

    async def _drain(self) -> None:
        """Drop what is still under way, as much again as may be sent, for a moment.

        A connection closed while its client is sending is reset, and the answer is lost with it.
        """
        dropped = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                while dropped <= LARGEST_BODY:
                    message = await self._receive()
                    dropped += len(message.get("body", b""))
                    if not message.get("more_body", False):
                        return
