"""Instants of the engine: whole microseconds since 1970-01-01 UTC."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from harness.calendar import Period, rfc3339

SECOND = 1_000_000


def now() -> int:
    """Return the present."""
    return time.time_ns() // 1000


def spell(instant: int) -> str:
    """Write an instant as RFC 3339 in UTC, the fraction only when there is one."""
    seconds, micros = divmod(instant, SECOND)
    text = rfc3339(seconds)
    return f"{text[:-1]}.{micros:06d}".rstrip("0") + "Z" if micros else text


def read(text: str) -> int:
    """Read what `spell` wrote."""
    moment = datetime.fromisoformat(text)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def bounds(period: Period) -> tuple[int, int]:
    """Return the first instant of a period and the first one after it."""
    return period.start * SECOND, period.end * SECOND
