"""Billing periods, the working-week profile, durations, and instants."""

from harness.calendar.duration import DurationError, parse_duration
from harness.calendar.instant import rfc3339, stamp
from harness.calendar.period import Period, PeriodError

__all__ = ["DurationError", "Period", "PeriodError", "parse_duration", "rfc3339", "stamp"]
