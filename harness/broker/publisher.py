"""Publishing over AMQP 0-9-1 with pipelined confirms."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from functools import lru_cache
from typing import Any, Self, cast

import pika
import pika.exceptions
from pika.adapters.select_connection import SelectConnection

from harness.broker.address import parameters, reason, redact
from harness.broker.interface import BrokerError, PublishError
from harness.oslo import EXCHANGES, Notification

#: Seconds a broker gets to answer a closing connection.
_FAREWELL = 5.0
#: Messages sent in one go.
_BATCH = 100
_PROPERTIES = pika.BasicProperties(content_type="application/json", delivery_mode=2)


@lru_cache(maxsize=256)
def _method_frame(channel: int, exchange: str, routing_key: str) -> bytes:
    method = pika.spec.Basic.Publish(exchange=exchange, routing_key=routing_key)
    return cast(bytes, pika.frame.Method(channel, method).marshal())


@lru_cache(maxsize=4096)
def _header_frame(channel: int, size: int) -> bytes:
    return cast(bytes, pika.frame.Header(channel, size, _PROPERTIES).marshal())


class _Connection(SelectConnection):  # type: ignore[misc] # pika is untyped
    """Sends what `gather` collects in one go: pika would make three system calls a message."""

    _gathered: list[bytes] | None = None

    def gather(self) -> None:
        """Keep outgoing frames until `send`."""
        self._gathered = []

    def send(self) -> None:
        """Send what was gathered, in order, and no longer gather."""
        gathered, self._gathered = self._gathered, None
        if gathered:
            super()._adapter_emit_data(b"".join(gathered))

    def publish(self, channel: int, notification: Notification) -> None:
        """Do what pika's `basic_publish` does, without encoding anew what repeats."""
        body = notification.body
        largest = self._body_max_length
        self._output_marshaled_frames(
            [
                _method_frame(channel, notification.exchange, notification.routing_key),
                _header_frame(channel, len(body)),
                *(
                    pika.frame.Body(channel, body[start : start + largest]).marshal()
                    for start in range(0, len(body), largest)
                ),
            ]
        )

    def _adapter_emit_data(self, data: bytes) -> None:
        if self._gathered is None:
            super()._adapter_emit_data(data)
        else:
            self._gathered.append(data)


class AmqpPublisher:
    """One connection, one channel in confirm mode, messages in the order they are given.

    A thread of its own keeps the connection alive and takes the confirms, so that `publish` may
    wait between two messages for as long as its source likes. Use it from one thread at a time;
    only `close` may come from another.

    Attributes:
        declared: exchanges that did not exist before, so that no queue is bound to them yet.
    """

    def __init__(
        self,
        url: str,
        exchanges: Sequence[str] = EXCHANGES,
        *,
        window: int = 4000,
        blocked_timeout: float = 60.0,
        connect_timeout: float = 10.0,
    ) -> None:
        """Connect, and see to it that the exchanges exist.

        Args:
            url: ``amqp[s]://…``.
            exchanges: an existing one is used as it is; a missing one is declared as a durable
                topic exchange.
            window: messages that may be out without a confirm; with fewer than some thousands a
                broker that confirms in large lots has nothing to do between two of them.
            blocked_timeout: seconds the broker may block publishers (memory or disk alarm), or
                stay silent at the end, before that is an error.
            connect_timeout: seconds for the dialling.

        Raises:
            BrokerError: the broker cannot be reached, or refuses; never shows a password.
            UsageError: `url` is none.
        """
        self.declared: list[str] = []
        self._window = window
        self._low = window // 2
        self._patience = blocked_timeout
        self._where = redact(url)
        self._changed = threading.Condition()
        self._waiting: set[Future[Any]] = set()
        self._outgoing: deque[Notification] = deque()
        self._unconfirmed: OrderedDict[int, Notification] = OrderedDict()
        self._scheduled = False
        self._ended = False
        self._failure: BaseException | str | None = None
        self._tag = 0
        self._confirmed = 0
        self._report: Callable[[int], None] | None = None
        self._channel: Any = None
        self._thread = threading.Thread(target=self._serve, name="amqp-publisher", daemon=True)
        self._connect(url, connect_timeout)
        try:
            self._open()
            self.declare(exchanges)
        except BaseException:
            self.close()
            raise

    # -- the caller's side ---------------------------------------------------------------------

    def publish(
        self,
        notifications: Iterable[Notification],
        *,
        confirmed: Callable[[int], None] | None = None,
    ) -> int:
        """Publish all and wait until the broker confirmed each; return how many.

        Args:
            notifications: consumed lazily, never more than a window ahead of the confirms.
            confirmed: called with the number confirmed so far, in the connection's thread and as
                soon as the confirm arrives.

        Raises:
            PublishError: a message was refused, returned or not confirmed, or the connection
                closed or stayed blocked; names the first unconfirmed message.
        """
        with self._changed:
            self._confirmed = 0
            self._report = confirmed
        count = 0
        for notification in notifications:
            self._hand_over(notification)
            count += 1
        self._drain()
        return count

    def declare(self, exchanges: Iterable[str]) -> None:
        """See to it that exchanges exist: those there are used as they are.

        Raises:
            BrokerError: one can neither be seen nor be declared as a durable topic exchange.
        """
        channel = self._new_channel()
        for exchange in exchanges:
            if not self._exists(channel, exchange):
                # A missing exchange closes the channel it is sought on.
                channel = self._new_channel()
                self._declare(channel, exchange)
                self.declared.append(exchange)
        self._call(channel.close)

    def _exists(self, channel: Any, exchange: str) -> bool:
        try:
            self._ask(lambda done: channel.exchange_declare(exchange, passive=True, callback=done))
        except pika.exceptions.ChannelClosedByBroker as error:
            if error.reply_code == 404:
                return False
            raise BrokerError(f"looking for exchange {exchange}: {reason(error)}") from error
        return True

    def _declare(self, channel: Any, exchange: str) -> None:
        try:
            self._ask(
                lambda done: channel.exchange_declare(
                    exchange, exchange_type="topic", durable=True, callback=done
                )
            )
        except pika.exceptions.ChannelClosedByBroker as error:
            raise BrokerError(f"declaring the exchange {exchange}: {reason(error)}") from error

    def close(self) -> None:
        """Close the connection; closing twice is harmless."""
        self._call(self._close)
        self._thread.join(_FAREWELL)
        self._call(self._stop)
        self._thread.join(_FAREWELL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _hand_over(self, notification: Notification) -> None:
        with self._changed:
            if self._out() >= self._window:
                # Half a window of room keeps the two threads from waking each other per message.
                self._await(self._low)
            if self._failure is not None:
                self._outgoing.append(notification)
                raise self._error()
            self._outgoing.append(notification)
            idle = not self._scheduled
            self._scheduled = True
        if idle:
            self._call(self._pump)

    def _drain(self) -> None:
        with self._changed:
            self._await(0)
            if self._failure is not None:
                raise self._error()

    def _await(self, most: int) -> None:
        """Wait, for as long as confirms arrive, until no more than `most` messages are out."""
        while self._failure is None and self._out() > most:
            before = self._confirmed
            if not self._changed.wait(self._patience + 5) and self._confirmed == before:
                self._failure = f"no confirm within {self._patience + 5:g} s"

    def _out(self) -> int:
        return len(self._outgoing) + len(self._unconfirmed)

    def _error(self) -> BaseException:
        failure = self._failure
        if isinstance(failure, BaseException):
            return failure
        first = next(iter(self._unconfirmed.values()), None)
        if first is None and self._outgoing:
            first = self._outgoing[0]
        if first is None:
            return PublishError(f"publishing: {failure}")
        return PublishError(
            f"publishing to {first.exchange}: {failure}; the first message without a confirm is "
            f"{message_id(first.body)} on {first.exchange}"
        )

    # -- connecting ----------------------------------------------------------------------------

    def _connect(self, url: str, timeout: float) -> None:
        settings = parameters(url)
        settings.blocked_connection_timeout = self._patience
        settings.socket_timeout = timeout
        settings.stack_timeout = timeout
        opened: Future[Any] = Future()
        self._waiting.add(opened)
        self._connection = _Connection(
            settings,
            on_open_callback=lambda connection: _settle(opened, connection),
            on_open_error_callback=lambda _connection, error: self._lost(error),
            on_close_callback=lambda _connection, error: self._lost(error),
        )
        self._thread.start()
        try:
            opened.result(timeout + 1)
        except TimeoutError:
            self._call(self._stop)
            raise BrokerError(f"dialing the broker {self._where}: no answer") from None
        except pika.exceptions.AMQPError as error:
            raise BrokerError(f"dialing the broker {self._where}: {reason(error)}") from error
        finally:
            self._waiting.discard(opened)

    def _open(self) -> None:
        self._channel = self._new_channel()
        self._ask(lambda done: self._channel.confirm_delivery(self._on_confirm, callback=done))
        self._call(lambda: self._channel.add_on_return_callback(self._on_return))

    def _new_channel(self) -> Any:
        channel = self._ask(lambda done: self._connection.channel(on_open_callback=done))
        self._call(lambda: channel.add_on_close_callback(self._on_channel_closed))
        return channel

    def _ask(self, request: Callable[[Callable[[Any], None]], object]) -> Any:
        """Make a request in the connection's thread and wait for its answer."""
        answer: Future[Any] = Future()
        with self._changed:
            self._waiting.add(answer)

        def run() -> None:
            try:
                request(lambda value: _settle(answer, value))
            except pika.exceptions.AMQPError as error:
                _fail(answer, error)

        self._call(run)
        try:
            return answer.result(self._patience)
        except TimeoutError:
            raise BrokerError(f"the broker {self._where} does not answer") from None
        except pika.exceptions.ConnectionClosed as error:
            raise BrokerError(f"the broker {self._where} closed: {reason(error)}") from error
        finally:
            with self._changed:
                self._waiting.discard(answer)

    def _call(self, action: Callable[[], object]) -> None:
        """Have the connection's thread do something; nothing once that thread has ended."""
        with self._changed:
            if not self._ended:
                self._connection.ioloop.add_callback_threadsafe(action)

    # -- the connection's side, all of it in its own thread --------------------------------------

    def _serve(self) -> None:
        loop = self._connection.ioloop
        try:
            loop.start()
        except Exception as error:  # noqa: BLE001 - handed to the caller, who raises it
            self._fail(error)
        finally:
            with self._changed:
                self._ended = True
            self._abandon(BrokerError(f"the broker {self._where} is not connected"))
            self._fail("the connection is closed")
            loop.close()

    def _pump(self) -> None:
        """Send a batch of what was handed over, and come back while there is more."""
        with self._changed:
            batch = [self._outgoing.popleft() for _ in range(min(_BATCH, len(self._outgoing)))]
            self._scheduled = bool(batch) and self._failure is None
            if not self._scheduled:
                return
            for notification in batch:
                self._tag += 1
                self._unconfirmed[self._tag] = notification
        if not self._channel.is_open:
            self._fail("the channel is closed")
            return
        self._connection.gather()
        try:
            for notification in batch:
                self._connection.publish(self._channel.channel_number, notification)
        except pika.exceptions.AMQPError as error:
            self._fail(reason(error))
        finally:
            self._connection.send()
        self._call(self._pump)

    def _on_confirm(self, frame: Any) -> None:
        method = frame.method
        if isinstance(method, pika.spec.Basic.Nack):
            self._fail("the broker refused a message")
            return
        with self._changed:
            unconfirmed = self._unconfirmed
            before = len(unconfirmed)
            if method.multiple:
                while unconfirmed and next(iter(unconfirmed)) <= method.delivery_tag:
                    unconfirmed.popitem(last=False)
            else:
                unconfirmed.pop(method.delivery_tag, None)
            self._confirmed += before - len(unconfirmed)
            if self._out() <= self._low:
                self._changed.notify_all()
            report, count = self._report, self._confirmed
        if report:
            report(count)

    def _on_return(self, _channel: Any, method: Any, _properties: Any, _body: bytes) -> None:
        self._fail(f"the broker returned a message: {method.reply_text} ({method.reply_code})")

    def _on_channel_closed(self, channel: Any, error: Exception) -> None:
        if isinstance(error, pika.exceptions.ChannelClosedByBroker):
            self._abandon(error)
        if channel is self._channel:
            self._fail(reason(error))

    def _close(self) -> None:
        if self._connection.is_open:
            self._connection.close()
        else:
            self._stop()

    def _lost(self, error: BaseException) -> None:
        self._abandon(error)
        self._fail(reason(error))
        self._stop()

    def _abandon(self, error: BaseException) -> None:
        """Fail every request under way."""
        with self._changed:
            waiting = list(self._waiting)
        for answer in waiting:
            _fail(answer, error)

    def _stop(self) -> None:
        self._connection.ioloop.stop()

    def _fail(self, failure: BaseException | str) -> None:
        with self._changed:
            if self._failure is None:
                self._failure = failure
            self._changed.notify_all()


def message_id(body: bytes) -> str:
    """Return the oslo message id a body carries, or how long a body without one is."""
    try:
        return str(json.loads(json.loads(body)["oslo.message"])["message_id"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"(no message id, {len(body)} bytes)"


def _settle(answer: Future[Any], value: Any) -> None:
    if not answer.done():
        answer.set_result(value)


def _fail(answer: Future[Any], error: BaseException) -> None:
    if not answer.done():
        answer.set_exception(error)
