"""Consuming over AMQP 0-9-1: the collector's queue, its bindings, and what is in flight."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Self

import pika
import pika.exceptions

from harness.broker.address import QUEUE, parameters, reason, redact
from harness.broker.interface import BrokerError, Delivery

#: How the consumer calls itself.
CONSUMER_TAG = "tally-openstack-collector"

_log = logging.getLogger(__name__)

_QUORUM = {"x-queue-type": "quorum", "x-delivery-limit": -1}
_QUORUM_SINCE = 4
_NOT_FOUND, _PRECONDITION_FAILED = 404, 406
_DELAY_FIRST, _DELAY_MAX = 1.0, 60.0


@dataclass(slots=True)
class _Absent:
    """An exchange that does not exist yet: when to look again, and how long to wait after that."""

    due: float
    delay: float = _DELAY_FIRST


class AmqpSubscription:
    """A session with a broker: the durable queue, bound to the exchanges that exist.

    Exchanges are looked for and never created; a missing one is bound once it appears. One thread
    uses a session, and calls `receive` often enough for the heartbeats to be answered.
    """

    def __init__(
        self,
        url: str,
        *,
        exchanges: Sequence[str],
        topics: Sequence[str] = ("notifications.info",),
        queue_type: str = "quorum",
        prefetch: int = 100,
        require_exchanges: bool = False,
    ) -> None:
        """Connect, declare, bind and consume.

        Args:
            url: ``amqp[s]://…``.
            exchanges: names of topic exchanges.
            topics: routing keys.
            queue_type: ``quorum`` (RabbitMQ 4 and later) or ``classic``.
            prefetch: messages the broker hands out unacknowledged, 1 to 65535.
            require_exchanges: whether a missing exchange is an error.

        Raises:
            BrokerError: the broker cannot be reached or refuses, has none of the exchanges, or
                holds the queue with other arguments.
            UsageError: `url` is none.
        """
        self._where = redact(url)
        self._topics = tuple(topics)
        self._ready: deque[Delivery] = deque()
        self._held: dict[int, None] = {}
        self._cancelled = False
        try:
            self._connection = pika.BlockingConnection(parameters(url))
        except (pika.exceptions.AMQPError, OSError) as error:
            raise BrokerError(f"dialing the broker {self._where}: {reason(error)}") from error
        try:
            with self._errors():
                present = [name for name in exchanges if self._exists(name)]
                self._absent = _absent(exchanges, present, required=require_exchanges)
                self._channel: Any = self._connection.channel()
                self._declare(queue_type)
                for name in present:
                    self._bind(name)
                self._channel.basic_qos(prefetch_count=prefetch)
                self._channel.add_on_cancel_callback(self._cancelled_by_broker)
                self.resume()
        except BaseException:
            with suppress(BrokerError):
                self.close()
            raise
        _log.info(
            "consuming",
            extra={"fields": {"queue": QUEUE, "exchanges": present, "topics": list(self._topics)}},
        )

    # What a consumer calls

    def receive(self, limit: int, timeout: float) -> Sequence[Delivery]:
        """Return up to `limit` deliveries, waiting up to `timeout` seconds for the first.

        Raises:
            BrokerError: the session ended; what is unacknowledged will return.
        """
        end = time.monotonic() + timeout
        with self._errors():
            while True:
                self._look_for_absent()
                self._connection.process_data_events(
                    time_limit=0 if self._ready else max(0.0, self._pause_until(end))
                )
                if self._cancelled:
                    raise BrokerError(f"the broker cancelled the consumer of the queue {QUEUE}")
                if self._ready or time.monotonic() >= end:
                    break
        taken = [self._ready.popleft() for _ in range(min(limit, len(self._ready)))]
        self._held.update(dict.fromkeys(delivery.tag for delivery in taken))
        return taken

    def ack(self, deliveries: Sequence[Delivery]) -> None:
        """Acknowledge; one frame when nothing older is left in hand.

        Raises:
            BrokerError: the session ended.
        """
        with self._errors():
            self._settle(deliveries, self._channel.basic_ack)

    def requeue(self, deliveries: Sequence[Delivery]) -> None:
        """Give messages back to the queue.

        Raises:
            BrokerError: the session ended.
        """
        with self._errors():
            self._settle(deliveries, self._channel.basic_nack)

    def pause(self) -> None:
        """Cancel the consumer and give back everything prefetched that `receive` did not return.

        Raises:
            BrokerError: the session ended.
        """
        with self._errors():
            self._channel.basic_cancel(CONSUMER_TAG)
            while self._ready:
                self._channel.basic_nack(self._ready.popleft().tag, requeue=True)

    def resume(self) -> None:
        """Consume.

        Raises:
            BrokerError: the session ended.
        """
        with self._errors():
            self._channel.basic_consume(QUEUE, self._arrived, consumer_tag=CONSUMER_TAG)

    def close(self) -> None:
        """End the session; unacknowledged deliveries return to the queue."""
        if self._connection.is_open:
            with self._errors():
                self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    # Deliveries

    def _arrived(
        self, _channel: Any, method: Any, properties: pika.BasicProperties, body: bytes
    ) -> None:
        self._ready.append(
            Delivery(
                tag=method.delivery_tag,
                exchange=method.exchange,
                routing_key=method.routing_key,
                body=body,
                redelivered=method.redelivered,
                content_type=properties.content_type or "",
                content_encoding=properties.content_encoding or "",
            )
        )

    def _cancelled_by_broker(self, _frame: Any) -> None:
        self._cancelled = True

    def _settle(self, deliveries: Sequence[Delivery], settle: Any) -> None:
        if not deliveries:
            return
        tags = {delivery.tag for delivery in deliveries}
        newest = max(tags)
        if all(tag in tags for tag in self._held if tag <= newest):
            settle(newest, multiple=True)
        else:
            for tag in sorted(tags):
                settle(tag)
        for tag in tags:
            del self._held[tag]

    # Exchanges and the queue

    def _exists(self, exchange: str) -> bool:
        # A channel of its own, because the broker closes one that asks for what does not exist.
        channel = self._connection.channel()
        try:
            channel.exchange_declare(exchange, "topic", durable=True, passive=True)
        except pika.exceptions.ChannelClosedByBroker as error:
            if error.reply_code == _NOT_FOUND:
                return False
            raise
        channel.close()
        return True

    def _bind(self, exchange: str) -> None:
        for topic in self._topics:
            self._channel.queue_bind(QUEUE, exchange, routing_key=topic)

    def _look_for_absent(self) -> None:
        for name, absent in list(self._absent.items()):
            if time.monotonic() < absent.due:
                continue
            if self._exists(name):
                self._bind(name)
                del self._absent[name]
                _log.info("an exchange appeared and is bound", extra={"fields": {"exchange": name}})
            else:
                _warn_absent(name, absent.delay)
                absent.due = time.monotonic() + absent.delay
                absent.delay = min(_DELAY_MAX, 2 * absent.delay)

    def _pause_until(self, end: float) -> float:
        return min([end, *(absent.due for absent in self._absent.values())]) - time.monotonic()

    def _declare(self, queue_type: str) -> None:
        arguments = None
        if queue_type == "quorum":
            self._require_quorum()
            arguments = _QUORUM
        try:
            self._channel.queue_declare(QUEUE, durable=True, arguments=arguments)
        except pika.exceptions.ChannelClosedByBroker as error:
            if error.reply_code != _PRECONDITION_FAILED:
                raise
            raise BrokerError(
                f"the broker holds a queue {QUEUE} that was not declared as "
                f"TALLY_OSC_QUEUE_TYPE={queue_type} does; set the other type, or drain and delete "
                f"the queue: {reason(error)}"
            ) from error

    def _require_quorum(self) -> None:
        properties = getattr(self._connection, "_impl").server_properties or {}  # noqa: B009
        version = properties.get("version", b"")
        text = version.decode(errors="replace") if isinstance(version, bytes) else str(version)
        major = text.partition(".")[0]
        if not major.isdecimal() or int(major) < _QUORUM_SINCE:
            raise BrokerError(
                f"the broker {self._where} is of version {text or 'unknown'}; a quorum queue "
                f"needs {_QUORUM_SINCE} or later: set TALLY_OSC_QUEUE_TYPE=classic"
            )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (pika.exceptions.AMQPError, OSError) as error:
            raise BrokerError(f"the session with {self._where} ended: {reason(error)}") from error


def _absent(
    exchanges: Sequence[str], present: Sequence[str], *, required: bool
) -> dict[str, _Absent]:
    missing = [name for name in exchanges if name not in present]
    if missing and required:
        raise BrokerError(
            f"the broker lacks the exchange {missing[0]}; create it, or set "
            "TALLY_OSC_REQUIRE_EXCHANGES=false to start without"
        )
    if not present:
        raise BrokerError(
            f"the broker has no exchange of {', '.join(exchanges)}; "
            "start a service that publishes, or name others in TALLY_OSC_EXCHANGES"
        )
    for name in missing:
        _warn_absent(name, _DELAY_FIRST)
    return {name: _Absent(time.monotonic() + _DELAY_FIRST, 2 * _DELAY_FIRST) for name in missing}


def _warn_absent(exchange: str, delay: float) -> None:
    _log.warning(
        "an exchange is missing",
        extra={"fields": {"exchange": exchange, "retry_seconds": delay}},
    )
