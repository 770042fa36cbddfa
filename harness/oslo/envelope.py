"""The oslo envelope: bytes from the bus to a notification, every number with its exact digits."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NoReturn

import msgspec

from harness.errors import HarnessError

#: A body of more bytes is not read.
BODY_MAX = 1024 * 1024
#: Arrays and objects nested deeper than this are not read.
DEPTH_MAX = 1000

_LAYER = 250  # decoders recurse at most this deep
_INT_DIGITS_MAX = 4000  # CPython refuses to convert longer texts by default
_NANO = 1_000_000_000
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - arithmetic on UTC wall time without zone objects
_LAST = 253402300799  # 9999-12-31T23:59:59Z
_FIRST = -62135596800  # 0001-01-01T00:00:00Z
_STAMP = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?"
    r"(?:(Z)|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))?"
)
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)


class Unparseable(HarnessError):
    """A body that is no notification; the text says why."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A JSON number that is no plain integer, as it is spelt.

    Attributes:
        text: the number's own text, such as ``1.50`` or ``2e3``.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Envelope:
    """A notification taken out of its envelope.

    Attributes:
        message_id: empty when absent or no text.
        event_type: the oslo type; empty when absent or no text.
        timestamp: nanoseconds since 1970-01-01 UTC.
        payload: JSON value; integers are ``int``, other numbers `Literal`. An empty dict when it
            is no object. What is nested deeper than 250 levels is given as None.
        project_id: ``_context_project_id``, empty when absent or no text.
        tenant_id: ``_context_tenant_id``, empty when absent or no text.
    """

    message_id: str
    event_type: str
    timestamp: int
    payload: dict[str, Any]
    project_id: str
    tenant_id: str


def parse(body: bytes) -> Envelope:
    """Read an oslo envelope, version 2.0.

    Of the inner message only the timestamp is mandatory. Of duplicate members the last one counts.
    A lone surrogate or NUL inside a string is kept as it stands.

    Raises:
        Unparseable: the body exceeds `BODY_MAX` or `DEPTH_MAX`, is no UTF-8 JSON object, carries no
            textual ``oslo.message`` with a JSON object in it, or no readable timestamp.
    """
    if len(body) > BODY_MAX:
        raise Unparseable(f"the body has {len(body)} bytes; at most {BODY_MAX} are read")
    outer = _decode(body, "the envelope")
    try:
        message = outer["oslo.message"]
    except KeyError:
        raise Unparseable("the envelope lacks oslo.message") from None
    if not isinstance(message, str):
        raise Unparseable(f"oslo.message is no text but {_kind(message)}")
    inner = _decode(message, "the inner message")
    payload = inner.get("payload")
    return Envelope(
        _text(inner, "message_id"),
        _text(inner, "event_type"),
        _timestamp(inner.get("timestamp")),
        payload if isinstance(payload, dict) else {},
        _text(inner, "_context_project_id"),
        _text(inner, "_context_tenant_id"),
    )


def rfc3339(timestamp: int) -> str:
    """Write nanoseconds since 1970 as UTC, the fraction without trailing zeros or left out."""
    seconds, nanoseconds = divmod(timestamp, _NANO)
    text = datetime.fromtimestamp(seconds, UTC).isoformat()[:19]
    if nanoseconds:
        return f"{text}.{nanoseconds:09d}".rstrip("0") + "Z"
    return text + "Z"


def _text(inner: dict[str, Any], member: str) -> str:
    value = inner.get(member)
    return value if isinstance(value, str) else ""


def _timestamp(value: Any) -> int:
    if value is None or value == "":
        raise Unparseable("the notification is without a timestamp")
    if isinstance(value, str) and (match := _STAMP.fullmatch(value)):
        wall, fraction, _, sign, hours, minutes = match.groups()
        try:
            gap = datetime.fromisoformat(wall) - _EPOCH
        except ValueError:  # the thirtieth of February
            pass
        else:
            seconds = gap.days * 86400 + gap.seconds
            if sign:
                offset = int(hours) * 3600 + int(minutes) * 60
                seconds += offset if sign == "-" else -offset
            if _FIRST <= seconds <= _LAST:
                return seconds * _NANO + (int(fraction[:9].ljust(9, "0")) if fraction else 0)
    shown = f'"{value[:64]}"' if isinstance(value, str) else _kind(value)
    raise Unparseable(
        f"timestamp {shown} is in no known layout: "
        "YYYY-MM-DD HH:MM:SS with or without a fraction, or RFC 3339"
    )


# Decoding: msgspec reads what is ordinary, the standard library what msgspec refuses but JSON
# parsers in the field accept (lone surrogates, integers of thousands of digits). Where both
# succeed they agree.

_decoder = msgspec.json.Decoder(float_hook=Literal)


def _decode(text: str | bytes, what: str) -> dict[str, Any]:
    try:
        if _brackets(text) > _LAYER:
            text = _flatten(text if isinstance(text, str) else text.decode())
        try:
            value = _decoder.decode(text)
        except (msgspec.DecodeError, UnicodeError):
            value = _decode_slowly(text if isinstance(text, str) else text.decode())
    except ValueError as error:
        raise Unparseable(f"decoding {what}: {error}") from None
    if not isinstance(value, dict):
        raise Unparseable(f"decoding {what}: not an object but {_kind(value)}")
    return value


def _decode_slowly(text: str) -> Any:
    return json.loads(
        text, parse_float=Literal, parse_int=_integer, parse_constant=_refuse_constant
    )


def _integer(text: str) -> int | Literal:
    return int(text) if len(text) <= _INT_DIGITS_MAX else Literal(text)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _brackets(text: str | bytes) -> int:
    if isinstance(text, str):
        return text.count("[") + text.count("{")
    return text.count(b"[") + text.count(b"{")


def _flatten(text: str) -> str:
    """Put null where a subtree starts at a multiple of `_LAYER` levels, each subtree checked.

    Decoders recurse; this keeps a body of a thousand levels from running into the interpreter's
    own limit, which depends on who calls.

    Raises:
        ValueError: deeper than `DEPTH_MAX`, or a subtree is no JSON.
    """
    depth, position = 0, 0
    layers: list[list[str]] = [[]]
    for token in _TOKEN.finditer(text):
        first = token[0][0]
        if first in "[{":
            depth += 1
            if depth > DEPTH_MAX:
                raise ValueError(f"nested deeper than {DEPTH_MAX} levels")
            if depth % _LAYER == 0:
                layers[-1].append(text[position : token.start()])
                position = token.start()
                layers.append([])
        elif first in "]}":
            if depth % _LAYER == 0 and len(layers) > 1:
                layers[-1].append(text[position : token.end()])
                position = token.end()
                _decode_slowly("".join(layers.pop()))
                layers[-1].append("null")
            depth -= 1
    layers[-1].append(text[position:])
    return "".join(piece for layer in layers for piece in layer)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    for kind, name in ((dict, "an object"), (list, "an array"), (str, "a string")):
        if isinstance(value, kind):
            return name
    return "a number"
