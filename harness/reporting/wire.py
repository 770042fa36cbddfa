"""JSON in and out, with every number spelt as it arrived."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

_DECODER = msgspec.json.Decoder(float_hook=Decimal)
_ENCODER = msgspec.json.Encoder(decimal_format="number")


def decode(text: str | bytes | msgspec.Raw) -> Any:
    """Return the value of a JSON text, fractions as `Decimal`.

    Raises:
        ValueError: it is no JSON, nests too deeply, or holds a number beyond any use.
    """
    try:
        return _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("the JSON nests too deeply") from error
    except InvalidOperation as error:
        raise ValueError("the JSON holds a number out of range") from error
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from error


def encode(value: Any) -> bytes:
    """Return the JSON text of `value`; `Raw` members are copied as they are."""
    return _ENCODER.encode(value)


def text(value: Any) -> str:
    """Return the JSON text of `value` as a string, for a column."""
    return _ENCODER.encode(value).decode()


def raw(column: str) -> msgspec.Raw:
    """Return the JSON text of a column as a member that is copied as it is."""
    return msgspec.Raw(column.encode())
