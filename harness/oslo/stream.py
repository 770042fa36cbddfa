"""Stream files: the notifications of a month, one a line, in publication order.

A line is a JSON object of ``exchange``, ``routing_key`` and ``body``, the last being the oslo
envelope. Reading and writing never re-encode it: its bytes are those that are published.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import msgspec

from harness.errors import HarnessError
from harness.oslo import render
from harness.oslo.envelope import Unparseable, parse
from harness.oslo.notification import EXCHANGES, Notification

#: A line of more bytes, its line end not counted, is not read.
LINE_MAX = 1 << 20


class StreamError(HarnessError):
    """A stream file that cannot be read or written; the text names path, line and cause."""


class _Line(msgspec.Struct):
    exchange: str
    routing_key: str
    body: msgspec.Raw


_decode = msgspec.json.Decoder(_Line).decode


def write_stream(path: Path, notifications: Iterable[Notification]) -> int:
    """Write a stream file and return its number of lines.

    Raises:
        StreamError: the file cannot be written.
    """
    count = 0
    try:
        with path.open("wb") as file:
            for notification in notifications:
                file.write(render.line(notification))
                count += 1
    except OSError as error:
        raise StreamError(f"writing {path}: {error.strerror or error}") from error
    return count


def read_stream(path: Path) -> Iterator[Notification]:
    """Yield the notifications of a stream file, strictly.

    A line that is too long or no JSON, names an exchange the simulated cloud does not publish to,
    or carries a body the collector could not parse is refused, and so is an empty file. Whoever
    must not start on a broken file lists all of it first.

    Raises:
        StreamError: see above, or the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            yield from read_opened(file, path)
    except OSError as error:
        raise StreamError(f"reading {path}: {error.strerror or error}") from error


def read_opened(file: IO[bytes], path: Path) -> Iterator[Notification]:
    """Yield the notifications of an open stream file, as strictly as `read_stream`.

    Args:
        file: its lines, decompressed.
        path: what errors call it.
    """
    number = 0
    while text := file.readline(LINE_MAX + 2):
        number += 1
        try:
            notification = _read_line(text.removesuffix(b"\n"))
        except _Refused as error:
            raise StreamError(f"{path}: line {number}: {error}") from error
        yield notification
    if not number:
        raise StreamError(f"{path} holds no notifications")


class _Refused(Exception):
    """Why a line is refused."""


def _read_line(text: bytes) -> Notification:
    if len(text) > LINE_MAX:
        raise _Refused(f"the line is longer than {LINE_MAX} bytes")
    try:
        line = _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise _Refused(f"not a line of exchange, routing_key and body: {error}") from error
    if line.exchange not in EXCHANGES:
        raise _Refused(
            f'exchange "{line.exchange}" is none of the simulated cloud\'s: {", ".join(EXCHANGES)}'
        )
    body = bytes(line.body)
    try:
        parse(body)
    except Unparseable as error:
        raise _Refused(str(error)) from error
    return Notification(line.exchange, line.routing_key, body)
