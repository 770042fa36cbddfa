"""JSON as the canonical event is written: compact, keys in byte order, numbers exact."""

from __future__ import annotations

import re
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

from harness.oslo.envelope import Literal

_SPECIAL = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
_WORDS = {True: "true", False: "false", None: "null"}


def write(value: Any) -> str:
    """Write a JSON value; numbers are ``int``, `Decimal`, ``float`` or `Literal`.

    A `Decimal` is written in its shortest form, a `Literal` as it was spelt.
    """
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{quote(name)}:{write(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write, value)) + "]"
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, Decimal):
        return plain(value)
    return value.text if isinstance(value, Literal) else str(value)


def quote(text: str) -> str:
    """Write a string; ``<``, ``>``, ``&``, U+2028, U+2029 and lone surrogates are escaped."""
    quoted = encode_basestring(text)
    if _SPECIAL.search(quoted):
        return _SPECIAL.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
    return quoted


def plain(number: Decimal) -> str:
    """Write a decimal in its shortest form: no exponent, no trailing zeros, no negative zero."""
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
