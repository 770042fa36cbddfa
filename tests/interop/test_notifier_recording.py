"""The recording of a real notifier: how it was made, and that it would be made so again.

Every notification goes through oslo.messaging's own notifier and a real RabbitMQ: envelope, order
of members, timestamps and request context are the library's. What happened is taken out of a
generated month: the whole life of a few resources of every billable type, and one of each noise.
"""

import json
import threading
import warnings
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.broker.publisher import AmqpPublisher
from harness.calendar import Period
from harness.month import Kind, generate
from harness.oracle.fold import BOOKED
from harness.recording.record import Limits, Recorder
from harness.recording.recording import Recording
from harness.recording.writer import RecordingWriter

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import oslo_messaging
    from oslo_config import cfg
    from oslo_context.context import RequestContext
    from oslo_utils import timeutils

pytestmark = pytest.mark.filterwarnings("ignore")

RECORDING = Path(__file__).parents[2] / "recordings" / "oslo-messaging"
#: What differs from one run to the next.
FRESH = {"message_id", "_unique_id"}


def chosen():
    """Return the transitions: lives of two resources of each billable type, and the noise."""
    month = generate(2, Period(2026, 7), "os-sim")
    resources = set()
    for event_type in BOOKED:
        found = dict.fromkeys(
            transition.resource_id
            for transition in month.schedule
            if transition.event_type == event_type and transition.kind is Kind.BOOKED
        )
        resources |= set(list(found)[:2])
    seen = set()
    for transition in month.schedule:
        if transition.kind is Kind.NOISE or transition.kind is Kind.UNSIZED:
            if transition.event_type not in seen:
                seen.add(transition.event_type)
                yield transition
        elif transition.resource_id in resources:
            yield transition


def notify(url, transitions):
    """Publish each through a notifier of its service, at its instant."""
    transports = {}
    try:
        for number, transition in enumerate(transitions):
            exchange = transition.exchange
            if exchange not in transports:
                conf = cfg.ConfigOpts()
                conf([], project="tally-recording", default_config_files=[])
                oslo_messaging.set_transport_defaults(control_exchange=exchange)
                transport = oslo_messaging.get_notification_transport(
                    conf, url=url.replace("amqp", "rabbit", 1)
                )
                conf.set_override("amqp_durable_queues", True, group="oslo_messaging_rabbit")
                transports[exchange] = transport
            notifier = oslo_messaging.Notifier(
                transports[exchange],
                publisher_id=transition.publisher or None,
                driver="messagingv2",
                topics=["notifications"],
            )
            context = RequestContext(
                user_id=transition.user_id,
                project_id=transition.project_id,
                request_id=f"req-33333333-0000-4000-8000-{number:012d}",
            )
            instant = datetime.fromtimestamp(transition.instant, UTC).replace(tzinfo=None)
            timeutils.set_time_override(instant.replace(microsecond=number * 7919 % 1_000_000))
            notifier.info(context, transition.event_type, transition.payload)
    finally:
        oslo_messaging.set_transport_defaults(control_exchange="openstack")
        timeutils.clear_time_override()
        for transport in transports.values():
            transport.cleanup()


def record(url, path):
    """Record what `notify` publishes."""
    transitions = list(chosen())
    with AmqpPublisher(url):  # durable exchanges, as a deployment with durable queues has them
        recorder = Recorder(url)
    thread = threading.Thread(target=notify, args=(url, transitions))
    thread.start()
    writer = RecordingWriter(path, level=19)
    recorder.record(writer, Limits(messages=len(transitions), idle=60), stopped=lambda: False)
    thread.join()
    recorder.close()
    return writer.finish(cloud="os-sim")


def messages(recording):
    for notification in recording.notifications():
        outer = json.loads(notification.body)
        inner = json.loads(outer.pop("oslo.message"))
        members = [(name, None if name in FRESH else value) for name, value in inner.items()]
        yield notification.exchange, notification.routing_key, outer, members


def test_a_real_notifier_publishes_what_the_recording_holds(amqp_url, tmp_path):
    made = record(amqp_url, tmp_path / "made")
    kept = Recording.open(RECORDING)
    assert made.manifest.types == kept.manifest.types
    by_exchange = [{}, {}]
    for streams, recording in zip(by_exchange, (made, kept), strict=True):
        for exchange, *message in messages(recording):
            streams.setdefault(exchange, []).append(message)
    assert by_exchange[0] == by_exchange[1]
