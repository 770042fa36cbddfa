"""What a stream of messages holds: counts by type, the span, where it was published."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from harness.oslo import Notification
from harness.oslo.envelope import rfc3339
from harness.recording.instants import head


@dataclass(slots=True)
class Survey:
    """Counts of a stream, kept while it goes by; memory grows with the number of types only.

    Attributes:
        notifications: messages.
        types: oslo type to count, of the messages that are notifications.
        unparseable: messages that are none.
        places: (exchange, routing key) to number of messages.
        first: the earliest instant a message carries, Unix nanoseconds; None while there is none.
        last: the latest one.
        opening: what the first message that carries an instant carries.
        closing: what the last one does.
        months: month, as ``YYYY-MM``, to the number of messages that carry an instant of it.
    """

    notifications: int = 0
    types: Counter[str] = field(default_factory=Counter)
    unparseable: int = 0
    places: Counter[tuple[str, str]] = field(default_factory=Counter)
    first: int | None = None
    last: int | None = None
    opening: int | None = None
    closing: int | None = None
    months: Counter[str] = field(default_factory=Counter)

    def add(self, notification: Notification) -> None:
        """Count a message."""
        self.notifications += 1
        self.places[notification.exchange, notification.routing_key] += 1
        known = head(notification.body)
        if known is None:
            self.unparseable += 1
            return
        self.types[known.event_type] += 1
        self.months[rfc3339(known.instant)[:7]] += 1
        self.opening = known.instant if self.opening is None else self.opening
        self.closing = known.instant
        self.first = known.instant if self.first is None else min(self.first, known.instant)
        self.last = known.instant if self.last is None else max(self.last, known.instant)

    @property
    def exchanges(self) -> tuple[str, ...]:
        """Exchanges messages were published to, sorted."""
        return tuple(sorted({exchange for exchange, _ in self.places}))

    @property
    def routing_keys(self) -> tuple[str, ...]:
        """Keys messages were published under, sorted."""
        return tuple(sorted({key for _, key in self.places}))

    @property
    def month(self) -> str | None:
        """The month most messages are of, the earlier of two; None where no instant is known."""
        if not self.months:
            return None
        return min(self.months, key=lambda month: (-self.months[month], month))
