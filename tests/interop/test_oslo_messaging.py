"""The wire, against the library every OpenStack service publishes with.

A real notifier publishes to our collector, and a real listener consumes what our publisher put on
the bus; both through a real RabbitMQ.
"""

import json
import queue
import sqlite3
import time
import warnings
from datetime import UTC, datetime

import pytest

from harness.broker.publisher import AmqpPublisher
from harness.broker.subscription import AmqpSubscription
from harness.collector.service import Collector
from harness.collector.settings import Settings
from harness.oslo import Notification

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import oslo_messaging
    from oslo_config import cfg
    from oslo_context.context import RequestContext

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def transport(amqp_url):
    conf = cfg.ConfigOpts()
    conf([], project="tally-test", default_config_files=[])
    built = oslo_messaging.get_notification_transport(
        conf, url=amqp_url.replace("amqp", "rabbit", 1)
    )
    conf.set_override("amqp_durable_queues", True, group="oslo_messaging_rabbit")
    conf.set_override("rabbit_quorum_queue", False, group="oslo_messaging_rabbit")
    yield built
    built.cleanup()


def booked(path):
    """Read the events in an outbox whose collector is still at work."""
    connection = sqlite3.connect(path)
    events = [json.loads(row[0]) for row in connection.execute("SELECT event_json FROM outbox")]
    connection.close()
    return events


def eventually(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.02)


def test_our_collector_consumes_what_a_notifier_publishes(transport, amqp_url, tmp_path):
    notifier = oslo_messaging.Notifier(
        transport, publisher_id="compute.host-1", driver="messagingv2", topics=["notifications"]
    )
    context = RequestContext(project_id="caller", user_id="u", auth_token="sesame")
    notifier.info(context, "compute.instance.update", {"ahead": True})  # declares the exchange
    collector = Collector(
        Settings(
            cloud="os-sim",
            reporting_url="http://127.0.0.1:1",  # nobody there: events stay in the outbox
            token="unused",
            buffer_path=tmp_path / "outbox.db",
        ),
        lambda: AmqpSubscription(amqp_url, exchanges=("openstack",), queue_type="classic"),
    )
    collector.start()
    try:
        collector.wait_until_consuming(10)
        before = datetime.now(UTC)
        notifier.info(
            context,
            "compute.instance.create.end",
            {
                "instance_id": "i-1", "tenant_id": "owner", "state": "active", "vcpus": 2,
                "memory_mb": 512, "root_gb": 10, "ephemeral_gb": 0, "instance_type": "grün<1>",
            },
        )  # fmt: skip
        notifier.info(context, "floatingip.delete.end", {"floatingip_id": "f-1"})
        notifier.info(context, "port.create.end", {"port": {"id": "x", "ratio": 1.5}})
        eventually(lambda: len(booked(tmp_path / "outbox.db")) == 2)
        eventually(lambda: collector.counters().skipped == {"port.create.end": 1})
        server, address = booked(tmp_path / "outbox.db")
        assert len(server["event_id"]) == 36
        assert before <= datetime.fromisoformat(server.pop("timestamp")) <= datetime.now(UTC)
        assert server.pop("event_id") != address["event_id"]
        assert server == {
            "event_type": "compute.instance.create.end",
            "platform": "openstack",
            "cloud": "os-sim",
            "resource_type": "instance",
            "resource_id": "i-1",
            "project_id": "owner",
            "source": "collector",
            "payload": {
                "state": "active",
                "size": {"vcpus": 2, "ram_gb": 0.5, "disk_gb": 10, "flavor": "grün<1>"},
                "provider": {"oslo_event_type": "compute.instance.create.end"},
            },
        }
        assert (address["resource_id"], address["project_id"]) == ("f-1", "caller")
        assert collector.counters().unparseable == 0
    finally:
        collector.stop()


class Endpoint:
    def __init__(self):
        self.seen = queue.Queue()

    def info(self, context, publisher_id, event_type, payload, metadata):
        self.seen.put((context, publisher_id, event_type, payload, metadata))


def test_a_listener_consumes_what_our_publisher_publishes(transport, amqp_url):
    inner = {
        "_context_project_id": "p", "_context_tenant_id": "p", "_context_user_id": "u",
        "event_type": "volume.create.end", "message_id": "6027e9e2-6bf0-4f5a-ac8d-0957b8cd18fc",
        "payload": {"volume_id": "v", "size": 10, "name": "grün"}, "priority": "INFO",
        "publisher_id": None, "timestamp": "2026-07-01 00:00:00.000000",
    }  # fmt: skip
    body = json.dumps({"oslo.message": json.dumps(inner), "oslo.version": "2.0"}).encode()
    endpoint = Endpoint()
    with AmqpPublisher(amqp_url) as publisher:
        listener = oslo_messaging.get_notification_listener(
            transport,
            [
                oslo_messaging.Target(topic="notifications", exchange=name)
                for name in ("nova", "openstack")
            ],
            [endpoint],
            executor="threading",
            pool="witness",
        )
        listener.start()
        try:
            publisher.publish([Notification("openstack", "notifications.info", body)] * 2)
            publisher.publish([Notification("nova", "notifications.info", body)])
            for _ in range(3):
                context, publisher_id, event_type, payload, metadata = endpoint.seen.get(timeout=20)
                assert (publisher_id, event_type) == (None, "volume.create.end")
                assert payload == inner["payload"]
                assert metadata == {
                    "message_id": inner["message_id"],
                    "timestamp": inner["timestamp"],
                }
                assert context["project_id"] == "p"
        finally:
            listener.stop()
            listener.wait()
