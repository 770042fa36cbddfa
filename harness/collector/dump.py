"""A look at the bus: every message as a JSON line, secrets redacted, nothing taken from anyone."""

from __future__ import annotations

import json
import threading
from typing import IO, Any

import pika
import pika.exceptions

from harness.broker import BrokerError
from harness.broker.address import parameters, reason, redact
from harness.collector.settings import Source
from harness.collector.writer import write
from harness.oslo.envelope import Unparseable, parse, rfc3339

REDACTED = "[redacted]"

_SECRET = ("password", "token", "secret", "connection_info")
_UNPARSEABLE_MAX = 512
_TICK = 0.25


def dump(source: Source, out: IO[str], stop: threading.Event) -> None:
    """Print messages as they are published until told to stop.

    The queue is the broker's own, exclusive, and gone with the connection.

    Args:
        source: the broker, exchanges and topics.
        out: takes the lines.
        stop: ends it.

    Raises:
        BrokerError: the broker cannot be reached, or has none of the exchanges.
    """
    where = redact(source.amqp_url)
    try:
        connection = pika.BlockingConnection(parameters(source.amqp_url))
    except (pika.exceptions.AMQPError, OSError) as error:
        raise BrokerError(f"dialing the broker {where}: {reason(error)}") from error
    try:
        _print(connection, source, out, stop)
    except pika.exceptions.AMQPError as error:
        raise BrokerError(f"the session with {where} ended: {reason(error)}") from error
    finally:
        if connection.is_open:
            connection.close()


def _print(
    connection: pika.BlockingConnection, source: Source, out: IO[str], stop: threading.Event
) -> None:
    present = [name for name in source.exchanges if _exists(connection, name)]
    if not present:
        raise BrokerError(
            f"the broker has no exchange of {', '.join(source.exchanges)}; "
            "start a service that publishes, or name others in TALLY_OSC_EXCHANGES"
        )
    channel = connection.channel()
    queue = channel.queue_declare("", exclusive=True, auto_delete=True).method.queue
    for name in present:
        for topic in source.topics:
            channel.queue_bind(queue, name, routing_key=topic)

    def arrived(_channel: Any, method: Any, _properties: Any, body: bytes) -> None:
        print(line(method.exchange, method.routing_key, body), file=out, flush=True)

    channel.basic_consume(queue, arrived, auto_ack=True, exclusive=True)
    while not stop.is_set():
        connection.process_data_events(time_limit=_TICK)


def _exists(connection: pika.BlockingConnection, exchange: str) -> bool:
    channel = connection.channel()
    try:
        channel.exchange_declare(exchange, "topic", durable=True, passive=True)
    except pika.exceptions.ChannelClosedByBroker as error:
        if error.reply_code == 404:
            return False
        raise
    channel.close()
    return True


def line(exchange: str, routing_key: str, body: bytes) -> str:
    """Return a message as a JSON line without its line end.

    A member called anything with ``password``, ``token``, ``secret`` or ``connection_info`` in it
    is redacted, however deep it lies. What is no notification is cut to 512 bytes; what is no JSON
    either is not shown at all.
    """
    shown: dict[str, Any] = {"exchange": exchange, "routing_key": routing_key}
    try:
        envelope = parse(body)
    except Unparseable:
        shown["unparseable"] = _unparseable(body)
    else:
        shown["message_id"] = envelope.message_id
        shown["event_type"] = envelope.event_type
        shown["timestamp"] = rfc3339(envelope.timestamp)
        shown["payload"] = redacted(envelope.payload)
    return write(shown)


def redacted(value: Any) -> Any:
    """Return a JSON value with its secrets taken out."""
    if isinstance(value, dict):
        return {
            name: REDACTED if _is_secret(name) else redacted(member)
            for name, member in value.items()
        }
    if isinstance(value, list):
        return [redacted(item) for item in value]
    return value


def _is_secret(name: str) -> bool:
    lowered = name.lower()
    return any(word in lowered for word in _SECRET)


def _unparseable(body: bytes) -> str:
    try:
        text = write(redacted(_blurred(json.loads(body))))
    except (ValueError, RecursionError):
        return f"{len(body)} bytes that are not JSON"
    return text.encode()[:_UNPARSEABLE_MAX].decode(errors="ignore")


def _blurred(value: Any) -> Any:
    """Redact texts that speak of a secret: an inner message that cannot be read may hold one."""
    if isinstance(value, dict):
        return {name: _blurred(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_blurred(item) for item in value]
    return REDACTED if isinstance(value, str) and _is_secret(value) else value
