"""Whole months through parser and mapping: the events come out byte for byte."""

import hashlib
from collections import Counter

import pytest

from harness.calendar import Period
from harness.collector.counters import LABELS_MAX
from harness.collector.outcome import Kind, judge
from harness.month import generate
from harness.month.render import body

#: Seed to: sha256 of events.jsonl of 2026-07, os-sim; messages; consumed.
KNOWN = {
    1: ("9c02a888be8882d179b67dae1e956fea73552408e59c78d0e05eb8274e55a749", 15741, 1812),
    2: ("122a5377e460e1ff397c035e864c68abe5fd7088373c95059ea14ac27bea5bb5", 16799, 1869),
}


@pytest.mark.parametrize("seed", KNOWN)
def test_a_month(seed):
    digest, messages, consumed = KNOWN[seed]
    outcomes = [
        judge(body(each), "os-sim") for each in generate(seed, Period(2026, 7), "os-sim").stream
    ]
    assert Counter(outcome.kind for outcome in outcomes) == {
        Kind.CONSUMED: consumed,
        Kind.SKIPPED: messages - consumed,
    }
    events = b"".join(each.event + b"\n" for each in outcomes if each.kind is Kind.CONSUMED)
    assert hashlib.sha256(events).hexdigest() == digest
    assert len({outcome.event_type for outcome in outcomes}) == 87 < LABELS_MAX


def test_a_month_of_refused_shapes():
    month = generate(1, Period(2026, 7), "os-sim", ("refused-shapes",))
    outcomes = [judge(body(each), "os-sim") for each in month.stream]
    assert Counter(outcome.kind for outcome in outcomes) == {
        Kind.CONSUMED: 1812,
        Kind.SKIPPED: 13996,
        Kind.UNPARSEABLE: 20,
    }
    reasons = Counter(outcome.reason.partition(" ")[0] for outcome in outcomes if outcome.reason)
    assert sorted(reasons.values()) == [5, 15]  # five too large, fifteen cut off
    versioned = {each.event_type for each in outcomes if each.event_type.startswith("instance.")}
    assert len(versioned) == 3
