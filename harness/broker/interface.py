"""What a bus is to the rest of the harness; AMQP and the in-memory bus both keep it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.errors import HarnessError
from harness.oslo import Notification


class BrokerError(HarnessError):
    """The broker cannot be reached, refused, or went away. Never shows a password."""


class PublishError(BrokerError):
    """A message was not confirmed; the text names the first such message and its exchange."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message handed to a consumer.

    Attributes:
        tag: what acknowledges it; valid on the subscription it came from, until that reconnects.
        exchange: where it was published.
        routing_key: as published.
        body: its bytes.
        redelivered: the broker handed it out before.
        content_type: AMQP property, empty when absent.
        content_encoding: AMQP property, empty when absent.
    """

    tag: int
    exchange: str
    routing_key: str
    body: bytes
    redelivered: bool = False
    content_type: str = ""
    content_encoding: str = ""


class Publisher(Protocol):
    """Publishes in order, each message confirmed."""

    def publish(
        self,
        notifications: Iterable[Notification],
        *,
        confirmed: Callable[[int], None] | None = None,
    ) -> int:
        """Publish all and wait until the broker confirmed each; return how many.

        Args:
            notifications: consumed lazily; order on the channel is the order given.
            confirmed: called with the number confirmed so far, now and then.

        Raises:
            PublishError: a nack, a return, or a closed connection.
        """
        ...

    def close(self) -> None:
        """Close the connection; closing twice is harmless."""
        ...


class Subscription(Protocol):
    """A consumer's end of the bus. One thread uses it."""

    def receive(self, limit: int, timeout: float) -> Sequence[Delivery]:
        """Return up to `limit` deliveries, waiting up to `timeout` seconds for the first.

        Raises:
            BrokerError: the session ended; unacknowledged deliveries will return.
        """
        ...

    def ack(self, deliveries: Sequence[Delivery]) -> None:
        """Acknowledge, in one broker operation where it can."""
        ...

    def requeue(self, deliveries: Sequence[Delivery]) -> None:
        """Give messages back to the queue."""
        ...

    def pause(self) -> None:
        """Cancel the consumer and give back everything prefetched."""
        ...

    def resume(self) -> None:
        """Consume again after `pause`."""
        ...

    def close(self) -> None:
        """End the session; unacknowledged deliveries return to the queue."""
        ...
