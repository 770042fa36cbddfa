"""Publishing through restarts of the broker, with halts at given places of the stream."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence

from harness.broker import BrokerError, Publisher
from harness.oslo import Notification

_GROUP = 200
_PATIENCE = 180.0
_PAUSE = 0.5

#: Given the length of a stream: the places to halt at, ascending, and what to do at each.
Halts = Callable[[int], Sequence[tuple[int, Callable[[], None]]]]


class SteadyPublisher:
    """Publishes in order, each message confirmed at least once.

    A group in which something was not confirmed is published again as a whole once the broker is
    back, so a message may be on the bus twice, and none is missing.
    """

    def __init__(self, connect: Callable[[], Publisher], halts: Halts) -> None:
        """Connect at once.

        Args:
            connect: makes a publisher; called again after each failure.
            halts: where to halt, and what for.

        Raises:
            BrokerError: the broker cannot be reached.
        """
        self._connect = connect
        self._halts = halts
        self._publisher: Publisher | None = connect()

    def publish(
        self,
        notifications: Iterable[Notification],
        *,
        confirmed: Callable[[int], None] | None = None,
    ) -> int:
        """Publish all, and return how many there were; see `harness.broker.Publisher`."""
        stream = list(notifications)
        done = 0
        for place, act in [*self._halts(len(stream)), (len(stream), _nothing)]:
            while done < place:
                group = stream[done : min(done + _GROUP, place)]
                self._push(group)
                done += len(group)
                if confirmed:
                    confirmed(done)
            act()
        return len(stream)

    def close(self) -> None:
        """Close the connection; closing twice is harmless."""
        if self._publisher is not None:
            with contextlib.suppress(BrokerError):
                self._publisher.close()
            self._publisher = None

    def _push(self, group: Sequence[Notification]) -> None:
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                if self._publisher is None:
                    self._publisher = self._connect()
                self._publisher.publish(group)
            except BrokerError:
                if time.monotonic() > end:
                    raise
                self.close()
                time.sleep(_PAUSE)
            else:
                return


def _nothing() -> None:
    """Do nothing at the end of the stream."""
