"""Recordings through the embedded stack: judged as a generated month is, or laid out."""

import csv
import json
import threading
from collections import Counter
from decimal import Decimal

import pytest

from harness.broker.publisher import AmqpPublisher
from harness.calendar import Period
from harness.drill import prepare, run
from harness.drill.recorded import replay
from harness.drill.shifting import ShiftError, shift_oracle
from harness.oracle.document import encode
from harness.oslo import Notification
from harness.recording.record import Limits, Recorder
from harness.recording.recording import ORACLE
from harness.recording.scrub import Pseudonyms, scrub
from harness.recording.shift import Shift
from harness.recording.writer import RecordingWriter
from harness.stack import Options, open_stack

KEY = b"an example key, at least 16 bytes"


@pytest.fixture(scope="module")
def stack():
    opened = open_stack("embedded", Options.from_mapping({}))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def subject():
    return prepare(1, "2026-07")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("recorded")


@pytest.fixture(scope="module")
def recording(subject, directory):
    return write(directory / "month", subject.notifications(), encode(subject.oracle))


@pytest.fixture(scope="module")
def replayed(recording, stack, directory):
    return replay(recording, stack, out=directory / "replayed")


def write(path, notifications, oracle=None):
    writer = RecordingWriter(path)
    for notification in notifications:
        writer.add(notification)
    if oracle:
        writer.attach(ORACLE, oracle)
    return writer.finish(cloud="os-sim")


@pytest.mark.slow
def test_a_recorded_month_gets_the_verdict_of_the_generated_one(subject, stack, replayed):
    assert replayed.passed
    assert replayed.verdict == run(subject, stack, name="generated")
    assert replayed.events.total() == 1_812
    assert sum(replayed.skipped.values()) == 13_929
    assert replayed.rejected == {}
    assert replayed.problems == ()


@pytest.mark.slow
def test_a_month_recorded_from_a_bus_gets_the_same_verdict(
    subject, stack, replayed, amqp_url, directory
):
    with AmqpPublisher(amqp_url) as publisher:
        recorder = Recorder(amqp_url)
        stream = list(subject.notifications())
        thread = threading.Thread(target=publisher.publish, args=[stream])
        thread.start()
        writer = RecordingWriter(directory / "bus")
        recorder.record(writer, Limits(messages=len(stream), idle=60), stopped=lambda: False)
        thread.join()
        recorder.close()
    writer.attach(ORACLE, encode(subject.oracle))
    again = replay(writer.finish(cloud="os-sim"), stack)
    assert again.verdict == replayed.verdict
    assert again.metered == replayed.metered


def amounts(directory):
    """Amount by project, resource type and dimension of an export."""
    sums = Counter()
    with (directory / "export" / "rated.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            key = row["project_id"], row["resource_type"], row["dimension"]
            sums[key] += Decimal(row["amount"])
    return sums


@pytest.mark.slow
def test_a_scrubbed_month_is_billed_the_same(recording, stack, replayed, directory):
    pseudonyms = Pseudonyms(KEY)
    scrubbed = scrub(recording, RecordingWriter(directory / "scrubbed"), pseudonyms)
    outcome = replay(scrubbed, stack, out=directory / "scrubbed-out")
    assert outcome.passed, outcome.lines()
    before, after = amounts(directory / "replayed"), amounts(directory / "scrubbed-out")
    assert after == Counter(
        {(pseudonyms(project, "id"), *rest): n for (project, *rest), n in before.items()}
    )
    assert len({project for project, *_ in after}) == 6
    assert outcome.skipped == replayed.skipped
    assert outcome.consumed == replayed.consumed


@pytest.mark.slow
def test_a_shifted_month_is_billed_as_its_shifted_oracle_says(subject, stack, directory):
    august = Period(2026, 8)
    oracle = shift_oracle(subject.oracle, august)
    shift = Shift(Period(2026, 7), august)
    shifted = write(directory / "shifted", shift(subject.notifications()), encode(oracle))
    outcome = replay(shifted, stack)
    assert outcome.passed, outcome.lines()
    assert {row.period for row in outcome.metered} == {"2026-08"}


def test_an_oracle_moves_into_a_month_as_long_only(subject):
    with pytest.raises(ShiftError, match=r"31 days.*2026-06.*30"):
        shift_oracle(subject.oracle, Period(2026, 6))
    there = shift_oracle(subject.oracle, Period(2026, 8))
    assert shift_oracle(there, Period(2026, 7)) == subject.oracle


# -- without an oracle ----------------------------------------------------------------------------


def server(number, event_type="compute.instance.create.end", **members):
    inner = {
        "message_id": f"00000000-0000-4000-8000-{number:012d}",
        "event_type": event_type,
        "timestamp": f"2026-07-01 00:{number:02d}:00",
        "payload": {
            "instance_id": f"i-{number}", "tenant_id": "p", "state": "active", "vcpus": 1,
            "memory_mb": 1024, "root_gb": 1, "instance_type": "m1.small", **members,
        },
    }  # fmt: skip
    body = json.dumps({"oslo.version": "2.0", "oslo.message": json.dumps(inner)})
    return Notification("nova", "notifications.info", body.encode())


def test_what_a_recording_without_an_oracle_comes_to(stack, directory):
    notifications = [
        server(1),
        server(1),
        server(2, vcpus="none"),
        server(3, "compute.instance.update"),
        Notification("nova", "notifications.info", b"no notification"),
        Notification("nova", "notifications.error", server(4).body),
        Notification("heat", "notifications.info", server(5).body),
    ]
    outcome = replay(write(directory / "small", notifications), stack)
    assert outcome.passed, outcome.lines()
    assert outcome.published == 7
    assert outcome.consumed == {"compute.instance.create.end": 3}
    assert outcome.skipped == {"compute.instance.update": 1}
    assert outcome.unparseable == 1
    assert outcome.events == {("p", "compute.instance.create.end"): 1}
    assert sum(outcome.rejected.values()) == 1
    assert {(row.period, row.dimension) for row in outcome.metered} == {
        ("2026-07", dimension) for dimension in ("disk_gb", "egress_gb", "ram_gb", "vcpus")
    }
    assert outcome.verdict is None
    assert outcome.lines()[-1].startswith("passed")


def test_the_pace_is_kept_and_its_lag_reported(stack, directory):
    recording = write(directory / "paced", [server(number) for number in range(3)])
    outcome = replay(recording, stack, factor=120)
    assert outcome.passed
    assert outcome.seconds >= 1
    assert 0 <= outcome.lag < 5
