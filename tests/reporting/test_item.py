"""One item: every rule of the canonical event, and each message once."""

import json

import pytest

from harness.reporting import instant, item
from harness.reporting.item import Refused


def refusal(members):
    with pytest.raises(Refused) as refused:
        item.read(json.dumps(members).encode())
    return str(refused.value).removeprefix("schema: ").split("\n")


def test_a_valid_event(event):
    read = item.read(json.dumps(event(timestamp="2026-07-01T02:00:00.25+02:00")).encode())
    assert read.timestamp == instant.parse("2026-07-01T00:00:00.250Z")
    assert (read.state, json.loads(read.size)) == ("available", {"size_gb": 10, "type": "ssd"})


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"event_id": ""}, "event_id: must be 1..256 characters, got 0"),
        ({"event_id": None}, "event_id: must be 1..256 characters, got 0"),
        ({"event_id": "é" * 129}, "event_id: must be 1..256 characters, got 258"),
        ({"timestamp": None}, "timestamp: must be set"),
        ({"timestamp": "0001-01-01T00:00:00Z"}, "timestamp: must be set"),
        ({"event_type": "x" * 513}, "event_type: must be at most 512 characters, got 513"),
        ({"event_type": "Volume"}, 'event_type: "Volume" must match ^[a-z0-9_]+(\\.[a-z0-9_]+)+$'),
        ({"event_type": "a.b\n", "payload": {"state": "s"}}, None),
        ({"platform": ""}, "platform: must not be empty"),
        ({"project_id": "p" * 513}, "project_id: must be at most 512 characters, got 513"),
        ({"cloud": "partner"}, 'cloud: "partner" is a virtual platform'),
        ({"platform": "meta"}, 'platform: "meta" is a virtual platform'),
        ({"source": "elsewhere"}, 'source: "elsewhere" must be one of collector, reconciliation'),
        ({"payload": {"state": "s" * 513, "size": {}}}, "payload.state: must be at most 512"),
        ({"payload": {"size": {}}}, "payload.state: a create event has to report it"),
        ({"payload": {"state": "s"}}, "payload.size: a create event has to report it"),
        (
            {"event_type": "volume.resize.end", "payload": {"state": ""}},
            "payload.state: every event but a delete has to report it",
        ),
    ],
)
def test_each_rule(event, members, problem):
    lines = refusal(event(**members))
    assert len(lines) == 1 or problem is None
    if problem is not None:
        assert lines[0].startswith(problem)


def test_all_problems_are_told_at_once():
    assert len(refusal({"payload": {"state": "s" * 600}})) == 9


@pytest.mark.parametrize(
    "members",
    [
        {"event_id": 5},
        {"timestamp": "yesterday"},
        {"timestamp": "2026-07-01T00:00:00"},
        {"timestamp": "2026-13-01T00:00:00Z"},
        {"timestamp": 1782864000},
        {"timestamp": "9999-12-31T23:59:59-05:00"},
        {"payload": []},
        {"payload": {"state": 1}},
        {"payload": {"state": "s", "size": [1]}},
        {"payload": {"state": "s", "size": {}, "provider": "x"}},
    ],
)
def test_what_cannot_be_decoded(event, members):
    assert refusal(event(**members))


@pytest.mark.parametrize("raw", [b"7", b"null", b"[]", b'"x"', b"true"])
def test_what_is_no_object(raw):
    with pytest.raises(Refused, match=r"^schema: Expected `object`"):
        item.read(raw)


@pytest.mark.parametrize(
    ("text", "refused"),
    [(r"\u0000", True), (r"\\u0000", False), (r"\\\u0000", True), (r"\\\\u0000", False)],
)
def test_only_a_real_nul_is_one(event, text, refused):
    raw = json.dumps(event(event_id="@")).replace("@", text).encode()
    if refused:
        with pytest.raises(Refused, match="NUL"):
            item.read(raw)
    else:
        assert item.read(raw).event_id == json.loads(f'"{text}"')


def test_absent_and_null_are_unchanged(event):
    for payload in ({"state": None, "size": None}, {}, None):
        read = item.read(
            json.dumps(event(event_type="volume.delete.end", payload=payload)).encode()
        )
        assert (read.state, read.size) == ("", "")
