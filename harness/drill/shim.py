"""A shim in front of a Reporting API that answers some posts badly, reproducibly."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

import msgspec
import requests

_IN_A_ROW = 2  # a sender's back-off doubles with each failure in a row
_SLOW = (0.5, 2.0)
_MOST = 100
_TIMEOUT = 60


class Answer(NamedTuple):
    """What goes back to the sender; a status of 0 closes the connection without a word."""

    status: int
    content: bytes
    cut_at: int | None = None


Forward = Callable[[], Answer]
Fault = Callable[[random.Random, bytes, Forward], Answer]


def _down(_random: random.Random, _body: bytes, _forward: Forward) -> Answer:
    return Answer(0, b"")


def _slow(chance: random.Random, _body: bytes, forward: Forward) -> Answer:
    time.sleep(chance.uniform(*_SLOW))
    return forward()


def _failing(chance: random.Random, _body: bytes, forward: Forward) -> Answer:
    if chance.random() < 0.5:
        forward()  # it was stored, and the sender is not told
    return Answer(500, b"{}")


def _busy(_random: random.Random, _body: bytes, _forward: Forward) -> Answer:
    return Answer(429, b"{}")


def _too_large(_random: random.Random, body: bytes, forward: Forward) -> Answer:
    return forward() if len(msgspec.json.decode(body)) <= _MOST else Answer(413, b"{}")


def _truncated(chance: random.Random, _body: bytes, forward: Forward) -> Answer:
    status, content, _ = forward()
    if chance.random() < 0.5:
        return Answer(status, content, cut_at=len(content) // 2)  # less than was announced
    return Answer(status, content[: len(content) // 2])


def _rejecting(chance: random.Random, body: bytes, forward: Forward) -> Answer:
    """Take all, and claim that some were refused."""
    status, _, _ = forward()
    events = msgspec.json.decode(body)
    refused = [
        {"index": index, "event_id": event["event_id"], "reason": "schema: a drill says so"}
        for index, event in enumerate(events)
        if chance.random() < 0.1
    ]
    answer = {"accepted": len(events) - len(refused), "duplicates": 0, "rejected": refused}
    return Answer(status, msgspec.json.encode(answer))


#: What a post may meet, by name.
FAULTS: dict[str, Fault] = {
    "reporting-down": _down,
    "reporting-slow": _slow,
    "reporting-500": _failing,
    "reporting-429": _busy,
    "reporting-413": _too_large,
    "reporting-truncated": _truncated,
    "reporting-rejecting": _rejecting,
}
#: Faults a sender does not take for a failure; these may follow each other without end.
_HARMLESS = {"reporting-slow", "reporting-rejecting", "reporting-413"}


class Shim:
    """Carries posts to a Reporting API from a free port of 127.0.0.1, some of them badly.

    Attributes:
        port: where it listens.
        faults: name to how often it struck.
    """

    def __init__(self, url: str, names: tuple[str, ...], *, seed: int, share: float = 0.5) -> None:
        """Listen, and carry to `url`.

        Args:
            url: base URL of the Reporting API.
            names: of `FAULTS`.
            seed: of what strikes when.
            share: part of the posts that meet a fault; never more than two failing ones in a row.
        """
        self._url = url
        self._names = names
        self._random = random.Random(seed)  # noqa: S311 - reproducible, no secret
        self._share = share
        self._in_a_row = 0
        self._lock = threading.Lock()
        self.faults = dict.fromkeys(names, 0)
        shim = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                token = self.headers["Authorization"]
                with contextlib.suppress(OSError):  # the sender may be gone
                    shim._answer(self, shim._judge(self.path, token, body))

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_port
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.05},
            name=f"shim-{self.port}",
            daemon=True,
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """Base URL, for a sender."""
        return f"http://127.0.0.1:{self.port}"

    def settle(self) -> None:
        """Carry everything well from now on."""
        self._share = 0.0

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _judge(self, path: str, token: str | None, body: bytes) -> Answer:
        def forward() -> Answer:
            try:
                answer = requests.post(
                    f"{self._url}{path}",
                    data=body,
                    headers={"Authorization": token or "", "Content-Type": "application/json"},
                    timeout=_TIMEOUT,
                )
            except requests.RequestException:
                return Answer(502, b"{}")
            return Answer(answer.status_code, answer.content)

        with self._lock:
            name = self._next()
            chance = random.Random(self._random.getrandbits(64))  # noqa: S311 - as above
        return FAULTS[name](chance, body, forward) if name else forward()

    def _next(self) -> str:
        if self._in_a_row >= _IN_A_ROW or self._random.random() >= self._share:
            self._in_a_row = 0
            return ""
        name = self._random.choice(self._names)
        self._in_a_row += name not in _HARMLESS
        self.faults[name] += 1
        return name

    @staticmethod
    def _answer(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        handler.close_connection = not answer.status or answer.cut_at is not None
        if not answer.status:
            return
        handler.send_response(answer.status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(answer.content)))
        handler.end_headers()
        handler.wfile.write(answer.content[: answer.cut_at])
