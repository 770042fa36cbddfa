"""A bus within the process, with the interface and the manners of the AMQP one."""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.broker.interface import BrokerError, Delivery, PublishError
from harness.oslo import EXCHANGES, Notification


@dataclass(slots=True)
class _Queued:
    position: int
    notification: Notification
    redelivered: bool = False


class MemoryBus:
    """Topic exchanges and one queue bound to them, kept in memory.

    A message whose routing key no binding takes is dropped, as a broker drops it. What a consumer
    gives back, or leaves behind, returns to its old place at the front, marked as redelivered.
    """

    def __init__(
        self,
        exchanges: Sequence[str] = EXCHANGES,
        topics: Sequence[str] = ("notifications.info",),
        *,
        capacity: int | None = None,
    ) -> None:
        """Declare the exchanges and bind the queue to each.

        Args:
            exchanges: names; publishing to another is an error.
            topics: binding keys; ``*`` stands for one word, ``#`` for any number.
            capacity: messages the queue holds at most; a publisher waits for room. None: no bound.
        """
        self._exchanges = frozenset(exchanges)
        self._unbound: set[str] = set()
        self._topics = tuple(_pattern(topic) for topic in topics)
        self._capacity = capacity
        self._queue: deque[_Queued] = deque()
        self._position = 0
        self.changed = threading.Condition()

    def publisher(self, exchanges: Sequence[str] = ()) -> MemoryPublisher:
        """Return a publisher; any number may be at work.

        Args:
            exchanges: declared where missing, with nothing bound to them.
        """
        self._unbound |= set(exchanges) - self._exchanges
        return MemoryPublisher(self)

    def subscription(self, prefetch: int = 100) -> MemorySubscription:
        """Return a consumer's end; several compete for the messages."""
        return MemorySubscription(self, prefetch)

    def depth(self) -> int:
        """Return how many messages wait in the queue, without those a consumer holds."""
        with self.changed:
            return len(self._queue)

    def put(self, notification: Notification, closed: Callable[[], bool]) -> None:
        """Route one message.

        Args:
            notification: where to and what.
            closed: asked while waiting for room; true gives up.

        Raises:
            PublishError: no such exchange, or closed while waiting.
        """
        if notification.exchange in self._unbound:
            return
        if notification.exchange not in self._exchanges:
            raise PublishError(
                f'publishing to {notification.exchange}: no exchange "{notification.exchange}"'
            )
        if not any(topic.fullmatch(notification.routing_key) for topic in self._topics):
            return
        with self.changed:
            while self._capacity is not None and len(self._queue) >= self._capacity:
                if closed():
                    raise PublishError(
                        f"publishing to {notification.exchange}: closed while the queue was full"
                    )
                self.changed.wait(0.1)
            self._position += 1
            self._queue.append(_Queued(self._position, notification))
            self.changed.notify_all()

    def take(self, limit: int) -> list[_Queued]:
        """Take up to `limit` messages off the front; `changed` is held by the caller."""
        taken = [self._queue.popleft() for _ in range(min(limit, len(self._queue)))]
        if taken and self._capacity is not None:
            self.changed.notify_all()
        return taken

    def give_back(self, messages: Iterable[_Queued]) -> None:
        """Put messages back where they were, marked; `changed` is held by the caller."""
        returned = sorted(messages, key=lambda message: message.position)
        if not returned:
            return
        for message in returned:
            message.redelivered = True
        last = returned[-1].position
        ahead: list[_Queued] = []
        while self._queue and self._queue[0].position < last:
            ahead.append(self._queue.popleft())
        merged = sorted([*returned, *ahead], key=lambda message: message.position)
        self._queue.extendleft(reversed(merged))
        self.changed.notify_all()


class MemoryPublisher:
    """Publishes on a `MemoryBus`; a message is confirmed as soon as it is routed."""

    def __init__(self, bus: MemoryBus) -> None:
        """Publish on `bus`."""
        self._bus = bus
        self._closed = False

    def publish(
        self,
        notifications: Iterable[Notification],
        *,
        confirmed: Callable[[int], None] | None = None,
    ) -> int:
        """Publish all in order and return how many; see `harness.broker.Publisher`."""
        count = 0
        for notification in notifications:
            if self._closed:
                raise PublishError(
                    f"publishing to {notification.exchange}: the publisher is closed"
                )
            self._bus.put(notification, lambda: self._closed)
            count += 1
            if confirmed:
                confirmed(count)
        return count

    def close(self) -> None:
        """Refuse to publish from now on."""
        self._closed = True


class MemorySubscription:
    """A consumer's end of a `MemoryBus`."""

    def __init__(self, bus: MemoryBus, prefetch: int) -> None:
        """Consume from `bus`, holding at most `prefetch` unacknowledged messages."""
        self._bus = bus
        self._prefetch = prefetch
        self._held: dict[int, _Queued] = {}
        self._tag = 0
        self._paused = False
        self._closed = False

    def receive(self, limit: int, timeout: float) -> Sequence[Delivery]:
        """Return up to `limit` deliveries, waiting up to `timeout` seconds for the first."""
        end = time.monotonic() + timeout
        with self._bus.changed:
            while True:
                if self._closed:
                    raise BrokerError("the subscription is closed")
                room = 0 if self._paused else min(limit, self._prefetch - len(self._held))
                taken = self._bus.take(room)
                left = end - time.monotonic()
                if taken or left <= 0:
                    return [self._deliver(message) for message in taken]
                self._bus.changed.wait(left)

    def ack(self, deliveries: Sequence[Delivery]) -> None:
        """Let go of messages for good."""
        with self._bus.changed:
            self._release(deliveries)

    def requeue(self, deliveries: Sequence[Delivery]) -> None:
        """Give messages back to the front of the queue."""
        with self._bus.changed:
            self._bus.give_back(self._release(deliveries))

    def pause(self) -> None:
        """Take no more messages; those received stay with the caller, to ack or to requeue."""
        with self._bus.changed:
            self._paused = True

    def resume(self) -> None:
        """Take messages again."""
        with self._bus.changed:
            self._paused = False
            self._bus.changed.notify_all()

    def close(self) -> None:
        """End the session; unacknowledged messages return to the queue."""
        with self._bus.changed:
            self._closed = True
            self._bus.give_back(self._held.values())
            self._held.clear()
            self._bus.changed.notify_all()

    def _deliver(self, message: _Queued) -> Delivery:
        self._tag += 1
        self._held[self._tag] = message
        return Delivery(
            tag=self._tag,
            exchange=message.notification.exchange,
            routing_key=message.notification.routing_key,
            body=message.notification.body,
            redelivered=message.redelivered,
            content_type="application/json",
        )

    def _release(self, deliveries: Sequence[Delivery]) -> list[_Queued]:
        for delivery in deliveries:
            if delivery.tag not in self._held:
                raise BrokerError(f"delivery {delivery.tag} is not held by this subscription")
        return [self._held.pop(delivery.tag) for delivery in deliveries]


def _pattern(topic: str) -> re.Pattern[str]:
    words = {"*": r"[^.]+", "#": r".*"}
    text = r"\.".join(words.get(word, re.escape(word)) for word in topic.split("."))
    # "#" may stand for no word at all, and then takes its dot along.
    text = text.replace(r"\..*", r"(?:\..*)?").replace(r".*\.", r"(?:.*\.)?")
    return re.compile(text)
