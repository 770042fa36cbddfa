"""Instants: whole UTC seconds since 1970-01-01, held as ``int``, and how they are written."""

from __future__ import annotations

import time
from functools import lru_cache

MINUTE = 60
HOUR = 3600
DAY = 86400

_TWO_DIGITS = tuple(f"{number:02d}" for number in range(60))


def rfc3339(instant: int) -> str:
    """Write an instant as ``YYYY-MM-DDTHH:MM:SSZ``."""
    return f"{_date(instant // DAY)}T{_clock(instant % DAY)}Z"


def stamp(instant: int) -> str:
    """Write an instant the way oslo notifications do: ``YYYY-MM-DD HH:MM:SS.000000``."""
    return f"{_date(instant // DAY)} {_clock(instant % DAY)}.000000"


def midnight(instant: int) -> int:
    """Return 00:00:00 of the UTC day an instant lies in."""
    return instant - instant % DAY


# A month's texts name few days and many seconds; strftime would work out the date each time,
# and it does not pad years before 1000.
@lru_cache(maxsize=128)
def _date(day: int) -> str:
    moment = time.gmtime(day * DAY)
    return f"{moment.tm_year:04d}-{moment.tm_mon:02d}-{moment.tm_mday:02d}"


def _clock(second: int) -> str:
    hours, minutes, seconds = second // HOUR, second // MINUTE % MINUTE, second % MINUTE
    return f"{_TWO_DIGITS[hours]}:{_TWO_DIGITS[minutes]}:{_TWO_DIGITS[seconds]}"
