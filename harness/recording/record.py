"""Recording a bus: a queue of one's own, and everything it gets."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pika
import pika.exceptions

from harness.broker import BrokerError
from harness.broker.address import parameters, reason, redact
from harness.errors import UsageError
from harness.oslo import EXCHANGES, Notification
from harness.recording.writer import RecordingWriter

#: What collectors listen to.
TOPICS = ("notifications.info",)
#: Messages the broker hands over before the first of them is written and acknowledged.
_PREFETCH = 500
#: Seconds between two looks at the limits.
_GLANCE = 0.2


@dataclass(frozen=True, slots=True)
class Limits:
    """When a recording ends by itself; None stands for no limit.

    Attributes:
        messages: number of messages.
        seconds: seconds since the queue was bound.
        idle: seconds without a message.
    """

    messages: int | None = None
    seconds: float | None = None
    idle: float | None = None


class Recorder:
    """Records from one broker until a limit is reached or somebody stops it.

    It declares one queue, exclusive to its connection and gone with it, and binds it to exchanges
    that exist. It takes nothing from another queue and creates no exchange.

    Attributes:
        exchanges: what the queue is bound to.
        missing: exchanges of the usual ones that this broker does not have.
    """

    def __init__(
        self,
        url: str,
        *,
        exchanges: Sequence[str] = (),
        topics: Sequence[str] = TOPICS,
    ) -> None:
        """Connect and bind; messages published from now on are recorded.

        Args:
            url: of the broker.
            exchanges: each has to exist; none named stands for whichever of the usual ones do.
            topics: binding keys.

        Raises:
            BrokerError: the broker cannot be reached or refuses.
            UsageError: a named exchange does not exist, or none of the usual ones does.
        """
        self._where = redact(url)
        try:
            self._connection = pika.BlockingConnection(parameters(url))
        except pika.exceptions.AMQPError as error:
            raise BrokerError(f"dialing the broker {self._where}: {reason(error)}") from error
        try:
            self._bind(exchanges, topics)
        except pika.exceptions.AMQPError as error:
            self.close()
            raise BrokerError(f"binding a queue on {self._where}: {reason(error)}") from error
        except UsageError:
            self.close()
            raise

    def _bind(self, exchanges: Sequence[str], topics: Sequence[str]) -> None:
        wanted = tuple(exchanges) or EXCHANGES
        self.exchanges = tuple(filter(self._exists, wanted))
        self.missing = tuple(name for name in wanted if name not in self.exchanges)
        if self.missing and (exchanges or not self.exchanges):
            raise UsageError(
                f"the broker {self._where} has no exchange {', '.join(self.missing)}; "
                "a recording creates none: name existing ones with --exchange"
            )
        self._channel = self._connection.channel()
        self._channel.basic_qos(prefetch_count=_PREFETCH)
        self._queue = self._channel.queue_declare("", exclusive=True).method.queue
        for exchange in self.exchanges:
            for topic in topics:
                self._channel.queue_bind(self._queue, exchange, topic)

    def record(
        self,
        writer: RecordingWriter,
        limits: Limits,
        *,
        stopped: Callable[[], bool],
        watch: Callable[[], None] = lambda: None,
    ) -> str:
        """Write what arrives, and return why the recording ended.

        Args:
            writer: takes the messages.
            limits: when to end.
            stopped: asked about five times a second; true ends the recording.
            watch: called as often.

        Returns:
            ``limit``, ``time``, ``idle`` or ``interrupted``; or, when the session with the broker
            broke, ``connection lost: …``, and what came before is kept.
        """
        began = last = time.monotonic()
        unacknowledged = 0

        def take(channel: Any, method: Any, _properties: Any, body: bytes) -> None:
            nonlocal last, unacknowledged
            if limits.messages is not None and writer.survey.notifications >= limits.messages:
                return
            writer.add(Notification(method.exchange, method.routing_key, body))
            last = time.monotonic()
            unacknowledged += 1
            if unacknowledged >= _PREFETCH // 2:
                unacknowledged = 0
                channel.basic_ack(method.delivery_tag, multiple=True)

        try:
            self._channel.basic_consume(self._queue, take)
            while True:
                self._connection.process_data_events(time_limit=_GLANCE)
                watch()
                now = time.monotonic()
                if limits.messages is not None and writer.survey.notifications >= limits.messages:
                    return "limit"
                if stopped():
                    return "interrupted"
                if limits.seconds is not None and now - began >= limits.seconds:
                    return "time"
                if limits.idle is not None and now - last >= limits.idle:
                    return "idle"
        except pika.exceptions.AMQPError as error:
            return f"connection lost: {reason(error)}"

    def close(self) -> None:
        """Leave the broker; the queue goes with the connection."""
        with contextlib.suppress(pika.exceptions.AMQPError):
            if self._connection.is_open:
                self._connection.close()

    def _exists(self, exchange: str) -> bool:
        channel = self._connection.channel()
        try:
            channel.exchange_declare(exchange, passive=True)
        except pika.exceptions.ChannelClosedByBroker as error:
            if error.reply_code == 404:
                return False
            raise
        channel.close()
        return True
