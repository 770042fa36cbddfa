"""The collector taking a month off RabbitMQ, against a consumer that does nothing with it.

Both find the same 15,741 messages in the queue. The bare one is pika's own blocking consumer: it
counts, and acknowledges every hundredth message for all before it. Ours reads, maps and books
each, on disk before the acknowledgement. Both sides take turns, and each is judged by its fastest
round. The Reporting API is not part of it: nobody listens there, events stay in the outbox.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import pika

from harness.broker.address import QUEUE
from harness.broker.publisher import AmqpPublisher
from harness.broker.subscription import AmqpSubscription
from harness.calendar import Period
from harness.collector.service import Collector
from harness.collector.settings import Settings
from harness.month import Kind, generate
from harness.month.render import body
from harness.oslo import EXCHANGES, Notification
from harness.stack.rabbitmq import PrivateBroker

ROUNDS = 5
LEAST_RATIO = 0.5
PREFETCH = 100
ACKNOWLEDGED = 100


def main() -> int:
    """Print both rates and their ratio; return 1 when it is below its bound."""
    month = generate(1, Period(2026, 7), "os-sim")
    stream = [
        Notification(each.exchange, "notifications.info", body(each)) for each in month.stream
    ]
    billable = sum(each.kind is Kind.BOOKED for each in month.stream)
    bare, ours = [], []
    with PrivateBroker() as broker:
        url = broker.create_vhost("benchmark")
        with AmqpPublisher(url) as publisher:
            subscription(url).close()  # declares and binds the queue
            for _ in range(ROUNDS):
                publisher.publish(stream)
                bare.append(consume(url, len(stream)))
                publisher.publish(stream)
                ours.append(collect(url, len(stream), billable))
    fast, slow = min(bare), min(ours)
    ratio = fast / slow
    print(f"bare: {len(stream) / fast:,.0f}/s, collector: {len(stream) / slow:,.0f}/s")
    print(f"ratio: {ratio:.2f} (at least {LEAST_RATIO})")
    return int(ratio < LEAST_RATIO)


def subscription(url: str) -> AmqpSubscription:
    """Open a session the way the collector does on this broker."""
    return AmqpSubscription(url, exchanges=EXCHANGES, queue_type="classic", prefetch=PREFETCH)


def consume(url: str, total: int) -> float:
    """Count and acknowledge what is in the queue; return the wall seconds."""
    began = time.perf_counter()
    connection = pika.BlockingConnection(pika.URLParameters(url))
    channel = connection.channel()
    channel.basic_qos(prefetch_count=2 * ACKNOWLEDGED)
    count = 0

    def arrived(_channel, method, _properties, _body):
        nonlocal count
        count += 1
        if count % ACKNOWLEDGED == 0 or count == total:
            channel.basic_ack(method.delivery_tag, multiple=True)
        if count == total:
            channel.stop_consuming()

    channel.basic_consume(QUEUE, arrived)
    channel.start_consuming()
    connection.close()
    return time.perf_counter() - began


def collect(url: str, total: int, billable: int) -> float:
    """Take, map and book what is in the queue; return the wall seconds."""
    with tempfile.TemporaryDirectory() as directory:
        settings = Settings(
            cloud="os-sim",
            reporting_url="http://127.0.0.1:1",
            token="unused",
            buffer_path=Path(directory) / "outbox.db",
            prefetch=PREFETCH,
        )
        began = time.perf_counter()
        collector = Collector(settings, lambda: subscription(url))
        collector.start()
        while True:
            seen = collector.counters()
            booked = sum(seen.consumed.values())
            if booked + sum(seen.skipped.values()) + seen.unparseable >= total:
                break
            time.sleep(0.01)
        seconds = time.perf_counter() - began
        collector.stop()
    if booked != billable:
        raise SystemExit(f"{booked} booked of {billable}")
    return seconds
