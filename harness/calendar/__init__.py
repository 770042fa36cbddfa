"""Billing periods, the working-week profile, and instants."""

from harness.calendar.instant import rfc3339, stamp
from harness.calendar.period import Period, PeriodError

__all__ = ["Period", "PeriodError", "rfc3339", "stamp"]
