"""Months through the embedded stack: the same code as on every other, without the waiting."""

import csv
import json
from dataclasses import replace
from decimal import Decimal

import pytest

from harness.collector.mapping import MAPPINGS
from harness.collector.rules import instance_size
from harness.drill import prepare, released, run, take
from harness.engine import metering, number, rating
from harness.stack import Options, open_stack
from harness.timeline import Timeline, fold

PERIOD = "2026-07"


@pytest.fixture(scope="module")
def stack():
    opened = open_stack("embedded", Options())
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def clean():
    return prepare(1, PERIOD)


def test_a_month_is_billed_as_it_was_lived(stack, clean, tmp_path):
    steps = []
    verdict = run(clean, stack, name="clean", out=tmp_path / "kept", watch=steps.append)
    assert verdict == clean
    assert verdict.matches
    assert verdict.comparison.compared == 857
    assert verdict.not_judged == ()
    assert verdict.counters() == {
        "published": 15741,
        "consumed": dict(clean.expectation.consumed),
        "skipped": dict(clean.expectation.skipped),
        "unparseable": 0,
        "stored": 1812,
        "duplicates": 0,
        "rejected": 0,
    }
    kept = tmp_path / "kept"
    assert {path.relative_to(kept).as_posix() for path in kept.rglob("*") if path.is_file()} == {
        "oracle.json",
        "counters.json",
        "verdict.json",
        "export/rated.csv",
    }
    assert all(path.stat().st_mode & 0o77 == 0 for path in kept.rglob("*"))
    assert json.loads((kept / "verdict.json").read_text())["matches"] is True
    with (kept / "export" / "rated.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3241
    traffic = sum(row.egress_bytes for row in clean.oracle.traffic)
    billed = sum(Decimal(row["quantity"]) for row in rows if row["dimension"] == "egress_gb")
    assert abs(billed - Decimal(traffic) / 2**30) < 1
    phases = list(dict.fromkeys(step.phase for step in steps))
    assert phases == ["start", "publish", "drain", "read", "bill", "compare"]
    assert max(step.done for step in steps if step.phase == "publish") == 15741
    assert set(verdict.seconds) == {*phases, "total"}


def test_a_second_publication_stores_nothing(stack, clean):
    with stack.month("twice", cloud="os-sim") as opened:
        first = take(clean, opened)
        again = take(clean, opened)
    assert (first.accounting.stored, first.accounting.duplicates) == (1812, 0)
    assert (again.accounting.stored, again.accounting.duplicates) == (0, 1812)
    assert first == clean
    assert again == clean


@pytest.mark.parametrize(
    ("faults", "stored", "duplicates", "differing"),
    [
        (("pre-existing",), 1812, 0, 0),
        (("missing-create",), 1752, 0, 18),
        (("duplicates",), 1812, 86, 0),
        (("reordering",), 1812, 0, 0),
        (("refused-shapes",), 1812, 0, 0),
        (("held-back",), 1728, 0, 78),
        (("duplicates", "reordering", "refused-shapes", "held-back"), 1728, 81, 78),
    ],
)
@pytest.mark.slow
def test_a_switch_does_what_it_is_documented_to_do(stack, faults, stored, duplicates, differing):
    subject = prepare(1, PERIOD, faults=faults)
    verdict = run(subject, stack)
    assert verdict == subject, verdict.findings()
    assert (verdict.accounting.stored, verdict.accounting.duplicates) == (stored, duplicates)
    assert len(verdict.differences) == verdict.touched == differing
    assert verdict.matches is (differing == 0)


def test_after_the_release_the_month_matches(stack):
    held = prepare(1, PERIOD, faults=("held-back",))
    verdict = run(released(held), stack, name="released")
    assert verdict.matches
    assert verdict.accounting.stored == 1812


def broken(stack, subject, name):
    verdict = run(subject, stack, name=name)
    assert verdict != subject
    assert not verdict.passed
    return verdict


def test_a_mapping_that_forgets_ephemeral_disks_fails_and_says_where(stack, clean, monkeypatch):
    def root_disk_only(payload):
        return instance_size({**payload, "ephemeral_gb": 0})

    for event_type, entry in MAPPINGS.items():
        if entry.size is instance_size:
            monkeypatch.setitem(MAPPINGS, event_type, replace(entry, size=root_disk_only))
    verdict = broken(stack, clean, "broken-mapping")
    first = verdict.differences[0]
    assert (first.word, first.expected, first.actual) == ("wrong-quantity", "80.0000", "40.0000")
    line = next(line for line in verdict.lines() if first.resource_id in line)
    assert "[2026-07-" in line
    assert "disk_gb 40.0000" in line
    assert "80.0000" in line


def test_a_fold_that_never_closes_fails_and_says_where(stack, clean, monkeypatch):
    def deaf_to_power(events):
        kept = [event for event in events if "power_off" not in event.event_type]
        timeline = fold(kept)
        return Timeline(
            timeline.intervals, timeline.created_at, timeline.deleted_at, timeline.warnings
        )

    monkeypatch.setattr(metering, "fold", deaf_to_power)
    monkeypatch.setattr(metering, "check", lambda *_, **__: ())
    verdict = broken(stack, clean, "broken-fold")
    first = verdict.differences[0]
    assert first.word in {"wrong-interval", "wrong-state", "lost"}
    line = next(line for line in verdict.lines() if first.resource_id in line)
    assert first.expected in line
    assert first.actual in line


def test_a_rounding_that_cuts_off_fails_and_says_where(stack, clean, monkeypatch):
    def cut(value):
        return value.quantize(Decimal("0.0001"), rounding="ROUND_DOWN")

    monkeypatch.setattr(number, "to_four", cut)
    verdict = broken(stack, clean, "broken-rounding")
    first = verdict.differences[0]
    assert first.resource_type == "instance"
    assert Decimal(first.expected) - Decimal(first.actual) == Decimal("0.0001")
    line = next(line for line in verdict.lines() if first.resource_id in line)
    assert "[2026-07-" in line
    assert f"egress_gb {first.actual}" in line
    assert first.expected in line


def test_cents_that_are_cut_off_fail_and_say_where(stack, clean, monkeypatch):
    def cut(value):
        return value.quantize(Decimal("0.01"), rounding="ROUND_DOWN")

    monkeypatch.setattr(rating, "to_cents", cut)
    verdict = broken(stack, clean, "broken-cents")
    first = verdict.differences[0]
    assert Decimal(first.expected) - Decimal(first.actual) == Decimal("0.01")
    assert any("charged" in line and first.expected in line for line in verdict.lines())
