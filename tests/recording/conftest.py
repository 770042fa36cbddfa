import json

import pytest

from harness.calendar import Period
from harness.month import generate
from harness.month.render import notification
from harness.oracle import fold
from harness.oracle.document import encode
from harness.oslo import Notification
from harness.recording.recording import ORACLE
from harness.recording.writer import RecordingWriter


@pytest.fixture(scope="session")
def month():
    return generate(1, Period(2026, 7), "os-sim")


@pytest.fixture(scope="session")
def stream(month):
    return [notification(transition) for transition in month.stream]


@pytest.fixture(scope="session")
def month_recording(month, stream, tmp_path_factory):
    """Seed 1 as a recording, with its oracle; do not write to it."""
    return write(
        tmp_path_factory.mktemp("month") / "seed-1", stream, oracle=encode(fold.fold(month))
    )


@pytest.fixture
def make(tmp_path):
    def made(notifications, name="made", **settings):
        return write(tmp_path / name, notifications, **settings)

    return made


def write(path, notifications, *, oracle=None, compression="zstd"):
    writer = RecordingWriter(path, compression=compression)
    for message in notifications:
        writer.add(message)
    if oracle is not None:
        writer.attach(ORACLE, oracle)
    return writer.finish(cloud="os-sim")


def message(
    number=0, event_type="compute.instance.update", instant="2026-07-01 10:00:00", **members
):
    inner = {
        "message_id": f"00000000-0000-4000-8000-{number:012d}",
        "event_type": event_type,
        "timestamp": instant,
        "payload": members,
    }
    body = {"oslo.version": "2.0", "oslo.message": json.dumps(inner)}
    return Notification("nova", "notifications.info", json.dumps(body).encode())


@pytest.fixture(name="message")
def message_fixture():
    return message
