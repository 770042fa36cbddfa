"""The virtual clock: month time at a pace that may change while it runs."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from harness.errors import UsageError

#: Most wall seconds waited in one go.
_LONGEST_WAIT = 3600.0


class VirtualClock:
    """A clock that runs `factor` times as fast as the wall.

    Virtual now is ``base + (wall time since the last rebase) * factor``. At factor 744 a month of
    31 days takes an hour. At factor 0 the clock stands still and nobody who sleeps on it waits.
    Every method may be called from any thread.
    """

    def __init__(
        self,
        base: float,
        factor: float,
        *,
        wall: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start the clock.

        Args:
            base: the virtual instant it starts at, in Unix seconds.
            factor: zero or more.
            wall: seconds that never go back.

        Raises:
            UsageError: the factor is negative or no number.
        """
        self._factor = _checked(factor)
        self._base = float(base)
        self._wall = wall
        self._since = wall()
        self._changed = threading.Condition()
        self._interrupted = False

    @property
    def factor(self) -> float:
        """How many virtual seconds pass in one of the wall."""
        with self._changed:
            return self._factor

    def now(self) -> float:
        """Return the virtual instant, in Unix seconds."""
        with self._changed:
            return self._now()

    def set_factor(self, factor: float) -> None:
        """Change the pace from the virtual instant reached on, and wake everybody who sleeps.

        Raises:
            UsageError: the factor is negative or no number; the clock runs on as before.
        """
        _checked(factor)
        with self._changed:
            now = self._wall()
            self._base += (now - self._since) * self._factor
            self._since = now
            self._factor = float(factor)
            self._changed.notify_all()

    def sleep_until(self, instant: float) -> bool:
        """Wait for a virtual instant; return whether the wait ended undisturbed.

        Nobody waits for an instant that is over, or at factor 0. Returns False, then and
        ever after, once `interrupt` was called.
        """
        with self._changed:
            while not self._interrupted:
                if self._factor == 0 or (ahead := instant - self._now()) <= 0:
                    return True
                self._changed.wait(min(ahead / self._factor, _LONGEST_WAIT))
            return False

    def lag(self, instant: float) -> float:
        """Return how many wall seconds `instant` is behind the clock; 0 where it is not."""
        with self._changed:
            if self._factor == 0:
                return 0.0
            return max(0.0, (self._now() - instant) / self._factor)

    def interrupt(self) -> None:
        """End every sleep, those to come included: the month is being stopped."""
        with self._changed:
            self._interrupted = True
            self._changed.notify_all()

    def _now(self) -> float:
        return self._base + (self._wall() - self._since) * self._factor


def _checked(factor: float) -> float:
    if not (math.isfinite(factor) and factor >= 0):
        raise UsageError(f"factor {factor:g} must be a number, zero or positive")
    return float(factor)
