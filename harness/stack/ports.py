"""Ports the system chose."""

from __future__ import annotations

import contextlib
import socket


def free_ports(count: int) -> list[int]:
    """Return that many different TCP ports of 127.0.0.1 that were free a moment ago."""
    with contextlib.ExitStack() as stack:
        ports = []
        for _ in range(count):
            held = stack.enter_context(socket.socket())
            held.bind(("127.0.0.1", 0))
            ports.append(int(held.getsockname()[1]))
        return ports
