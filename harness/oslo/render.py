r"""Writing JSON the way the services of the simulated cloud do.

Compact, members in byte order at every depth, non-ASCII text as UTF-8, and five characters that
HTML or JavaScript would trip over (``<``, ``>``, ``&``, U+2028, U+2029) as ``\u`` escapes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from harness.oslo.notification import Notification

_encode = msgspec.json.Encoder(order="sorted").encode

_ESCAPES = tuple(
    (character.encode(), f"\\u{ord(character):04x}".encode()) for character in "<>&\u2028\u2029"
)
_ASCII_ESCAPES = _ESCAPES[:3]
#: What ``surrogateescape`` makes of a byte that is no UTF-8.
_STRAY = re.compile("[\udc80-\udcff]")


def document(members: Mapping[str, Any]) -> bytes:
    """Return the JSON text of an object.

    The escaped characters can stand inside strings only, which is why replacing them in the text
    is enough.
    """
    text = _encode(members)
    for character, escape in _ASCII_ESCAPES if text.isascii() else _ESCAPES:
        if character in text:
            text = text.replace(character, escape)
    return text


def envelope(message: bytes) -> bytes:
    """Return the oslo envelope around a message, a `document` or the beginning of one.

    Each byte left of a character that was cut through becomes U+FFFD.
    """
    text = message.decode("utf-8", "surrogateescape")
    if not text.isascii():
        text = _STRAY.sub("\ufffd", text)
    return b'{"oslo.message":%b,"oslo.version":"2.0"}' % _encode(text)


def line(notification: Notification) -> bytes:
    """Return a line of a stream file; the body stands in it as it is."""
    return b'{"exchange":%b,"routing_key":%b,"body":%b}\n' % (
        _encode(notification.exchange),
        _encode(notification.routing_key),
        notification.body,
    )
