"""Structured logs: one JSON object a line."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import msgspec

LEVELS = ("DEBUG", "INFO", "WARN", "ERROR")


class JsonLines(logging.Formatter):
    """Render a record as ``{"time", "level", "msg", "service", …}``.

    What a call passes as ``extra={"fields": {…}}`` is added member by member.
    """

    def __init__(self, service: str) -> None:
        """Name the service every line carries."""
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        """Return the line without its line end."""
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            "time": f"{seconds}.{int(record.msecs):03d}Z",
            "level": {"WARNING": "WARN"}.get(record.levelname, record.levelname),
            "msg": record.getMessage(),
            "service": self._service,
        }
        line.update(getattr(record, "fields", {}))
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line, enc_hook=str).decode()


def configure(service: str, level: str, stream: IO[str] | None = None) -> None:
    """Send every log line of the process to `stream` (stdout) as JSON.

    Args:
        service: the subcommand.
        level: one of `LEVELS`.
        stream: where the lines go.
    """
    handler = logging.StreamHandler(stream or sys.stdout)
    handler.setFormatter(JsonLines(service))
    logging.basicConfig(
        level=logging.WARNING if level == "WARN" else level, handlers=[handler], force=True
    )
    logging.getLogger("pika").setLevel(logging.CRITICAL)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)


class _Lines:
    """A stream that passes each line on."""

    def __init__(self, show: Callable[[str], object]) -> None:
        self._show = show

    def write(self, text: str) -> None:
        self._show(text.removesuffix("\n"))

    def flush(self) -> None:
        """Keep nothing, so that there is nothing to do."""


@contextmanager
def above(show: Callable[[str], object]) -> Iterator[None]:
    """While entered, pass log lines that would go to a terminal to `show` instead.

    For what keeps drawing on that terminal and would be broken by lines in between. Lines that go
    to a file or a pipe still do.
    """
    handlers = [
        (handler, handler.stream)
        for handler in logging.getLogger().handlers
        if isinstance(handler, logging.StreamHandler) and handler.stream.isatty()
    ]
    for handler, _ in handlers:
        handler.setStream(_Lines(show))
    try:
        yield
    finally:
        for handler, stream in handlers:
            handler.setStream(stream)
