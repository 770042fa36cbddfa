"""The recordings of this repository are what they say, and what made them makes them again."""

import gzip
import json
from pathlib import Path

import pytest

from harness.collector.mapping import MAPPINGS
from harness.oslo import Notification
from harness.recording.recording import Recording

RECORDINGS = Path(__file__).parents[2] / "recordings"
NAMES = ("2026-07-seed-1", "malformed", "oslo-messaging")


def malformed():
    """What a bus carries on a bad day: bodies nobody can read, and ones that only half can be."""

    def envelope(message, **outer):
        text = message if isinstance(message, str) else json.dumps(message)
        body = json.dumps({"oslo.version": "2.0", "oslo.message": text, **outer})
        return Notification("nova", "notifications.info", body.encode())

    def plain(body):
        return Notification("nova", "notifications.info", body)

    def server(number, **members):
        return {
            "message_id": f"11111111-0000-4000-8000-{number:012d}",
            "event_type": "compute.instance.create.end",
            "timestamp": f"2026-07-10 10:00:{number:02d}.000000",
            "_context_project_id": "0123456789abcdef0123456789abcdef",
            "payload": {
                "instance_id": f"22222222-0000-4000-8000-{number:012d}",
                "tenant_id": "0123456789abcdef0123456789abcdef",
                "state": "active",
                "vcpus": 1,
                "memory_mb": 1024,
                "root_gb": 10,
                "ephemeral_gb": 0,
                "instance_type": "m1.small",
                **members,
            },
        }

    good = envelope(server(1))
    return [
        good,
        plain(b""),
        plain(b"no JSON at all"),
        plain(b"\xff\xfe\x00bytes"),
        plain(gzip.compress(good.body, mtime=0)),
        plain(good.body[: len(good.body) // 2]),
        plain(b"[" + good.body + b"]"),
        plain(b'{"oslo.version": "2.0"}'),
        plain(b'{"oslo.version": "2.0", "oslo.message": {"an": "object"}}'),
        plain(good.body[:-1] + b',\n "pretty": "printed"}'),
        envelope("half of a mess"),
        envelope({**server(2), "timestamp": None}),
        envelope({**server(3), "timestamp": "tomorrow"}),
        plain(b'{"oslo.version": "2.0", "oslo.message": "' + b"x" * (1 << 20) + b'"}'),
        envelope({**server(4), "event_type": "instance.create.end"}),
        envelope({**server(5), "event_type": "compute.instance.something.new"}),
        envelope(server(6, vcpus="two")),
        envelope(server(7, memory_mb=-1)),
        envelope(server(8, instance_id="")),
        envelope(server(9, instance_id="with\x00nul")),
        good,
        envelope(server(10)),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_whole(name):
    recording = Recording.open(RECORDINGS / name)
    recording.check()
    assert recording.manifest.format == 1
    size = sum(stored.bytes for stored in recording.manifest.files.values())
    assert size < 1 << 20
    pinned = {path.stem for path in (RECORDINGS / name / "snapshots").iterdir()}
    assert pinned == {"consumed", "skipped", "events", "rejected", "metered"}


def test_the_month_is_the_generated_one(stream, month_recording):
    recording = Recording.open(RECORDINGS / "2026-07-seed-1")
    assert list(recording.notifications()) == stream
    for name in ("oracle.json.zst",):
        assert recording.manifest.files[name].bytes < 1 << 17


def test_the_malformed_ones_are_kept_as_they_were():
    recording = Recording.open(RECORDINGS / "malformed")
    assert list(recording.notifications()) == malformed()
    assert recording.manifest.unparseable == 12


def test_the_notifiers_recording_holds_every_billable_type():
    recording = Recording.open(RECORDINGS / "oslo-messaging")
    types = set(recording.manifest.types)
    assert types >= set(MAPPINGS)
    assert len(types) > len(MAPPINGS) + 20
    assert recording.manifest.unparseable == 0
