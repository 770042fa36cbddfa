"""Instances from before the month, for the switches ``pre-existing`` and ``missing-create``."""

from __future__ import annotations

from harness.calendar.instant import DAY
from harness.prng import fault

_ONE_IN = 3
_LEAST = DAY
_SPAN = 29 * DAY


class Leads:
    """Draws which classic instances were created before the month, and how long before.

    Both switches draw from the stream of ``pre-existing``, so that both pick the same instances.

    Attributes:
        switch: the one that is on.
    """

    __slots__ = ("_pcg", "_start", "switch")

    def __init__(self, switch: str, seed: int, start: int) -> None:
        """Prepare the draws of a month that starts at `start`, in Unix seconds."""
        self.switch = switch
        self._pcg = fault(seed, "pre-existing")
        self._start = start

    def draw(self) -> int | None:
        """Return the instant the next instance was created at, None to leave it where it is.

        A picked one is at least one day and less than thirty days older than the month.
        """
        if self._pcg.below(_ONE_IN):
            return None
        return self._start - (_LEAST + self._pcg.below(_SPAN))
