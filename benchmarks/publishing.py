"""Confirmed publishing against unconfirmed publishing of the same month.

A private broker, one month, one durable classic queue bound to every exchange; each way is over
when that queue holds the month. Unconfirmed is pika's `SelectConnection` as fast as its channel
takes the messages, without confirm mode. Confirmed is `AmqpPublisher`, which returns when the
broker vouches for every message.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pika
from pika.adapters.select_connection import SelectConnection

from harness.broker.address import parameters
from harness.broker.publisher import AmqpPublisher
from harness.oslo import EXCHANGES, Notification
from harness.recording.recording import Recording
from harness.stack.rabbitmq import PrivateBroker

LEAST = 0.8
ROUNDS = 11
_MONTH = Path(__file__).parents[1] / "recordings" / "2026-07-seed-1"
_QUEUE = "publishing"
_PROPERTIES = pika.BasicProperties(content_type="application/json", delivery_mode=2)


def unconfirmed(url: str, notifications: Sequence[Notification]) -> None:
    """Publish without confirms; over when the broker has answered the closing."""
    stream = iter(notifications)

    def pump(channel: pika.channel.Channel) -> None:
        batch = list(islice(stream, 500))
        for notification in batch:
            channel.basic_publish(
                notification.exchange, notification.routing_key, notification.body, _PROPERTIES
            )
        if batch:
            channel.connection.ioloop.add_callback(lambda: pump(channel))
        else:
            channel.connection.close()

    connection = SelectConnection(
        parameters(url),
        on_open_callback=lambda opened: opened.channel(on_open_callback=pump),
        on_close_callback=lambda closed, _error: closed.ioloop.stop(),
    )
    connection.ioloop.start()
    connection.ioloop.close()


def confirmed(url: str, notifications: Sequence[Notification]) -> None:
    """Publish with pipelined confirms, connecting and closing as above."""
    with AmqpPublisher(url, ()) as publisher:
        publisher.publish(notifications)


def main() -> int:
    """Measure both in turn, print the rates, and fail below the ratio."""
    notifications = list(Recording.open(_MONTH).notifications())
    with PrivateBroker() as broker:
        url = broker.create_vhost("publishing")
        AmqpPublisher(url).close()
        ratios = list(_rounds(url, notifications))
    ratio = statistics.median(ratios)
    print(f"publishing: confirmed at {ratio:.2f} of unconfirmed (at least {LEAST})")
    return 0 if ratio >= LEAST else 1


def _rounds(url: str, notifications: Sequence[Notification]) -> Iterator[float]:
    with pika.BlockingConnection(parameters(url)) as connection:
        channel = connection.channel()
        channel.queue_declare(_QUEUE, durable=True)
        for exchange in EXCHANGES:
            channel.queue_bind(_QUEUE, exchange, "notifications.info")
        for _ in range(ROUNDS):
            rates = []
            for publish in (unconfirmed, confirmed):
                began = time.perf_counter()
                publish(url, notifications)
                while _held(channel) < len(notifications):
                    time.sleep(0.005)
                rates.append(len(notifications) / (time.perf_counter() - began))
                while channel.queue_purge(_QUEUE).method.message_count:
                    time.sleep(0.2)
            without, with_confirms = rates
            print(f"unconfirmed {without:6.0f}/s, confirmed {with_confirms:6.0f}/s")
            yield with_confirms / without


def _held(channel: pika.adapters.blocking_connection.BlockingChannel) -> int:
    return int(channel.queue_declare(_QUEUE, passive=True).method.message_count)
