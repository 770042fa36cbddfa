"""Counters, and how many labels they may have."""

import json

from harness.collector.counters import LABELS_MAX, OTHER, Counters
from harness.collector.outcome import Kind, Outcome, judge


def test_counts_every_end():
    counters = Counters()
    counters.count(
        [
            Outcome(Kind.CONSUMED, "volume.create.end", b"{}"),
            Outcome(Kind.SKIPPED, "image.create"),
            Outcome(Kind.SKIPPED, "image.create"),
            Outcome(Kind.UNPARSEABLE, reason="x"),
        ]
    )
    counters.deliver(7)
    counters.fail()
    seen = counters.snapshot(buffered=3, connected=True)
    assert seen.consumed == {"volume.create.end": 1}
    assert seen.skipped == {"image.create": 2}
    assert (seen.unparseable, seen.delivered, seen.delivery_errors) == (1, 7, 1)
    assert (seen.buffered, seen.connected) == (3, True)


def test_consumed_and_skipped_share_one_bound():
    counters = Counters()
    for index in range(80):
        counters.count([Outcome(Kind.CONSUMED, f"c{index}"), Outcome(Kind.SKIPPED, f"c{index}")])
    for index in range(80):
        counters.count([Outcome(Kind.SKIPPED, f"s{index}")])
    seen = counters.snapshot()
    labels = (seen.consumed.keys() | seen.skipped.keys()) - {OTHER}
    assert len(labels) == LABELS_MAX == 100
    assert seen.skipped[OTHER] == 60
    assert sum(seen.skipped.values()) == 160
    counters.count([Outcome(Kind.CONSUMED, "c0"), Outcome(Kind.CONSUMED, "s79")])
    assert counters.snapshot().consumed["c0"] == 2
    assert counters.snapshot().consumed[OTHER] == 1


def test_types_that_cannot_be_labels_are_others():
    counters = Counters()
    counters.count([Outcome(Kind.SKIPPED, "x" * 257), Outcome(Kind.SKIPPED, "\ud800")])
    assert counters.snapshot().skipped == {OTHER: 2}


def test_a_snapshot_does_not_move():
    counters = Counters()
    seen = counters.snapshot()
    counters.count([Outcome(Kind.SKIPPED, "a")])
    assert seen.skipped == {}


def test_an_event_over_64_kib_is_skipped():
    frame = (
        '{"oslo.message":"{\\"event_type\\":\\"volume.create.end\\",\\"message_id\\":\\"m\\",'
        '\\"timestamp\\":\\"2026-07-01 00:00:00\\",\\"payload\\":{\\"volume_id\\":\\"%s\\"}}"}'
    )
    bare = len(judge((frame % "").encode(), "c").event)
    fits = judge((frame % ("v" * (65536 - bare))).encode(), "c")
    assert (fits.kind, len(fits.event)) == (Kind.CONSUMED, 65536)
    over = judge((frame % ("v" * (65537 - bare))).encode(), "c")
    assert over == Outcome(Kind.SKIPPED, "volume.create.end")


def test_a_file_holds_the_counters(tmp_path):
    path = tmp_path / "counters.json"
    counters = Counters(path)
    counters.count([Outcome(Kind.CONSUMED, "a"), Outcome(Kind.UNPARSEABLE)])
    assert json.loads(path.read_bytes()) == {
        "consumed": {"a": 1},
        "skipped": {},
        "unparseable": 1,
        "delivered": 0,
        "delivery_errors": 0,
    }
    counters.deliver(3)
    counters.fail()
    counters.count([Outcome(Kind.SKIPPED, "b")])
    last = json.loads(path.read_bytes())
    assert (last["delivered"], last["delivery_errors"], last["skipped"]) == (3, 1, {"b": 1})


def test_a_counters_file_that_cannot_be_written_stops_nothing(tmp_path):
    counters = Counters(tmp_path / "none" / "counters.json")
    counters.deliver(1)
    assert counters.snapshot().delivered == 1
