"""Instants: whole UTC seconds since 1970-01-01, held as ``int``, and how they are written."""

from __future__ import annotations

import time

MINUTE = 60
HOUR = 3600
DAY = 86400


def rfc3339(instant: int) -> str:
    """Write an instant as ``YYYY-MM-DDTHH:MM:SSZ``."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(instant))


def stamp(instant: int) -> str:
    """Write an instant the way oslo notifications do: ``YYYY-MM-DD HH:MM:SS.000000``."""
    return time.strftime("%Y-%m-%d %H:%M:%S.000000", time.gmtime(instant))
