"""A TCP proxy that cuts and delays what it carries, reproducibly."""

from __future__ import annotations

import contextlib
import random
import socket
import struct
import threading
import time
from types import TracebackType
from typing import Self

_PIECE = 65536
_BACKLOG = 64


class Proxy:
    """Carries TCP connections from a free port of 127.0.0.1 to a target until closed.

    Attributes:
        port: where it listens.
        carried: connections accepted so far.
        severed: connections cut so far.
    """

    def __init__(self, host: str, port: int, *, seed: int = 0, delay: float = 0.0) -> None:
        """Listen, and carry to `host`:`port`.

        Args:
            host: of the target.
            port: of the target.
            seed: of the delays.
            delay: seconds a piece is held up at most; each is drawn evenly from 0 to this.
        """
        self._target = (host, port)
        self._random = random.Random(seed)  # noqa: S311 - reproducible, no secret
        self._delay = delay
        self._lock = threading.Lock()
        self._links: set[_Link] = set()
        self._refusing = False
        self._closed = False
        self.carried = 0
        self.severed = 0
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, name=f"proxy-{self.port}", daemon=True)
        self._thread.start()

    def cut(self) -> int:
        """Reset every connection there is, in both directions; return how many."""
        with self._lock:
            links, self._links = self._links, set()
            self.severed += len(links)
        for link in links:
            link.reset()
        return len(links)

    def refuse(self, *, refusing: bool) -> None:
        """Reset new connections as soon as they come, or carry them again."""
        self._refusing = refusing

    def delay(self, seconds: float) -> None:
        """Hold up each piece for up to `seconds` from now on."""
        self._delay = seconds

    def close(self) -> None:
        """Cut everything and listen no more."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        self.cut()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _accept(self) -> None:
        while not self._closed:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if self._refusing:
                _reset(near)
                continue
            try:
                far = socket.create_connection(self._target, timeout=10)
            except OSError:
                _reset(near)
                continue
            far.settimeout(None)
            link = _Link(near, far)
            with self._lock:
                self._links.add(link)
                self.carried += 1
            for source, sink in ((near, far), (far, near)):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._carry, args=(source, sink, link), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket, link: _Link) -> None:
        try:
            while piece := source.recv(_PIECE):
                self._hold_up()
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:  # one end is gone, so the other has to go
            link.reset()
            over = True
        else:
            over = link.end_one_way()
        if over:
            with self._lock:
                self._links.discard(link)

    def _hold_up(self) -> None:
        if self._delay:
            with self._lock:
                seconds = self._random.uniform(0, self._delay)
            time.sleep(seconds)


class _Link:
    """The two sockets of a carried connection."""

    def __init__(self, near: socket.socket, far: socket.socket) -> None:
        self._ends = (near, far)
        self._lock = threading.Lock()
        self._ended = 0

    def end_one_way(self) -> bool:
        """Take the end of one direction into account; close and return True after the second."""
        with self._lock:
            self._ended += 1
            if self._ended < len(self._ends):
                return False
        for end in self._ends:
            end.close()
        return True

    def reset(self) -> None:
        """End both directions at once."""
        for end in self._ends:
            _reset(end)


def _reset(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        # Linger of zero seconds: a reset in place of a farewell.
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        end.shutdown(socket.SHUT_RDWR)
    end.close()
