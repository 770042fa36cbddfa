"""The lines of a recording: those of a stream file, and one more shape for other bodies."""

from __future__ import annotations

import base64
import binascii

import msgspec

from harness.oslo import Notification, render
from harness.recording.errors import RecordingError


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    exchange: str
    routing_key: str
    body: msgspec.Raw = msgspec.Raw()
    body_base64: str | None = None


_decode = msgspec.json.Decoder(_Line).decode
_encode = msgspec.json.encode


def write(notification: Notification) -> bytes:
    """Return the line of a message, line feed included.

    A body that is a JSON object on one line stands in it as the very bytes it is; any other one
    is kept as ``body_base64`` in place of ``body``.
    """
    if _stands_alone(notification.body):
        return render.line(notification)
    return b'{"exchange":%b,"routing_key":%b,"body_base64":"%b"}\n' % (
        _encode(notification.exchange),
        _encode(notification.routing_key),
        base64.b64encode(notification.body),
    )


def read(line: bytes) -> Notification:
    """Read a line, given without its line feed.

    Raises:
        RecordingError: it has another shape; the text is the cause alone.
    """
    try:
        read = _decode(line)
        if (read.body_base64 is None) == (not bytes(read.body)):
            raise RecordingError("a line has either a body or a body_base64")
        if read.body_base64 is None and not bytes(read.body).startswith(b"{"):
            raise RecordingError("body is no JSON object; another one is kept as body_base64")
        if read.body_base64 is None:
            body = bytes(read.body)
        else:
            body = base64.b64decode(read.body_base64, validate=True)
    except (msgspec.DecodeError, UnicodeError, RecursionError, binascii.Error) as error:
        raise RecordingError(
            f"not a line of exchange, routing_key and body or body_base64: {error}"
        ) from error
    return Notification(read.exchange, read.routing_key, body)


def _stands_alone(body: bytes) -> bool:
    if not (body.startswith(b"{") and body.endswith(b"}")) or b"\n" in body or b"\r" in body:
        return False
    try:
        msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True
