"""An ASGI app served beside other work, in a thread of its own."""

from __future__ import annotations

import socket
import threading
import time
from types import TracebackType
from typing import Any, Self

import uvicorn

from harness.errors import HarnessError
from harness.service.protocol import BoundedProtocol

#: Bytes of a request's line and headers. A cursor alone may have 8192 characters, of twelve bytes
#: each in a URL; what is longer than this is not answered but cut off.
_HEAD_MAX = 256 << 10


class ListenError(HarnessError):
    """The address cannot be listened on."""


class _Server(uvicorn.Server):
    """A server that leaves the process's signals alone."""

    def install_signal_handlers(self) -> None:
        """Leave signals to the process that started the listener."""


class Listener:
    """Serves `app` on an address until closed; port 0 lets the system choose.

    Attributes:
        port: the port it listens on.
    """

    def __init__(self, app: Any, address: str, port: int, **options: Any) -> None:
        """Bind at once, so a taken port is an error here.

        Args:
            app: the ASGI application.
            address: address to bind, ``127.0.0.1`` unless an operator says otherwise.
            port: 0 … 65535.
            options: further settings of `uvicorn.Config`.

        Raises:
            ListenError: the address is taken or not of this machine.
        """
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((address, port))
        except OSError as error:
            self._socket.close()
            raise ListenError(f"listening on {address} port {port}: {error}") from error
        self.port: int = self._socket.getsockname()[1]
        settings: dict[str, Any] = {
            "http": BoundedProtocol,
            "h11_max_incomplete_event_size": _HEAD_MAX,
            "ws": "none",
            "timeout_keep_alive": 120,
            "log_config": None,
            "log_level": "warning",
            "access_log": False,
            "lifespan": "off",
            "timeout_graceful_shutdown": 10,
        }
        self._server = _Server(uvicorn.Config(app, **(settings | options)))
        self._thread = threading.Thread(
            target=self._server.run,
            kwargs={"sockets": [self._socket]},
            name=f"listener-{self.port}",
            daemon=True,
        )

    def start(self) -> Self:
        """Start serving and wait until the listener answers."""
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.005)
        if not self._server.started:
            raise ListenError(f"the listener on port {self.port} did not start")
        return self

    def close(self) -> None:
        """Stop serving, letting requests under way finish within ten seconds."""
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join(15)
        self._socket.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
