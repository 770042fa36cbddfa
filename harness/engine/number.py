"""The arithmetic of usage and money: exact decimals, halves away from zero."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from functools import lru_cache
from typing import Any

_TRAPS = [InvalidOperation, DivisionByZero, Overflow]
#: Wide enough for the longest readable quantity times the longest price.
_EXACT = Context(prec=2400, rounding=ROUND_HALF_UP, traps=_TRAPS)
_QUOTIENT = Context(prec=60, rounding=ROUND_HALF_UP, traps=_TRAPS)

_CENT = Decimal("0.01")
_FOUR = Decimal("0.0001")
_TWENTY_EIGHT = Decimal(1).scaleb(-28)
_SIXTY = Decimal(60)
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,4})?")
_LONGEST = 64
_LARGEST_EXPONENT = 1000

ZERO = Decimal("0.0000")

multiply = _EXACT.multiply
_quantize = _EXACT.quantize
add = _EXACT.add
subtract = _EXACT.subtract


def to_cents(number: Decimal) -> Decimal:
    """Round to whole cents; a half moves away from zero."""
    return _quantize(number, _CENT)


def to_four(number: Decimal) -> Decimal:
    """Round to the fourth place; a half moves away from zero."""
    return _quantize(number, _FOUR)


@lru_cache(maxsize=1024)
def minutes(seconds: int) -> Decimal:
    """Return whole seconds as minutes, at four places."""
    return _quantize(_QUOTIENT.divide(Decimal(seconds), _SIXTY), _FOUR)


def hours(rounded_minutes: Decimal) -> Decimal:
    """Return minutes that were rounded already as hours, at 28 places."""
    return _quantize(_QUOTIENT.divide(rounded_minutes, _SIXTY), _TWENTY_EIGHT)


def divide(dividend: int, divisor: int) -> Decimal:
    """Divide two whole numbers, rounded once, at four places."""
    return to_four(_QUOTIENT.divide(Decimal(dividend), Decimal(divisor)))


def total(amounts: list[Decimal]) -> Decimal:
    """Add amounts of two places; nothing is rounded again."""
    result = Decimal("0.00")
    for amount in amounts:
        result = _EXACT.add(result, amount)
    return result


def exact(text: str) -> Decimal | str:
    """Read a JSON number with a fraction or an exponent; one no decimal can hold stays a text."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return text


def quantity(value: Any) -> Decimal | None:
    """Read a usage member as a quantity, at four places.

    Texts that spell a number are read. None means unreadable: another kind of value, more than
    64 characters, or an exponent beyond 1,000.
    """
    if isinstance(value, int):
        readable = not isinstance(value, bool) and abs(value) < 10**_LONGEST
        return to_four(Decimal(value)) if readable else None
    if isinstance(value, str):
        if len(value) > _LONGEST or not _NUMBER.fullmatch(value):
            return None
        value = Decimal(value)
    if not isinstance(value, Decimal) or not value.is_finite():
        return None
    if abs(value.adjusted()) > _LARGEST_EXPONENT or len(value.as_tuple().digits) > _LONGEST:
        return None
    return to_four(value)
