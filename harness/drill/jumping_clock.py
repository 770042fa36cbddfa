"""A wall clock that jumps: in a process that loads this file as its ``sitecustomize``.

The variable `VARIABLE` names a file that holds the offset in seconds; without it nothing happens.
Clocks that only go forward are left alone.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

VARIABLE = "TALLY_DRILL_CLOCK"


def install(path: Path) -> None:
    """Shift this process's wall clock by what the file at `path` says whenever it is read."""
    true_time, true_nanoseconds = time.time, time.time_ns

    def offset() -> float:
        try:
            return float(path.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0.0

    time.time = lambda: true_time() + offset()
    time.time_ns = lambda: true_nanoseconds() + int(offset() * 1_000_000_000)


if os.environ.get(VARIABLE):
    install(Path(os.environ[VARIABLE]))
