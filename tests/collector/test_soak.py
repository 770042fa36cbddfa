"""A long day: memory stays flat, labels stay bounded, nothing is lost.

``TALLY_SOAK_PERCENT=100`` is the whole soak: a million noise notifications and a hundred thousand
billable ones through the in-memory bus, two hundred thousand through RabbitMQ. By default a
twentieth of it runs.
"""

import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from harness.broker.memory import MemoryBus
from harness.broker.publisher import AmqpPublisher
from harness.collector.service import Collector
from harness.oslo import Notification

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

PERCENT = int(os.environ.get("TALLY_SOAK_PERCENT", "5"))
TENTHS = 10
PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(pid="self"):
    """Return resident memory in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE


class Watch:
    """Takes the peak of resident memory, tenth by tenth."""

    def __init__(self, progress, pid="self", interval=0.02):
        self._interval = interval
        self.peaks = [0] * TENTHS
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(progress, pid))

    def _run(self, progress, pid):
        while not self._stop.wait(self._interval):
            tenth = min(TENTHS - 1, int(progress() * TENTHS))
            self.peaks[tenth] = max(self.peaks[tenth], resident(pid))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


def stream(total):
    """Ten noise notifications of five hundred types to each billable one."""
    for index in range(total):
        billable = index % 11 == 0
        event_type = "volume.create.end" if billable else f"noise.type-{index % 500}.end"
        inner = (
            f'{{\\"message_id\\":\\"m-{index}\\",\\"event_type\\":\\"{event_type}\\",'
            f'\\"timestamp\\":\\"2026-07-01 00:00:00.{index % 1000000:06d}\\",'
            f'\\"_context_project_id\\":\\"p\\",\\"payload\\":{{\\"volume_id\\":\\"v-{index}\\",'
            f'\\"size\\":{index % 100 + 1},\\"volume_type\\":\\"ssd\\",\\"pad\\":\\"{"x" * 500}\\"}}}}'
        )
        body = f'{{"oslo.message":"{inner}","oslo.version":"2.0"}}'.encode()
        yield Notification("nova", "notifications.info", body)


@pytest.fixture
def received(reporting):
    """Counts what is posted, without keeping it."""
    count = [0]

    def script(items):
        count[0] += len(items)
        return 200, json.dumps({"accepted": len(items), "duplicates": 0, "rejected": []}).encode()

    reporting.script = script
    return count


def judge(watch, seconds, total, record_property, what):
    rate = total / seconds
    shown = [round(peak / 2**20, 1) for peak in watch.peaks]
    record_property(f"{what} messages a second", round(rate))
    text = f"{what}: {total:,} messages, {rate:,.0f}/s, peaks by tenth in MiB: {shown}"
    print("\n" + text)  # noqa: T201 - what a soak is run for
    first = next(peak for peak in watch.peaks if peak)
    assert watch.peaks[-1] <= 1.1 * first, shown


def test_through_the_bus_in_memory(settings, received, record_property, eventually, tmp_path):
    total = 11_000 * PERCENT
    bus = MemoryBus(capacity=2000)
    collector = Collector(settings(), bus.subscription)

    def handled():
        seen = collector._counters.snapshot()
        return sum(seen.consumed.values()) + sum(seen.skipped.values())

    collector.start()
    try:
        publisher = bus.publisher()
        publisher.publish(stream(5000))  # every code path and every label once
        eventually(lambda: handled() == 5000, 60)
        began = time.monotonic()
        with Watch(lambda: (handled() - 5000) / total) as watch:
            publisher.publish(stream(total))
            eventually(lambda: handled() == 5000 + total, 600)
            seconds = time.monotonic() - began
        eventually(lambda: collector.counters().buffered == 0, 60)
    finally:
        collector.stop()
    seen = collector._counters.snapshot()
    assert sum(seen.consumed.values()) == received[0] == -(-5000 // 11) + -(-total // 11)
    assert len(seen.consumed.keys() | seen.skipped.keys()) == 101
    assert (tmp_path / "outbox.db").stat().st_size < 50_000_000
    judge(watch, seconds, total, record_property, "in memory")


def test_through_rabbitmq(amqp_url, reporting, received, record_property, eventually, tmp_path):
    total = 2000 * PERCENT
    with AmqpPublisher(amqp_url, exchanges=("nova",)) as publisher:
        process = subprocess.Popen(
            [sys.executable, "-m", "harness", "collector"],
            env={
                "PATH": os.environ["PATH"],
                "TALLY_OSC_AMQP_URL": amqp_url,
                "TALLY_OSC_EXCHANGES": "nova",
                "TALLY_OSC_QUEUE_TYPE": "classic",
                "TALLY_OSC_CLOUD": "os-sim",
                "TALLY_OSC_REPORTING_URL": reporting.url,
                "TALLY_OSC_REPORTING_INSECURE": "true",
                "TALLY_OSC_TOKEN": "t",
                "TALLY_OSC_BUFFER_PATH": str(tmp_path / "outbox.db"),
                "TALLY_OSC_FLUSH_INTERVAL_S": "0.05",
                "TALLY_OSC_HTTP_PORT": "0",
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            port = next(
                line["port"]
                for line in map(json.loads, process.stdout)
                if line["msg"] == "listening"
            )
            next(line for line in map(json.loads, process.stdout) if line["msg"] == "consuming")

            def metrics():
                with urllib.request.urlopen(
                    f"http://127.0.0.1:{port}/metrics", timeout=10
                ) as answer:
                    return answer.read().decode()

            def handled():
                counted = re.findall(r"(?:consumed|skipped)_total\{.*\} (\S+)", metrics())
                return int(sum(map(float, counted)))

            publisher.publish(stream(2000))
            eventually(lambda: handled() == 2000, 60)
            began = time.monotonic()
            with Watch(lambda: (handled() - 2000) / total, process.pid, 0.25) as watch:
                publisher.publish(stream(total))
                while handled() < 2000 + total:  # the test's own time-out ends it
                    time.sleep(0.25)
                seconds = time.monotonic() - began
            eventually(lambda: "tally_collector_buffer_depth 0.0" in metrics(), 60)
            labels = set(re.findall(r'event_type="([^"]*)"', metrics()))
        finally:
            process.terminate()
            process.communicate(timeout=60)
    assert process.returncode == 0
    assert received[0] == -(-2000 // 11) + -(-total // 11)
    assert len(labels) == 101
    judge(watch, seconds, total, record_property, "through RabbitMQ")
