"""Billing periods: the months of the calendar, in UTC."""

from __future__ import annotations

import calendar
import re
import time
from dataclasses import dataclass

from harness.errors import HarnessError

_FORM = re.compile(r"(\d{4})-(\d{2})")


class PeriodError(HarnessError):
    """A text that names no billing period."""


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """A calendar month in UTC, ``[start, end)``.

    Attributes:
        year: four-digit year, 1 to 9998.
        month: 1 to 12.
    """

    year: int
    month: int

    @classmethod
    def parse(cls, text: str) -> Period:
        """Read ``YYYY-MM``.

        Raises:
            PeriodError: the text has another form or names no month.
        """
        match = _FORM.fullmatch(text)
        if match and text.isascii():
            year, month = int(match[1]), int(match[2])
            if 1 <= year <= 9998 and 1 <= month <= 12:
                return cls(year, month)
        raise PeriodError(f'"{text}" is not a YYYY-MM month')

    @classmethod
    def last_ended(cls, now: float | None = None) -> Period:
        """Return the last month that is over at `now` (Unix seconds, default: the present)."""
        moment = time.gmtime(now)
        return cls(moment.tm_year, moment.tm_mon).previous()

    @property
    def start(self) -> int:
        """First instant of the month, in Unix seconds."""
        return calendar.timegm((self.year, self.month, 1, 0, 0, 0))

    @property
    def end(self) -> int:
        """First instant of the following month, in Unix seconds."""
        return self.next().start

    def next(self) -> Period:
        """Return the following month."""
        return Period(self.year + self.month // 12, self.month % 12 + 1)

    def previous(self) -> Period:
        """Return the preceding month."""
        return Period(self.year - (self.month == 1), (self.month - 2) % 12 + 1)

    def has_ended(self, now: float | None = None) -> bool:
        """Tell whether the month is over at `now` (Unix seconds, default: the present)."""
        return self.end <= (time.time() if now is None else now)

    def __str__(self) -> str:
        return f"{self.year:04d}-{self.month:02d}"
