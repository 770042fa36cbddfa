"""The body of an ingest request, cut into the JSON texts of its items."""

from __future__ import annotations

import json
from typing import NoReturn

import msgspec

from harness.reporting.problem import Problem, contract

MOST = 1000

_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_BLANK = " \t\n\r"


def split(body: bytes) -> list[bytes]:
    """Return the items of an array, or the one item that the body is.

    Raises:
        Problem: 400 when the body is no JSON array or object, 413 when it holds too many items.
    """
    if body.lstrip(_BLANK.encode())[:1] not in {b"[", b"{"}:
        raise contract(("body", "must be an event, or an array of events, in JSON"))
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise contract(("body", f"is no UTF-8: {error.reason} at byte {error.start}")) from error
    try:
        whole = body if body.lstrip(_BLANK.encode()).startswith(b"[") else b"[" + body + b"]"
        items = [bytes(item) for item in _ARRAY.decode(whole)]
    except RecursionError as error:
        raise contract(("body", "nests deeper than 1000 levels")) from error
    except msgspec.DecodeError:
        items = _split_leniently(text.strip(_BLANK))
    if len(items) > MOST:
        raise Problem("payload_too_large", f"a batch carries at most {MOST} events")
    return items


def _split_leniently(text: str) -> list[bytes]:
    """Cut a body that only a lone surrogate keeps from being decoded in one go."""
    decoder = json.JSONDecoder(parse_constant=_no_constant, parse_int=len, parse_float=len)
    try:
        json.loads(text, parse_constant=_no_constant, parse_int=len, parse_float=len)
        if text.startswith("{"):
            return [text.encode()]
        items = []
        at = _blanks(text, 1)
        while text[at] != "]":
            _, end = decoder.raw_decode(text, at)
            items.append(text[at:end].encode())
            at = _blanks(text, end)
            if text[at] == ",":
                at = _blanks(text, at + 1)
    except RecursionError as error:
        raise contract(("body", "nests deeper than 1000 levels")) from error
    except ValueError as error:
        raise contract(("body", f"is no JSON: {error}")) from error
    return items


def _blanks(text: str, at: int) -> int:
    while text[at] in _BLANK:
        at += 1
    return at


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
