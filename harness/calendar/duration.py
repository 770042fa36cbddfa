"""Spans of time as flags spell them: ``300s``, ``5m``, ``24h``, ``1h30m``, ``0.5s``."""

from __future__ import annotations

import re
from decimal import Decimal

from harness.errors import HarnessError

_UNITS = {"h": Decimal(3600), "m": Decimal(60), "s": Decimal(1), "ms": Decimal("0.001")}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|h|m|s)")
_FORM = re.compile(rf"([+-]?)((?:{_PART.pattern})+|0)")


class DurationError(HarnessError):
    """A text that names no span of time."""


def parse_duration(text: str) -> float:
    """Return the seconds a text spells; a sign in front is allowed, and ``0`` without a unit.

    Raises:
        DurationError: the text has another form.
    """
    match = _FORM.fullmatch(text)
    if not match:
        raise DurationError(
            f'"{text}" is not a duration; spell it with h, m, s or ms, as in 300s, 5m or 1h30m'
        )
    parts = _PART.findall(match[2])
    seconds = float(sum((Decimal(number) * _UNITS[unit] for number, unit in parts), Decimal()))
    return -seconds if match[1] == "-" else seconds
