"""How far a month's publication is, and the hold before its last part."""

from __future__ import annotations

import threading
from enum import Enum

from harness.errors import HarnessError


class Phase(Enum):
    """Where a publication stands; it only ever moves on."""

    PUBLISHING = "publishing"
    HOLDING = "holding"
    RELEASED = "released"


class ReleaseRefused(HarnessError):
    """There is nothing to release, not yet, or not any more."""


class Publication:
    """The state a run's publisher writes and its control endpoint reads; thread-safe."""

    def __init__(self, total: int, held: int) -> None:
        """Start at nothing published.

        Args:
            total: notifications in all, the held ones included.
            held: notifications kept back until a release.
        """
        self.total = total
        self._held = held
        self._published = 0
        self._phase = Phase.PUBLISHING
        self._changed = threading.Condition()
        self._interrupted = False

    @property
    def published(self) -> int:
        """How many notifications the broker has confirmed."""
        return self._published

    @property
    def held(self) -> int:
        """How many are kept back; 0 once they were released."""
        return 0 if self._phase is Phase.RELEASED else self._held

    @property
    def holding(self) -> bool:
        """Whether everything else is out and a release is waited for."""
        return self._phase is Phase.HOLDING

    @property
    def interrupted(self) -> bool:
        """Whether the run is being stopped."""
        return self._interrupted

    def confirm(self, count: int) -> None:
        """State how many notifications are confirmed so far."""
        self._published = count

    def hold(self) -> bool:
        """Wait for the release; return False when `interrupt` ended the wait instead."""
        with self._changed:
            self._phase = Phase.HOLDING
            self._changed.wait_for(lambda: self._interrupted or self._phase is Phase.RELEASED)
            return self._phase is Phase.RELEASED

    def release(self) -> None:
        """End the hold; of two releases at once one succeeds.

        Raises:
            ReleaseRefused: nothing is held, the month is not out yet, or it was released before.
        """
        with self._changed:
            if not self._held:
                raise ReleaseRefused(
                    "this month holds nothing back; --faults held-back makes one that does"
                )
            if self._phase is Phase.PUBLISHING:
                raise ReleaseRefused(
                    "the month is not out yet; wait until /clock says holding, then release"
                )
            if self._phase is Phase.RELEASED:
                raise ReleaseRefused("what was held back is released already")
            self._phase = Phase.RELEASED
            self._changed.notify_all()

    def interrupt(self) -> None:
        """End the wait for a release, now or to come: the run is being stopped."""
        with self._changed:
            self._interrupted = True
            self._changed.notify_all()
