"""The collector on a real RabbitMQ, in process and as a process."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from types import SimpleNamespace

import pika
import pika.data
import pytest

from harness.broker import BrokerError
from harness.broker.publisher import AmqpPublisher
from harness.broker.subscription import AmqpSubscription
from harness.collector.service import Collector
from harness.oslo import Notification


@pytest.fixture
def publish(amqp_url, envelope):
    with AmqpPublisher(amqp_url, exchanges=("nova", "openstack")) as publisher:

        def send(bodies, exchange="openstack"):
            publisher.publish(Notification(exchange, "notifications.info", body) for body in bodies)

        yield send


def subscription(url, **changes):
    return AmqpSubscription(
        url, **({"exchanges": ("nova", "openstack"), "queue_type": "classic"} | changes)
    )


def test_a_collector_on_a_real_broker(amqp_url, publish, settings, reporting, envelope, eventually):
    collector = Collector(settings(), lambda: subscription(amqp_url))
    collector.start()
    try:
        collector.wait_until_consuming(10)
        publish([envelope("volume.create.end", f"m{index}") for index in range(250)])
        publish([envelope("compute.instance.update", "s"), b"damaged"], "nova")
        eventually(lambda: len(reporting.stored) == 250)
        eventually(lambda: collector.counters().unparseable == 1)
        eventually(lambda: collector.counters().buffered == 0)
        seen = collector.counters()
        assert seen.consumed == {"volume.create.end": 250}
        assert seen.skipped == {"compute.instance.update": 1}
        assert (seen.delivered, seen.delivery_errors) == (250, 0)
        assert reporting.requests[0][:2] == ("/api/v1/events", "Bearer tly_i_test")
    finally:
        collector.stop()
    with subscription(amqp_url) as again:
        assert again.receive(10, 0.3) == []


def waiting(url):
    """Return how many messages wait in the queue, and how many consumers it has."""
    connection = pika.BlockingConnection(pika.URLParameters(url))
    answer = connection.channel().queue_declare("tally-notifications", passive=True).method
    connection.close()
    return answer.message_count, answer.consumer_count


def test_a_full_outbox_leaves_messages_with_the_broker(
    amqp_url, publish, settings, reporting, envelope, eventually, monkeypatch
):
    monkeypatch.setattr("harness.collector.sender._DELAY_MAX", 0.2)
    monkeypatch.setattr("harness.collector.sender._DELAY_FIRST", 0.05)
    monkeypatch.setattr("random.random", lambda: 0.0)
    left = [0]

    def take(items):
        if left[0] < len(items):
            return 503, b"{}"
        left[0] -= len(items)
        return None

    reporting.script = take
    collector = Collector(
        settings(buffer_max_events=200, batch_max=10), lambda: subscription(amqp_url)
    )
    collector.start()
    try:
        collector.wait_until_consuming(10)
        publish([envelope("volume.create.end", f"m{index}") for index in range(500)])
        eventually(lambda: collector.counters().buffered == 200)
        # Nobody consumes, and everything that was handed out and not acknowledged is back.
        eventually(lambda: waiting(amqp_url) == (300, 0))
        left[0] = 20
        eventually(lambda: collector.counters().buffered == 180)
        assert waiting(amqp_url) == (300, 0)  # not below nine tenths yet
        left[0] = 10
        eventually(lambda: waiting(amqp_url)[0] < 300)
        left[0] = 10_000
        eventually(lambda: len(reporting.stored) == 500, 30)
        eventually(lambda: waiting(amqp_url) == (0, 1))
        assert reporting.duplicates == 0
        assert sum(collector.counters().consumed.values()) == 500
    finally:
        collector.stop()


def test_what_is_not_acknowledged_returns(amqp_url, publish, envelope):
    with subscription(amqp_url) as first:
        publish([envelope("volume.create.end", f"m{index}") for index in range(5)])
        taken = []
        while len(taken) < 5:
            taken += first.receive(5 - len(taken), 5)
        first.ack([taken[0], taken[2]])
        first.requeue([taken[1]])
    with subscription(amqp_url) as second:
        back = []
        while len(back) < 3:
            back += second.receive(10, 5)
        assert [delivery.body for delivery in back] == [taken[index].body for index in (1, 3, 4)]
        assert all(delivery.redelivered for delivery in back)
        second.ack(back)


def test_a_pause_gives_back_what_was_prefetched(amqp_url, publish, envelope, private_broker):
    with subscription(amqp_url, prefetch=50) as paused:
        publish([envelope("volume.create.end", f"m{index}") for index in range(60)])
        held = list(paused.receive(1, 5))
        paused.pause()
        paused.requeue(held)
        assert paused.receive(10, 0.2) == []
        with subscription(amqp_url, prefetch=60) as other:
            seen = []
            while len(seen) < 60:
                seen += other.receive(60, 5)
            assert len({delivery.body for delivery in seen}) == 60
        paused.resume()
        again = []
        while len(again) < 60:
            batch = paused.receive(60, 5)
            paused.ack(batch)
            again += batch


def test_an_exchange_that_appears_later_is_bound(amqp_url, publish, envelope):
    publish([])
    with subscription(amqp_url, exchanges=("openstack", "octavia")) as late:
        assert late.receive(1, 0.1) == []
        with AmqpPublisher(amqp_url, exchanges=("octavia",)) as publisher:
            taken = late.receive(1, 1.5)
            publisher.publish([Notification("octavia", "notifications.info", b"{}")])
            taken = taken or late.receive(1, 5)
        assert [delivery.exchange for delivery in taken] == ["octavia"]
        late.ack(taken)


def test_no_exchange_at_all(amqp_url):
    with pytest.raises(BrokerError, match="no exchange of glance, octavia;"):
        subscription(amqp_url, exchanges=("glance", "octavia"))


def test_a_required_exchange(amqp_url, publish):
    publish([])
    with pytest.raises(BrokerError, match="lacks the exchange glance"):
        subscription(amqp_url, exchanges=("nova", "glance"), require_exchanges=True)


def test_exchanges_are_never_created(amqp_url, publish):
    publish([])
    with subscription(amqp_url, exchanges=("nova", "glance")) as session:
        session.receive(1, 1.2)
    connection = pika.BlockingConnection(pika.URLParameters(amqp_url))
    with pytest.raises(pika.exceptions.ChannelClosedByBroker, match="404"):
        connection.channel().exchange_declare("glance", passive=True)
    connection.close()


def test_quorum_needs_a_newer_broker(amqp_url, publish, private_broker):
    publish([])
    if private_broker.version >= (4,):
        with subscription(amqp_url, queue_type="quorum") as session:
            assert session.receive(1, 0.1) == []
    else:
        with pytest.raises(BrokerError, match=r"version 3\..*set TALLY_OSC_QUEUE_TYPE=classic"):
            subscription(amqp_url, queue_type="quorum")


def test_what_is_declared_on_a_newer_broker():
    declared = []

    class Channel:
        def queue_declare(self, queue, **options):
            declared.append((queue, options))

    session = object.__new__(AmqpSubscription)
    session._channel = Channel()
    session._where = "amqp://broker"
    for version in (b"4.0.0", "4.1.2", "10.0.0"):
        properties = {"version": version}
        session._connection = SimpleNamespace(_impl=SimpleNamespace(server_properties=properties))
        session._declare("quorum")
    arguments = {"x-queue-type": "quorum", "x-delivery-limit": -1}
    assert declared == [("tally-notifications", {"durable": True, "arguments": arguments})] * 3
    pieces = []
    pika.data.encode_table(pieces, arguments)
    assert b"".join(pieces).endswith(b"x-delivery-limitI\xff\xff\xff\xff")  # 32 bits, signed
    for version in (b"3.13.7", "", None, "unknown"):
        properties = {"version": version}
        session._connection = SimpleNamespace(_impl=SimpleNamespace(server_properties=properties))
        with pytest.raises(BrokerError, match="set TALLY_OSC_QUEUE_TYPE=classic"):
            session._declare("quorum")
    assert len(declared) == 3


def test_a_queue_with_other_arguments(amqp_url, publish):
    publish([])
    connection = pika.BlockingConnection(pika.URLParameters(amqp_url))
    connection.channel().queue_declare(
        "tally-notifications", durable=True, arguments={"x-max-length": 5}
    )
    connection.close()
    with pytest.raises(BrokerError, match="not declared as TALLY_OSC_QUEUE_TYPE=classic"):
        subscription(amqp_url)


def test_a_deleted_queue_ends_the_session(amqp_url, publish):
    publish([])
    with subscription(amqp_url) as session:
        connection = pika.BlockingConnection(pika.URLParameters(amqp_url))
        connection.channel().queue_delete("tally-notifications")
        connection.close()
        with pytest.raises(BrokerError, match="cancelled the consumer"):
            session.receive(1, 5)


def test_a_broker_that_is_not_there():
    with pytest.raises(BrokerError, match=r"dialing the broker amqp://127\.0\.0\.1:1") as error:
        subscription("amqp://user:sesame@127.0.0.1:1")
    assert "sesame" not in str(error.value)


def environment(url, reporting_url, path, **changes):
    return (
        {name: os.environ[name] for name in ("PATH",)}
        | {
            "TALLY_OSC_AMQP_URL": url,
            "TALLY_OSC_CLOUD": "os-sim",
            "TALLY_OSC_REPORTING_URL": reporting_url,
            "TALLY_OSC_REPORTING_INSECURE": "true",
            "TALLY_OSC_TOKEN": "tly_i_sesame",
            "TALLY_OSC_BUFFER_PATH": str(path),
            "TALLY_OSC_HTTP_PORT": "0",
            "TALLY_OSC_QUEUE_TYPE": "classic",
            "TALLY_OSC_FLUSH_INTERVAL_S": "0.05",
            "TALLY_OSC_SUMMARY_INTERVAL_S": "1",
        }
        | changes
    )


def test_the_process(amqp_url, publish, reporting, envelope, tmp_path, eventually):
    publish([])
    path = tmp_path / "outbox.db"
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "collector"],
        env=environment(amqp_url, reporting.url, path),
        stdout=subprocess.PIPE,
        text=True,
    )
    lines = []
    try:
        for text in process.stdout:
            lines.append(json.loads(text))
            if lines[-1]["msg"] == "consuming":
                break
        port = next(line["port"] for line in lines if line["msg"] == "listening")
        publish([envelope("volume.create.end", f"m{index}") for index in range(20)])
        eventually(lambda: len(reporting.stored) == 20)

        def get(route):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{route}", timeout=5) as answer:
                return answer.read().decode()

        assert get("readyz") == get("healthz") == "ok"
        eventually(lambda: "tally_collector_delivered_total 20.0" in get("metrics"))
        metrics = get("metrics")
        assert 'tally_collector_consumed_total{event_type="volume.create.end"} 20.0' in metrics
        assert "tally_collector_buffer_depth 0.0" in metrics
        for text in process.stdout:
            lines.append(json.loads(text))
            if lines[-1]["msg"] == "summary":
                break
    finally:
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert lines[-1].items() >= {"service": "collector", "connected": True, "consumed": 20}.items()
    text = rest + json.dumps(lines)
    assert "sesame" not in text
    assert "amqp://" not in text or "@" not in text
    assert path.stat().st_mode & 0o777 == 0o600


def test_settings_are_checked_before_anything_is_dialled(tmp_path):
    incomplete = environment("amqp://127.0.0.1:1", "http://127.0.0.1:1", tmp_path / "o.db")
    del incomplete["TALLY_OSC_CLOUD"]
    result = subprocess.run(
        [sys.executable, "-m", "harness", "collector"],
        env=incomplete,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (2, "Error: TALLY_OSC_CLOUD: must be set\n")
    assert list(tmp_path.iterdir()) == []
