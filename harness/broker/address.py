"""Addresses of brokers: read, judged local or remote, shown without secrets, waited on."""

from __future__ import annotations

import ipaddress
import logging
import time
from urllib.parse import unquote, urlsplit

import pika
import pika.exceptions

from harness.broker.interface import BrokerError
from harness.errors import UsageError

#: The queue a collector of this project and of Tally consumes from.
QUEUE = "tally-notifications"

_SCHEMES = {"amqp", "amqps"}

# pika reports lost connections on its logger, too; ours say it once, as an exception.
logging.getLogger("pika").addHandler(logging.NullHandler())


def is_local(url: str) -> bool:
    """Tell whether an AMQP URL names this machine: ``localhost`` or a loopback address.

    Raises:
        UsageError: see `parameters`.
    """
    host = str(parameters(url).host)
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def redact(url: str) -> str:
    """Return an AMQP URL as it may be shown: scheme, host, port and vhost, nothing else."""
    try:
        given = parameters(url)
    except UsageError:
        return "(unusable AMQP URL)"
    host = f"[{given.host}]" if ":" in str(given.host) else given.host
    vhost = "" if given.virtual_host == "/" else f"/{given.virtual_host}"
    return f"{urlsplit(url).scheme}://{host}:{given.port}{vhost}"


def parameters(url: str) -> pika.URLParameters:
    """Read an AMQP URL: ``amqp[s]://[user:password@]host[:port][/vhost][?options]``.

    Options are pika's (``heartbeat``, ``connection_attempts``, ``ssl_options`` …).

    Raises:
        UsageError: it is none. The text never shows the value, which may hold a password.
    """
    refusal = "not a usable AMQP URL; write amqp://user:password@host:port/vhost"
    try:
        parts = urlsplit(url)
        usable = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or len(unquote(parts.path)) > 256:
        raise UsageError(refusal)
    try:
        return pika.URLParameters(url)
    except Exception:  # noqa: BLE001 - pika raises whatever an option's reader raised
        raise UsageError(refusal) from None


def wait_for_consumer(
    url: str, timeout: float, *, queue: str = QUEUE, interval: float = 0.5
) -> None:
    """Wait until `queue` exists and somebody consumes from it.

    Each look is a passive declare on a channel of its own, because a missing queue closes the
    channel it was asked for on.

    Args:
        url: of the broker.
        timeout: seconds; zero or less does not look at all.
        queue: name of the durable queue.
        interval: seconds between two looks.

    Raises:
        BrokerError: nobody came in time, or the broker cannot be asked.
    """
    if timeout <= 0:
        return
    end = time.monotonic() + timeout
    try:
        connection = pika.BlockingConnection(parameters(url))
    except pika.exceptions.AMQPError as error:
        raise BrokerError(f"dialing the broker {redact(url)}: {reason(error)}") from error
    try:
        while not _has_consumer(connection, queue):
            if time.monotonic() >= end:
                raise BrokerError(
                    f"nobody consumes from the queue {queue} after {timeout:g} s; "
                    "start the collector first, or do not wait for it (0 seconds)"
                )
            connection.sleep(interval)
    except pika.exceptions.AMQPError as error:
        raise BrokerError(f"looking for the queue {queue}: {reason(error)}") from error
    finally:
        if connection.is_open:
            connection.close()


def _has_consumer(connection: pika.BlockingConnection, queue: str) -> bool:
    channel = connection.channel()
    try:
        answer = channel.queue_declare(queue, passive=True)
    except pika.exceptions.ChannelClosedByBroker as error:
        if error.reply_code == 404:
            return False
        raise
    channel.close()
    return bool(answer.method.consumer_count)


def reason(error: BaseException) -> str:
    """Word an exception of pika: the broker's own text where there is one."""
    if isinstance(error, pika.exceptions.ConnectionClosed | pika.exceptions.ChannelClosed):
        return f"{error.reply_text} ({error.reply_code})"
    causes = [text for text in map(str, error.args) if text and text != "None"]
    return "; ".join(causes) or type(error).__name__
