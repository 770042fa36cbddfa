"""Instants of the Reporting API: whole microseconds since 1970-01-01 UTC, held as ``int``."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?P<fraction>\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
)

#: The first and the last instant that can be written with a four-digit year.
EARLIEST = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND
LATEST = (datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC) - _EPOCH) // _MICROSECOND


def now() -> int:
    """Return the machine's instant."""
    return time.time_ns() // 1000


def of(moment: datetime) -> int:
    """Return the instant of an aware `moment`.

    Raises:
        ValueError: in UTC it lies outside of the years 1 … 9999.
    """
    instant = (moment - _EPOCH) // _MICROSECOND
    if not EARLIEST <= instant <= LATEST:
        raise ValueError(f'"{moment.isoformat()}" lies outside of the years 1 to 9999')
    return instant


def parse(text: str) -> int:
    """Read RFC 3339; digits beyond the microsecond are dropped.

    Raises:
        ValueError: `text` is no RFC 3339 instant.
    """
    found = _RFC3339.fullmatch(text)
    if found is None:
        raise ValueError(f'"{text[:64]}" is no RFC 3339 instant, such as 2026-07-01T00:00:00Z')
    fraction = found["fraction"] or ""
    plain = text.replace(fraction, fraction[:7], 1) if fraction else text
    try:
        return of(datetime.fromisoformat(plain.upper()))
    except (ValueError, OverflowError) as error:
        raise ValueError(f'"{text[:64]}" is no instant of the calendar') from error


def rfc3339(instant: int) -> str:
    """Write an instant as RFC 3339 in UTC, its fraction without trailing zeros."""
    moment = _EPOCH + timedelta(microseconds=instant)
    text = moment.isoformat()[:19]
    fraction = f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else ""
    return f"{text}{fraction}Z"
