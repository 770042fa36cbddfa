"""Letting messages go at the pace of a virtual clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.broker.clock import VirtualClock
from harness.oslo import Notification
from harness.recording.instants import NANO, head


class Pace:
    """Holds each message back until its instant; order is never changed.

    What is behind the clock, or carries no instant, is not held back at all.

    Attributes:
        lag: the longest a message that was not older than those before it went out behind its
            instant, in wall seconds: how far the publication fell behind its clock.
        interrupted: whether the clock was interrupted before the last message went out.
    """

    def __init__(self, clock: VirtualClock) -> None:
        """Follow `clock`."""
        self._clock = clock
        self.lag = 0.0
        self.interrupted = False

    def __call__(self, notifications: Iterable[Notification]) -> Iterator[Notification]:
        """Yield each message when its time has come."""
        latest = float("-inf")
        for notification in notifications:
            if self._clock.factor == 0:
                if not self._clock.sleep_until(latest):
                    self.interrupted = True
                    return
                yield notification
                continue
            known = head(notification.body)
            instant = latest if known is None else known.instant / NANO
            if not self._clock.sleep_until(instant):
                self.interrupted = True
                return
            if known is not None and instant >= latest:
                latest = instant
                self.lag = max(self.lag, self._clock.lag(instant))
            yield notification
