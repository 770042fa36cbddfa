"""Crashes at the two places where a message and its event are in two hands.

The collector runs as a process that ends itself, without a farewell, at a checkpoint. Only tests
can switch a checkpoint on: it is an argument of the class and no setting.
"""

import subprocess
import sys
import textwrap

import pytest

from harness.broker.publisher import AmqpPublisher
from harness.broker.subscription import AmqpSubscription
from harness.collector.service import Collector
from harness.oslo import Notification

CHILD = """
    import os, sys, threading
    from pathlib import Path
    from harness.broker.subscription import AmqpSubscription
    from harness.collector.service import Collector
    from harness.collector.settings import Settings

    url, reporting, path, point = sys.argv[1:]

    def checkpoint(reached):
        if reached == point:
            os._exit(9)

    Collector(
        Settings(
            cloud="os-sim", reporting_url=reporting, token="t", buffer_path=Path(path),
            flush_interval=0.02, batch_max=7,
        ),
        lambda: AmqpSubscription(url, exchanges=("openstack",), queue_type="classic"),
        checkpoint=checkpoint,
    ).start()
    threading.Event().wait(30)
"""


@pytest.fixture
def crash(amqp_url, settings, reporting):
    def run(point):
        result = subprocess.run(
            [
                *(sys.executable, "-c", textwrap.dedent(CHILD), amqp_url, reporting.url),
                *(str(settings().buffer_path), point),
            ],
            timeout=60,
            check=False,
        )
        assert result.returncode == 9

    return run


@pytest.fixture
def survivor(amqp_url, settings, reporting, eventually):
    """Runs an undisturbed collector until it has nothing left to do."""

    def run(total, consumed=0):
        collector = Collector(
            settings(),
            lambda: AmqpSubscription(amqp_url, exchanges=("openstack",), queue_type="classic"),
        )
        collector.start()
        try:
            eventually(lambda: len(reporting.stored) == total)
            eventually(lambda: sum(collector.counters().consumed.values()) >= consumed)
            eventually(lambda: collector.counters().buffered == 0)
        finally:
            collector.stop()
        return collector._counters.snapshot()

    return run


@pytest.fixture
def publish(amqp_url, envelope):
    def send(total):
        with AmqpPublisher(amqp_url, exchanges=("openstack",)) as publisher:
            AmqpSubscription(amqp_url, exchanges=("openstack",), queue_type="classic").close()
            publisher.publish(
                Notification(
                    "openstack", "notifications.info", envelope("volume.create.end", str(n))
                )
                for n in range(total)
            )

    return send


def test_between_commit_and_acknowledgement(publish, crash, survivor, reporting):
    publish(50)
    crash("committed")
    before = len(reporting.stored)
    # What was on disk and not acknowledged comes again, and is recognised.
    seen = survivor(50, consumed=50)
    assert sum(seen.consumed.values()) == 50
    assert reporting.duplicates > 0
    assert before < 50
    assert {event_id for event_id, _ in reporting.stored} == {str(number) for number in range(50)}


def test_between_post_and_deletion(publish, crash, survivor, reporting):
    publish(50)
    crash("posted")
    assert 0 < len(reporting.stored) <= 7
    posted = len(reporting.stored)
    survivor(50)
    assert reporting.duplicates >= posted
    assert {event_id for event_id, _ in reporting.stored} == {str(number) for number in range(50)}


def test_crash_after_crash(publish, crash, survivor, reporting):
    publish(40)
    for point in ("committed", "posted") * 2:
        crash(point)
    survivor(40)
    assert {event_id for event_id, _ in reporting.stored} == {str(number) for number in range(40)}
