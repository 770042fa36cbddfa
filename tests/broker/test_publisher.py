import contextlib
import json
import socket
import threading
import time

import pika
import pytest
from hypothesis import example, given
from hypothesis.strategies import binary, integers, text

from harness.broker import BrokerError, PublishError
from harness.broker.address import wait_for_consumer
from harness.broker.publisher import _PROPERTIES, AmqpPublisher, _Connection, message_id
from harness.errors import UsageError
from harness.oslo import EXCHANGES, Notification


def message(number, exchange="nova", size=0):
    inner = {"message_id": f"id-{number}", "padding": "x" * size}
    body = {"oslo.version": "2.0", "oslo.message": json.dumps(inner)}
    return Notification(exchange, "notifications.info", json.dumps(body).encode())


@contextlib.contextmanager
def connected(url):
    connection = pika.BlockingConnection(pika.URLParameters(url))
    try:
        yield connection.channel()
    finally:
        if connection.is_open:
            connection.close()


def bound_queue(channel, exchanges=("nova",), **arguments):
    queue = channel.queue_declare("", exclusive=True, arguments=arguments).method.queue
    for exchange in exchanges:
        channel.queue_bind(queue, exchange, "notifications.info")
    return queue


def take(channel, queue, count):
    taken = []
    while len(taken) < count:
        method, properties, body = channel.basic_get(queue, auto_ack=True)
        if method is None:
            break
        taken.append((method, properties, body))
    return taken


def test_publishes_in_order_byte_for_byte_across_exchanges(amqp_url):
    sent = [message(n, EXCHANGES[n % 8], size=n % 50 * 100) for n in range(3_000)]
    counts = []
    with AmqpPublisher(amqp_url) as publisher, connected(amqp_url) as channel:
        queue = bound_queue(channel, EXCHANGES)
        assert publisher.publish(iter(sent), confirmed=counts.append) == 3_000
        taken = take(channel, queue, 3_001)
    assert [(method.exchange, body) for method, _, body in taken] == [
        (notification.exchange, notification.body) for notification in sent
    ]
    assert counts == sorted(counts)
    assert counts[-1] == 3_000
    properties = taken[0][1]
    assert properties.content_type == "application/json"
    assert properties.delivery_mode == 2
    assert properties.headers is None
    assert properties.content_encoding is None


def test_declares_durable_topic_exchanges_where_none_are(amqp_url):
    with AmqpPublisher(amqp_url):
        pass
    with connected(amqp_url) as channel:
        for exchange in EXCHANGES:
            channel.exchange_declare(exchange, exchange_type="topic", durable=True)


def test_uses_an_existing_exchange_as_it_is(amqp_url):
    with connected(amqp_url) as channel:
        channel.exchange_declare("nova", exchange_type="fanout", durable=False)
        queue = bound_queue(channel)
        with AmqpPublisher(amqp_url) as publisher:
            publisher.publish([message(1)])
        assert len(take(channel, queue, 1)) == 1
        channel.exchange_delete("nova")


def test_a_publisher_publishes_more_than_once(amqp_url):
    with AmqpPublisher(amqp_url) as publisher, connected(amqp_url) as channel:
        queue = bound_queue(channel)
        counts = []
        assert publisher.publish([message(1), message(2)], confirmed=counts.append) == 2
        assert publisher.publish([]) == 0
        assert publisher.publish([message(3)], confirmed=counts.append) == 1
        assert counts[-1] == 1
        assert [message_id(body) for _, _, body in take(channel, queue, 9)] == [
            "id-1",
            "id-2",
            "id-3",
        ]


def test_confirms_are_told_while_the_source_is_still_waiting(amqp_url):
    confirmed = threading.Event()

    def source():
        yield message(1)
        assert confirmed.wait(10)
        yield message(2)

    with AmqpPublisher(amqp_url) as publisher:
        assert publisher.publish(source(), confirmed=lambda _count: confirmed.set()) == 2


def test_no_more_than_a_window_is_out_at_once(amqp_url):
    confirmed = [0]
    ahead = []

    def source():
        for number in range(500):
            ahead.append(number - confirmed[0])
            yield message(number)

    with AmqpPublisher(amqp_url, window=10) as publisher:
        publisher.publish(source(), confirmed=lambda count: confirmed.__setitem__(0, count))
    assert 1 < max(ahead) <= 10


def test_a_refused_message_is_named(amqp_url):
    with AmqpPublisher(amqp_url) as publisher, connected(amqp_url) as channel:
        arguments = {"x-max-length": 2, "x-overflow": "reject-publish"}
        queue = channel.queue_declare("", exclusive=True, arguments=arguments).method.queue
        channel.queue_bind(queue, "nova", "notifications.info")
        with pytest.raises(PublishError, match=r"nova.*refused.*id-\d+ on nova"):
            publisher.publish(message(number) for number in range(2_000))


def test_a_vanished_exchange_is_an_error_that_names_the_message(amqp_url):
    with AmqpPublisher(amqp_url) as publisher, connected(amqp_url) as channel:
        channel.exchange_delete("neutron")
        with pytest.raises(PublishError, match=r"neutron.*404.*id-1 on neutron"):
            publisher.publish([message(0), message(1, "neutron")])
        with pytest.raises(PublishError, match="404"):
            publisher.publish([message(2)])


def test_an_exchange_that_is_not_declared_is_an_error(amqp_url):
    with AmqpPublisher(amqp_url) as publisher, pytest.raises(PublishError, match="heat"):
        publisher.publish([message(1, "heat")])


def test_a_lost_connection_is_an_error_that_names_the_message(private_broker):
    url = private_broker.create_vhost("vanishing")
    with AmqpPublisher(url) as publisher:

        def source():
            yield from map(message, range(100))
            private_broker.delete_vhost("vanishing")
            for number in range(100, 100_000):
                time.sleep(0.001)
                yield message(number)

        with pytest.raises(PublishError, match=r"publishing to nova: .*id-\d+ on nova"):
            publisher.publish(source())


def test_closing_from_another_thread_ends_a_publication(amqp_url):
    publisher = AmqpPublisher(amqp_url)

    def source():
        for number in range(100_000):
            time.sleep(0.001)
            yield message(number)

    timer = threading.Timer(0.1, publisher.close)
    timer.start()
    with pytest.raises(PublishError):
        publisher.publish(source())
    timer.join()
    publisher.close()


def test_what_the_source_raises_comes_through(amqp_url):
    def source():
        yield message(1)
        raise KeyError("source")

    with AmqpPublisher(amqp_url) as publisher:
        with pytest.raises(KeyError, match="source"):
            publisher.publish(source())
        assert publisher.publish([message(2)]) == 1


@pytest.mark.slow
def test_a_blocked_broker_is_an_error_within_the_time_out(private_broker, amqp_url):
    with AmqpPublisher(amqp_url, blocked_timeout=2) as publisher:
        private_broker.control("set_vm_memory_high_watermark", "absolute", "1MB")
        try:
            started = time.monotonic()
            with pytest.raises(PublishError, match=r"[Bb]lock.*id-\d+ on nova"):
                publisher.publish(message(number, size=1_000) for number in range(50_000))
            assert time.monotonic() - started < 15
        finally:
            private_broker.control("set_vm_memory_high_watermark", "0.4")


def test_an_unreachable_or_unwilling_broker_is_told_without_the_password(amqp_url, free_port):
    with pytest.raises(BrokerError, match=f"127.0.0.1:{free_port}") as caught:
        AmqpPublisher(f"amqp://user:s3cret@127.0.0.1:{free_port}/")
    assert "s3cret" not in str(caught.value)
    port = pika.URLParameters(amqp_url).port
    with pytest.raises(BrokerError, match=r"ACCESS_REFUSED|refused|403") as caught:
        AmqpPublisher(f"amqp://user:s3cret@127.0.0.1:{port}/")
    assert "s3cret" not in str(caught.value)
    with pytest.raises(UsageError):
        AmqpPublisher("s3cret")


def test_the_consumer_wait_sees_a_consumer_arrive(amqp_url):
    with connected(amqp_url) as channel:

        def arrive():
            with connected(amqp_url) as late:
                late.queue_declare("tally-notifications", durable=True)
                late.basic_consume("tally-notifications", lambda *_: None)
                late.connection.process_data_events(1.5)

        started = time.monotonic()
        thread = threading.Timer(0.2, arrive)
        thread.start()
        wait_for_consumer(amqp_url, 10, interval=0.05)
        assert time.monotonic() - started < 5
        thread.join()
        channel.queue_delete("tally-notifications")


def test_the_consumer_wait_ends_with_what_to_do(amqp_url):
    with pytest.raises(BrokerError, match="start the collector first"):
        wait_for_consumer(amqp_url, 0.1, interval=0.05)
    with connected(amqp_url) as channel:
        channel.queue_declare("tally-notifications", durable=True)
    with pytest.raises(BrokerError, match="nobody consumes"):
        wait_for_consumer(amqp_url, 0.1, interval=0.05)


def test_no_wait_is_no_look():
    wait_for_consumer("amqp://127.0.0.1:1/", 0)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b'{"oslo.message": 7}',
        b'{"oslo.message": "[]"}',
        b'{"oslo.message": "{}"}',
        b"[" * 100_000,
    ],
)
def test_a_body_without_an_id_is_named_by_its_length(body):
    assert message_id(body) == f"(no message id, {len(body)} bytes)"


@pytest.fixture
def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@given(
    text(max_size=60),
    text(max_size=60),
    binary(max_size=200) | integers(0, 400_000).map(lambda size: b"x" * size),
)
@example("nova", "notifications.info", b"x" * 131_064)
@example("nova", "notifications.info", b"x" * 131_065)
def test_sends_the_frames_that_pika_would(exchange, routing_key, body):
    connection = _Connection(pika.ConnectionParameters(), internal_connection_workflow=False)
    connection._body_max_length = 131_064
    channel = pika.channel.Channel(connection, 1, None)
    channel._set_state(channel.OPEN)
    connection.gather()
    connection.publish(1, Notification(exchange, routing_key, body))
    sent = b"".join(connection._gathered)
    connection.gather()
    channel.basic_publish(exchange, routing_key, body, _PROPERTIES)
    assert sent == b"".join(connection._gathered)
    connection.ioloop.close()
