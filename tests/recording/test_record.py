import threading

import pika
import pytest

from harness.broker import BrokerError
from harness.broker.publisher import AmqpPublisher
from harness.errors import UsageError
from harness.recording.record import Limits, Recorder
from harness.recording.recording import Recording
from harness.recording.writer import RecordingWriter


def never():
    return False


def record(url, path, limits, **settings):
    recorder = Recorder(url, **settings)
    try:
        writer = RecordingWriter(path)
        ended = recorder.record(writer, limits, stopped=never)
    finally:
        recorder.close()
    return writer.finish(cloud="os-sim", ended=ended)


def by_exchange(notifications):
    streams = {}
    for notification in notifications:
        streams.setdefault(notification.exchange, []).append(notification)
    return streams


def test_a_month_is_recorded_as_it_was_published(amqp_url, stream, tmp_path):
    with AmqpPublisher(amqp_url) as publisher:
        thread = threading.Thread(
            target=lambda: (bound.wait(30), publisher.publish(stream)), daemon=True
        )
        bound = threading.Event()
        thread.start()
        recorder = Recorder(amqp_url)
        bound.set()
        writer = RecordingWriter(tmp_path / "month")
        ended = recorder.record(writer, Limits(messages=len(stream), idle=30), stopped=never)
        recorder.close()
        recording = writer.finish(cloud="os-sim", ended=ended)
        thread.join(30)
    assert ended == "limit"
    recorded = list(Recording.open(recording.path).notifications())
    assert by_exchange(recorded) == by_exchange(stream)
    recording.check()


def test_takes_nothing_from_the_collectors_queue_and_leaves_nothing_behind(
    amqp_url, message, tmp_path
):
    connection = pika.BlockingConnection(pika.URLParameters(amqp_url))
    channel = connection.channel()
    with AmqpPublisher(amqp_url) as publisher:
        channel.queue_declare("tally-notifications", durable=True)
        channel.queue_bind("tally-notifications", "nova", "notifications.info")
        threading.Timer(0.5, publisher.publish, [[message(n) for n in range(20)]]).start()
        recording = record(amqp_url, tmp_path / "r", Limits(messages=20, idle=20))
        assert recording.manifest.notifications == 20
        answer = channel.queue_declare("tally-notifications", passive=True)
        assert answer.method.message_count == 20
    connection.close()


def test_creates_no_exchange(amqp_url, tmp_path):
    with pytest.raises(UsageError, match="creates none"):
        Recorder(amqp_url, exchanges=["heat"])
    with pytest.raises(UsageError, match="nova"):
        Recorder(amqp_url)
    connection = pika.BlockingConnection(pika.URLParameters(amqp_url))
    connection.channel().exchange_declare("nova", exchange_type="topic")
    recorder = Recorder(amqp_url)
    assert recorder.exchanges == ("nova",)
    assert "neutron" in recorder.missing
    recorder.close()
    for name in ("heat", "neutron"):
        with pytest.raises(pika.exceptions.ChannelClosedByBroker):
            connection.channel().exchange_declare(name, passive=True)
    connection.close()


def test_ends_by_time_by_idleness_and_when_told(amqp_url, message, tmp_path):
    with AmqpPublisher(amqp_url) as publisher:
        assert record(amqp_url, tmp_path / "time", Limits(seconds=0.3)).manifest.ended == "time"
        assert record(amqp_url, tmp_path / "idle", Limits(idle=0.3)).manifest.ended == "idle"
        recorder = Recorder(amqp_url)
        publisher.publish([message(1)])
        writer = RecordingWriter(tmp_path / "told")
        ended = recorder.record(writer, Limits(), stopped=lambda: writer.survey.notifications > 0)
        recorder.close()
        assert ended == "interrupted"
        assert writer.finish(cloud="os-sim", ended=ended).manifest.notifications == 1


def test_a_limit_is_exact(amqp_url, message, tmp_path):
    with AmqpPublisher(amqp_url) as publisher:
        recorder = Recorder(amqp_url)
        publisher.publish([message(n) for n in range(50)])
        writer = RecordingWriter(tmp_path / "limit")
        assert recorder.record(writer, Limits(messages=7), stopped=never) == "limit"
        recorder.close()
        assert writer.finish(cloud="os-sim").manifest.notifications == 7


def test_other_keys_are_bound_when_named(amqp_url, message, tmp_path):
    error = message(1)
    error = type(error)("nova", "notifications.error", error.body)
    with AmqpPublisher(amqp_url) as publisher:
        recorder = Recorder(amqp_url, exchanges=["nova"], topics=["notifications.#"])
        publisher.publish([error, message(2)])
        writer = RecordingWriter(tmp_path / "keys")
        recorder.record(writer, Limits(messages=2, idle=20), stopped=never)
        recorder.close()
        manifest = writer.finish(cloud="os-sim").manifest
    assert manifest.routing_keys == ("notifications.error", "notifications.info")


def test_a_lost_session_keeps_what_came_before(private_broker, message, tmp_path):
    url = private_broker.create_vhost("recorded")
    publisher = AmqpPublisher(url)
    recorder = Recorder(url)
    publisher.publish([message(1)])
    writer = RecordingWriter(tmp_path / "lost")

    def look():
        if writer.survey.notifications:
            private_broker.delete_vhost("recorded")
        return False

    ended = recorder.record(writer, Limits(idle=60), stopped=look)
    recorder.close()
    publisher.close()
    assert ended.startswith("connection lost: ")
    recording = writer.finish(cloud="os-sim", ended=ended)
    assert recording.check().notifications == 1


def test_an_unreachable_broker_is_told_without_the_password():
    with pytest.raises(BrokerError, match=r"127\.0\.0\.1:1") as caught:
        Recorder("amqp://u:s3cret@127.0.0.1:1/")
    assert "s3cret" not in str(caught.value)
