"""A month going out on its clock, and held back at its end where a switch says so."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from harness.broker.clock import VirtualClock
from harness.broker.interface import Publisher
from harness.calendar import stamp
from harness.cloud.publication import Publication
from harness.month import Month, Transition
from harness.month.render import notification
from harness.oslo import Notification

_LOG = logging.getLogger("harness.cloud.broadcast")


class Broadcast:
    """Publishes a month in its order, each notification when the clock reaches its instant.

    One whose instant lies behind the clock goes out at once. What is held back follows the release
    without any pacing, under its old timestamps.
    """

    def __init__(self, month: Month, publication: Publication) -> None:
        """Render everything, so that nothing is left but to publish.

        Args:
            month: what to publish.
            publication: told of every confirm, and asked about the release.
        """
        self._stream = month.stream
        self._held = month.held
        # Copies stand twice in the stream and are rendered once.
        rendered: dict[int, Notification] = {}
        for transition in month.stream:
            if id(transition) not in rendered:
                rendered[id(transition)] = notification(transition)
        self._bodies = [rendered[id(transition)] for transition in month.stream]
        self._held_bodies = [notification(transition) for transition in month.held]
        self._publication = publication

    def run(self, publisher: Publisher, clock: VirtualClock) -> bool:
        """Publish all of it; return False when an interrupt ended it early.

        Args:
            publisher: connected.
            clock: the pace; interrupting it ends the broadcast.

        Raises:
            PublishError: a message was not confirmed.
        """
        published = self._publish(publisher, self._paced(clock), self._stream, 0)
        if published < len(self._stream):
            return False
        if not self._held:
            return True
        _LOG.info("holding", extra={"fields": {"held": len(self._held), "hint": "POST /release"}})
        if not self._publication.hold():
            return False
        _LOG.info("releasing", extra={"fields": {"held": len(self._held)}})
        published = self._publish(publisher, self._unpaced(), self._held, len(self._stream))
        return published == len(self._held)

    def _publish(
        self,
        publisher: Publisher,
        notifications: Iterator[Notification],
        transitions: Sequence[Transition],
        offset: int,
    ) -> int:
        logged = 0

        def confirmed(count: int) -> None:
            nonlocal logged
            self._publication.confirm(offset + count)
            if _LOG.isEnabledFor(logging.DEBUG):
                for transition in transitions[logged:count]:
                    _log_published(transition)
                logged = count

        count = publisher.publish(notifications, confirmed=confirmed)
        confirmed(count)
        return count

    def _paced(self, clock: VirtualClock) -> Iterator[Notification]:
        for transition, body in zip(self._stream, self._bodies, strict=True):
            if not clock.sleep_until(transition.instant):
                return
            yield body

    def _unpaced(self) -> Iterator[Notification]:
        for body in self._held_bodies:
            if self._publication.interrupted:
                return
            yield body


def _log_published(transition: Transition) -> None:
    fields = {
        "event_type": transition.event_type,
        "exchange": transition.exchange,
        "message_id": transition.message_id,
        "timestamp": stamp(transition.instant),
    }
    _LOG.debug("published", extra={"fields": fields})
