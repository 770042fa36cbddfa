"""HTTP connections that end when their client dawdles, and never grow beyond a number."""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class _Phase(Enum):
    """What a connection waits for."""

    IDLE = "the next request"
    HEADER = "the head of a request"
    BODY = "its body"
    ANSWER = "the answer"


class BoundedProtocol(H11Protocol):
    """uvicorn's protocol with limits on what a client may take of the server's patience.

    Attributes:
        patience: seconds a phase may last; an answer is given up only while its client does not
            read it. Idle connections are ended by uvicorn's own keep-alive limit.
        most: connections held at once; one more is closed as it arrives.
    """

    patience: ClassVar[dict[_Phase, float]] = {
        _Phase.HEADER: 5.0,
        _Phase.BODY: 30.0,
        _Phase.ANSWER: 60.0,
    }
    most: ClassVar[int] = 200

    _phase = _Phase.IDLE
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or close it where there are enough of them."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.abort()
        else:
            self._enter(_Phase.HEADER)

    def data_received(self, data: bytes) -> None:
        """Read on, and see what the connection waits for now."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Turn to the next request."""
        self._enter(_Phase.IDLE)
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._enter(_Phase.IDLE)
        super().connection_lost(exc)

    def _look(self) -> None:
        if self.transport.is_closing():
            phase = _Phase.IDLE
        elif self.cycle is None or self.cycle.response_complete:
            phase = _Phase.HEADER if self.conn.trailing_data[0] else self._phase
        elif self.conn.their_state is h11.SEND_BODY:
            phase = _Phase.BODY
        else:
            phase = _Phase.ANSWER
        if phase is not self._phase:
            self._enter(phase)

    def _enter(self, phase: _Phase) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._phase = phase
        if phase in self.patience:
            self._timer = self.loop.call_later(self.patience[phase], self._give_up)

    def _give_up(self) -> None:
        if self._phase is _Phase.ANSWER and not self.flow.write_paused:
            self._enter(_Phase.ANSWER)  # the server itself takes its time
        else:
            self.transport.abort()
