"""Five hundred bodies nobody should send: each has one end, and none stops the consumer."""

import gzip
import json
import random
from collections import Counter
from pathlib import Path

import pytest

from harness.broker.memory import MemoryBus
from harness.collector.outcome import Kind, judge
from harness.collector.service import Collector
from harness.oslo import Notification

GOLDEN = Path(__file__).parent / "golden" / "notifications"
BOOKED = sorted(path for path in GOLDEN.glob("*.json") if path.stem != "image-create-without-size")
CONSUMED, SKIPPED, UNPARSEABLE = Kind.CONSUMED, Kind.SKIPPED, Kind.UNPARSEABLE


def inner_of(chance):
    return json.loads(json.loads(chance.choice(BOOKED).read_bytes())["oslo.message"])


def wrap(inner, **changes):
    text = inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)
    return json.dumps({"oslo.version": "2.0", "oslo.message": text} | changes).encode()


def truncated(chance):
    data = wrap(inner_of(chance))
    return data[: chance.randrange(len(data) - 1)], UNPARSEABLE


def truncated_inside(chance):
    text = json.dumps(inner_of(chance))
    return wrap(text[: chance.randrange(len(text) - 1)]), UNPARSEABLE


def message_of_another_type(chance):
    odd = chance.choice([None, 5, 1.5, True, [], {}, ["{}"]])
    return wrap({}, **{"oslo.message": odd}), UNPARSEABLE


def no_message(chance):
    return chance.choice([b"{}", b'{"oslo.version":"2.0"}', b"[]", b"null", b"0"]), UNPARSEABLE


def timestamp_of_another_type(chance):
    odd = chance.choice([None, "", 5, True, [], {}, "now", "2026-13-01 00:00:00", "1e9"])
    return wrap(inner_of(chance) | {"timestamp": odd}), UNPARSEABLE


def payload_of_another_type(chance):
    inner = inner_of(chance)
    inner["payload"] = chance.choice([None, 5, "x", True, [1, [2]]])
    skipped = inner["event_type"] == "image.create"  # nothing to size it by
    return wrap(inner), SKIPPED if skipped else CONSUMED


def members_of_another_type(chance):
    inner = inner_of(chance)
    payload = inner["payload"]
    for name in chance.sample(sorted(payload), min(3, len(payload))):
        if name != "size":
            payload[name] = chance.choice([None, 1e308, -5, "", "x" * 600, [], {}, [[]], True])
    return wrap(inner), CONSUMED


def type_of_another_type(chance):
    odd = chance.choice([None, 5, [], {}, True, ""])
    return wrap(inner_of(chance) | {"event_type": odd}), SKIPPED


def unknown_type(chance):
    odd = chance.choice(["instance.create.end", "instance.delete.end", "x", "\u0000", "ü" * 300])
    return wrap(inner_of(chance) | {"event_type": odd}), SKIPPED


def deep(chance):
    depth = chance.choice([200, 900, 1200, 5000, 60000])
    opening, closing = chance.choice([("[", "]"), ('{"a":', "}")])
    text = json.dumps(inner_of(chance))[:-1] + f',"deep":{opening * depth}0{closing * depth}}}'
    return wrap(text), CONSUMED if depth < 1000 else UNPARSEABLE


def deep_and_open(chance):
    return b'{"oslo.message":' + b"[" * chance.randrange(1, 100_000), UNPARSEABLE


def huge_number(chance):
    number = chance.choice(
        ["9" * 41, "9" * 5000, "1e400", "-1e-400", "1e31", "0." + "0" * 50 + "1"]
    )
    text = json.dumps(inner_of(chance) | {"event_type": "volume.create.end"})
    at = text.index('"payload": {') + len('"payload": {')
    text = f'{text[:at]}"size": 1, {text[at:]}'
    return wrap(text[:-2] + f', "size": {number}, "volume_id": "v"}}}}'), CONSUMED


def odd_character(chance):
    inner = inner_of(chance)
    odd = chance.choice(["\\u0000", "\\ud800", "\\udfff", "\\udc00\\ud800", "\u2028", "\\u0007"])
    text = json.dumps(inner | {"message_id": "ODD"}).replace("ODD", f"m{odd}m")
    return wrap(text), CONSUMED


def duplicate_keys(chance):
    text = json.dumps(inner_of(chance))
    return wrap('{"event_type": "x", "timestamp": 5, ' + text[1:]), CONSUMED


def duplicate_keys_that_spoil(chance):
    return wrap(json.dumps(inner_of(chance))[:-1] + ', "timestamp": 5}'), UNPARSEABLE


def one_byte_too_many(chance):
    data = wrap(inner_of(chance) | {"pad": ""})
    return wrap(inner_of(random.Random(0)), pad="x" * (1024 * 1024 + 1 - len(data))) + b" " * (
        len(data)
    ), UNPARSEABLE


def just_large_enough(chance):
    data = wrap(inner_of(chance))
    return data + b" " * (1024 * 1024 - len(data)), CONSUMED


def event_too_large(chance):
    inner = inner_of(chance) | {"event_type": "volume.delete.end"}
    inner["payload"] = {"volume_id": "v" * chance.randrange(65536, 200_000)}
    return wrap(inner), SKIPPED


def invalid_utf8(chance):
    data = wrap(inner_of(chance))
    at = data.index(b"message_id") + chance.randrange(5)
    odd = chance.choice([b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xe2\x82", b"\xf5\x80\x80\x80"])
    return data[:at] + odd + data[at:], UNPARSEABLE


def another_charset(chance):
    inner = inner_of(chance) | {"note": "grün"}
    text = json.dumps({"oslo.message": json.dumps(inner, ensure_ascii=False)}, ensure_ascii=False)
    return text.encode(chance.choice(["utf-16", "utf-32", "latin-1", "utf-8-sig"])), UNPARSEABLE


def compressed(chance):
    return gzip.compress(wrap(inner_of(chance))), UNPARSEABLE


def noise(chance):
    return chance.randbytes(chance.randrange(200)), UNPARSEABLE


def no_json(chance):
    text = json.dumps(inner_of(chance))[:-1]
    odd = chance.choice(
        [', "a": NaN}', ', "a": -Infinity}', ", }", ", 'a': 1}", "} {}", ', "a": 01}']
    )
    return wrap(text + odd), UNPARSEABLE


WAYS = [
    truncated, truncated_inside, message_of_another_type, no_message, timestamp_of_another_type,
    payload_of_another_type, members_of_another_type, type_of_another_type, unknown_type, deep,
    deep_and_open, huge_number, odd_character, duplicate_keys, duplicate_keys_that_spoil,
    one_byte_too_many, just_large_enough, event_too_large, invalid_utf8, another_charset,
    compressed, noise, no_json,
]  # fmt: skip


@pytest.fixture(scope="module")
def bodies():
    chance = random.Random(2026)
    return [(way, *way(chance)) for way in (WAYS[index % len(WAYS)] for index in range(500))]


def test_each_ends_as_it_should(bodies):
    for way, body, expected in bodies:
        outcome = judge(body, "os-sim")
        assert outcome.kind is expected, (way.__name__, outcome, body[:300])
        assert bool(outcome.reason) == (expected is UNPARSEABLE)
        if expected is CONSUMED:
            json.loads(outcome.event)
            assert len(outcome.event) <= 65536


def test_none_stops_the_consumer(bodies, settings, reporting, envelope, eventually):
    bus = MemoryBus()
    collector = Collector(settings(), bus.subscription)
    collector.start()
    try:
        expected = Counter(kind for _, _, kind in bodies)
        bus.publisher().publish(
            Notification("nova", "notifications.info", body) for _, body, _ in bodies
        )
        bus.publisher().publish(
            [Notification("nova", "notifications.info", envelope("volume.create.end", "last"))]
        )
        eventually(lambda: any(event_id == "last" for event_id, _ in reporting.stored), 30)
        seen = collector.counters()
        assert seen.unparseable == expected[UNPARSEABLE]
        assert sum(seen.skipped.values()) == expected[SKIPPED]
        assert sum(seen.consumed.values()) == expected[CONSUMED] + 1
        assert seen.delivery_errors == 0
        assert bus.depth() == 0
        assert not collector.ended.is_set()
    finally:
        collector.stop()
    assert bus.depth() == 0  # nothing was left unacknowledged
