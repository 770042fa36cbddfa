"""The collector between an in-memory bus and a Reporting API."""

import json
import sqlite3
import threading

import pytest

from harness.broker import BrokerError
from harness.broker.memory import MemoryBus
from harness.collector.service import Collector
from harness.oslo import Notification


@pytest.fixture
def bus():
    return MemoryBus()


@pytest.fixture
def publish(bus, envelope):
    def send(*message_ids, event_type="volume.create.end", **payload):
        bus.publisher().publish(
            Notification(
                "openstack", "notifications.info", envelope(event_type, message_id, **payload)
            )
            for message_id in message_ids
        )

    return send


@pytest.fixture
def run(bus, settings):
    """Starts collectors and stops them after the test."""
    started = []

    def start(subscribe=None, **changes):
        options = {name: changes.pop(name) for name in ("now", "checkpoint") if name in changes}
        built = Collector(settings(**changes), subscribe or bus.subscription, **options)
        built.start()
        started.append(built)
        return built

    yield start
    for collector in started:
        collector.stop()


def test_messages_end_in_their_counters(run, publish, bus, reporting, eventually):
    publish("a", "b", "a")
    publish("c", event_type="image.create", size=None)
    publish("d", event_type="network.create.end")
    bus.publisher().publish([Notification("nova", "notifications.info", b"\xff")])
    collector = run()
    eventually(lambda: len(reporting.stored) == 2)
    eventually(lambda: collector.counters().unparseable == 1)
    eventually(lambda: collector.counters().buffered == 0)
    seen = collector.counters()
    assert seen.consumed == {"volume.create.end": 3}
    assert seen.skipped == {"image.create": 1, "network.create.end": 1}
    assert (seen.delivered, reporting.duplicates) == (2, 1)
    assert bus.depth() == 0


def test_a_bound_pauses_the_consumer(run, publish, bus, reporting, eventually):
    down = threading.Event()
    reporting.script = lambda _: None if down.is_set() else (503, b"{}")
    publish(*(f"m{index}" for index in range(500)))
    collector = run(buffer_max_events=200)
    eventually(lambda: collector.counters().buffered == 200)
    eventually(lambda: bus.depth() == 300)  # everything unacknowledged went back
    assert collector.counters().connected
    assert sum(collector.counters().consumed.values()) == 200
    down.set()
    eventually(lambda: len(reporting.stored) == 500)
    assert reporting.duplicates == 0
    assert sum(collector.counters().consumed.values()) == 500


def test_it_resumes_below_nine_tenths_only(run, publish, bus, reporting, eventually, monkeypatch):
    left = [0]

    def take(items):
        if left[0] < len(items):
            return 503, b"{}"
        left[0] -= len(items)
        return None

    reporting.script = take
    monkeypatch.setattr("harness.collector.sender._DELAY_MAX", 0.05)
    monkeypatch.setattr("harness.collector.sender._DELAY_FIRST", 0.05)
    monkeypatch.setattr("random.random", lambda: 0.0)
    publish(*(f"m{index}" for index in range(150)))
    collector = run(buffer_max_events=100, batch_max=10)
    eventually(lambda: collector.counters().buffered == 100)
    left[0] = 10
    eventually(lambda: collector.counters().buffered == 90)
    assert bus.depth() == 50  # 90 is not below 0.9 of the bound
    left[0] = 10
    eventually(lambda: bus.depth() < 50)
    left[0] = 1000
    eventually(lambda: len(reporting.stored) == 150)


def test_a_failing_write_returns_the_message_and_costs_no_other(
    run, publish, bus, reporting, eventually, tmp_path
):
    publish("skipped", event_type="network.create.end")
    publish("a", "b")
    blocker = []

    def subscribe():
        if not blocker:  # the file was opened before: hold its write lock
            connection = sqlite3.connect(
                tmp_path / "outbox.db", isolation_level=None, check_same_thread=False
            )
            connection.execute("BEGIN IMMEDIATE")
            blocker.append(connection)
        return bus.subscription()

    collector = run(subscribe)
    collector._outbox._connection.execute("PRAGMA busy_timeout=10")
    eventually(lambda: collector.counters().skipped == {"network.create.end": 1})
    eventually(lambda: bus.depth() == 2)
    assert collector.counters().consumed == {}
    assert collector.healthy()
    blocker[0].close()
    eventually(lambda: len(reporting.stored) == 2)
    assert collector.counters().consumed == {"volume.create.end": 2}
    assert reporting.duplicates == 0


def test_a_full_disk_passes_what_still_fits(run, publish, bus, reporting, eventually, monkeypatch):
    reporting.script = lambda _: (503, b"{}")
    collector = run(requeue_delay=0.01)
    database = collector._outbox._connection
    with collector._outbox._lock:
        pages = database.execute("PRAGMA page_count").fetchone()[0]
        database.execute(f"PRAGMA max_page_count={pages + 2}")
    publish(*(f"m{index}" for index in range(100)))
    eventually(lambda: collector.counters().buffered > 0)
    eventually(lambda: bus.depth() == 100 - collector.counters().buffered)
    assert collector._write_failing_since is not None
    with collector._outbox._lock:
        database.execute("PRAGMA max_page_count=1000000")
    eventually(lambda: sum(collector.counters().consumed.values()) == 100)
    assert collector._write_failing_since is None
    reporting.script = lambda _: None
    eventually(lambda: len(reporting.stored) == 100)
    assert reporting.duplicates == 0


def test_health_fails_after_the_threshold(run, publish, eventually):
    collector = run(unhealthy_threshold=0.3)
    assert collector.healthy()
    assert collector.ready() or not collector.counters().connected
    collector._outbox.close()
    assert collector.healthy()  # for a while
    eventually(lambda: not collector.healthy())
    assert not collector.ready()


def test_a_session_that_ends_is_opened_again(run, publish, bus, reporting, eventually, monkeypatch):
    monkeypatch.setattr("harness.collector.service._DELAY_FIRST", 0.01)
    monkeypatch.setattr("random.random", lambda: 0.0)
    sessions = []

    class Ending:
        """A session that breaks before its third acknowledgement reaches the bus."""

        def __init__(self):
            self.inner = bus.subscription(prefetch=10)
            self.acks = 0
            sessions.append(self)

        def __getattr__(self, name):
            return getattr(self.inner, name)

        def ack(self, deliveries):
            self.acks += 1
            if self.acks == 3 and len(sessions) < 4:
                raise BrokerError("cut")
            self.inner.ack(deliveries)

    publish(*(f"m{index}" for index in range(100)))
    collector = run(Ending)
    eventually(lambda: len(reporting.stored) == 100)
    eventually(lambda: bus.depth() == 0)
    assert len(sessions) == 4
    eventually(lambda: collector.counters().buffered == 0)
    assert sum(collector.counters().consumed.values()) == 130
    assert reporting.duplicates == 30  # three groups came twice, nothing is lost


def test_reconnects_back_off(settings, monkeypatch):
    delays = []
    monkeypatch.setattr("random.random", lambda: 0.5)

    def subscribe():
        raise BrokerError("nobody there")

    class Stop(threading.Event):
        def wait(self, timeout=None):
            delays.append(timeout)
            if len(delays) == 8:
                self.set()
            return self.is_set()

    collector = Collector(settings(), subscribe)
    collector._stop = Stop()
    collector._consume()
    collector.stop()
    assert delays == [1.5, 2.5, 4.5, 8.5, 16.5, 32.5, 60.5, 60.5]
    with pytest.raises(BrokerError, match="does not consume after 0 s: nobody there"):
        collector.wait_until_consuming(0)


def test_stop_leaves_nothing_in_hand(bus, publish, settings, reporting):
    publish(*(f"m{index}" for index in range(300)))
    collector = Collector(settings(), bus.subscription)
    collector.start()
    collector.wait_until_consuming(5)
    collector.stop()
    assert not any(thread.is_alive() for thread in collector._threads)
    booked = sum(collector._counters.snapshot().consumed.values())
    assert bus.depth() == 300 - booked
    again = Collector(settings(), bus.subscription)
    assert again._outbox.depth == booked - len(reporting.stored)
    again.stop()


def test_a_clock_that_jumps_changes_ages_only(run, publish, reporting, eventually):
    moment = [1_782_864_000.0]
    reporting.script = lambda _: (503, b"{}")
    collector = run(now=lambda: moment[0])
    publish("a")
    eventually(lambda: collector.counters().buffered == 1)
    moment[0] += 7 * 86400
    assert collector.counters().oldest_buffered_seconds == 7 * 86400
    moment[0] -= 400 * 86400
    publish("b")
    eventually(lambda: collector.counters().buffered == 2)
    assert collector.counters().oldest_buffered_seconds == 0
    assert collector.ready()
    assert collector.healthy()
    reporting.script = lambda _: None
    eventually(lambda: [key[0] for key in reporting.stored] == ["a", "b"])


def test_a_summary_is_logged(run, publish, eventually, caplog):
    with caplog.at_level("INFO"):
        collector = run(summary_interval=0.05)
        publish("a")
        eventually(lambda: collector.counters().delivered == 1)
        eventually(
            lambda: any(
                getattr(record, "fields", {}).get("delivered") == 1
                for record in caplog.records
                if record.message == "summary"
            )
        )
    fields = next(record.fields for record in caplog.records if record.message == "summary")
    assert list(fields) == [
        "interval_seconds", "connected", "consumed", "skipped", "unparseable", "delivered",
        "delivery_errors", "buffered", "oldest_buffered_seconds",
    ]  # fmt: skip
    json.dumps(fields)
