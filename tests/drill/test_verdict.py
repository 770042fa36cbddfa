"""The verdict: what passes, what it says, what it leaves on disk."""

import json
from dataclasses import replace

import pytest

from harness.calendar import Period
from harness.drill import prepare
from harness.drill.accounting import Accounting, Counts, Shortfall
from harness.drill.verdict import WORDS, Verdict
from harness.oracle.compare import Comparison, Difference

ACCOUNTING = Accounting(
    published=9,
    consumed={"volume.create.end": 5},
    skipped={"port.create.end": 1, "compute.instance.update": 2},
    unparseable=1,
    stored=5,
    duplicates=0,
    dead_lettered=0,
    refused_by_scope=0,
    oversize=0,
    problems=(),
)
QUANTITY = Difference(
    "instance", "i-1", "wrong-quantity", 1782864000, 1782867600, "40.0000", "20.0000",
    "disk_gb 20.0000 over [2026-07-01T00:00:00Z, 2026-07-01T01:00:00Z), the oracle expects 40.0000",
    0, (),
)  # fmt: skip
LOST = Difference(
    "volume", "v-1", "lost", 1782864000, 1785542400, "[2026-07-01T00:00:00Z, 2026-08-01T00:00:00Z)",
    None, "missing from the export", 0, ("missing-create",),
)  # fmt: skip


def comparison(*differences, faults=()):
    return Comparison("2026-03", 857, differences, {"image": 9, "loadbalancer": 5}, 0, 0, faults)


def verdict(**changes):
    plain = Verdict(
        seed=1,
        period=Period(2026, 7),
        cloud="os-sim",
        faults=(),
        stack="embedded",
        comparison=comparison(),
        counts=Counts(5, 5),
        expected_counts=Counts(5, 5),
        accounting=ACCOUNTING,
        documented=frozenset(),
        not_judged=(),
        seconds={"publish": 1.23456, "total": 2.5},
    )
    return replace(plain, **changes)


MISSING = {
    "faults": ("missing-create",),
    "comparison": comparison(LOST, faults=("missing-create",)),
    "documented": frozenset({("volume", "v-1")}),
}


def test_a_clean_month_matches_and_passes():
    assert verdict().matches
    assert verdict().passed
    assert verdict().lines() == (
        "seed 1, 2026-07, os-sim, on embedded",
        "9 published: 5 consumed, 3 skipped, 1 unparseable",
        "5 stored, 0 duplicates, 0 rejected",
        *comparison().lines(),
        "passed in 2.5 s",
    )


def test_exactly_the_documented_differences_pass_and_do_not_match():
    found = verdict(**MISSING)
    assert found.passed
    assert not found.matches
    assert found.lines()[-1] == (
        "passed as documented for missing-create: exactly these 1 resources differ, all marked, "
        "in 2.5 s"
    )
    assert "volume v-1: missing from the export (touched by missing-create)" in found.lines()


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        ({"comparison": comparison(QUANTITY)}, QUANTITY.line()),
        (MISSING | {"documented": frozenset()}, LOST.line()),
        (MISSING | {"comparison": comparison(replace(LOST, touched_by=()))}, "volume v-1: missing from the export"),
        (MISSING | {"comparison": comparison()},
         "volume v-1: the export matches the oracle, and missing-create has to make it differ"),
        ({"expected_counts": Counts(5, 4, (Shortfall("p", "volume.retype", 1),))},
         "stored events: 1 too few of volume.retype in project p"),
        ({"expected_counts": Counts(5, 6, (), (Shortfall("p", "volume.retype", 1),))},
         "stored events: 1 too many of volume.retype in project p"),
        ({"accounting": replace(ACCOUNTING, problems=("something is off",))}, "something is off"),
    ],
)  # fmt: skip
def test_anything_else_fails_and_is_said(changes, finding):
    found = verdict(**changes)
    assert found.findings() == (finding,)
    assert finding in found.lines()
    assert found.lines()[-1] == "failed, 1 findings, in 2.5 s"


def test_counts_a_switch_keeps_back_are_not_matched_and_not_a_finding():
    held = verdict(counts=Counts(5, 4, (Shortfall("p", "volume.retype", 1),)))
    assert held.passed
    assert not held.matches


def test_what_is_not_judged_is_said_and_no_failure():
    found = verdict(comparison=None, not_judged=("export",))
    assert found.passed
    assert "not judged: export" in found.lines()
    assert found.lines()[-1] == "passed as far as it was judged, in 2.5 s"
    assert found.document()["not_judged"] == ["export"]


def test_a_drill_that_could_look_at_nothing_has_not_passed():
    blind = replace(ACCOUNTING, consumed=None, skipped=None, unparseable=None, stored=None)
    found = verdict(comparison=None, accounting=blind, not_judged=("export", "stored events"))
    assert not found.passed
    assert found.findings()[0].startswith("nothing could be judged; give the stack an export")


def test_documents(tmp_path):
    verdict(**MISSING).write(tmp_path)
    text = (tmp_path / "verdict.json").read_text()
    document = json.loads(text)
    assert text == json.dumps(document, indent=2, sort_keys=True) + "\n"
    assert document.pop("accounting")["consumed"] == 5
    assert document == {
        "format": 1,
        "seed": 1,
        "period": "2026-07",
        "cloud": "os-sim",
        "faults": ["missing-create"],
        "stack": "embedded",
        "matches": False,
        "compared": 857,
        "unpriced": {"image": 9, "loadbalancer": 5},
        "differences": [
            {
                "resource_type": "volume",
                "resource_id": "v-1",
                "word": "lost",
                "from": "2026-07-01T00:00:00Z",
                "to": "2026-08-01T00:00:00Z",
                "expected": "[2026-07-01T00:00:00Z, 2026-08-01T00:00:00Z)",
                "actual": None,
                "detail": "missing from the export",
                "more": 0,
                "touched_by": ["missing-create"],
            }
        ],
        "counts": {"expected": 5, "stored": 5, "missing": [], "surplus": []},
        "not_judged": [],
        "seconds": {"publish": 1.235, "total": 2.5},
    }
    assert json.loads((tmp_path / "counters.json").read_text()) == {
        "published": 9,
        "consumed": {"volume.create.end": 5},
        "skipped": {"port.create.end": 1, "compute.instance.update": 2},
        "unparseable": 1,
        "stored": 5,
        "duplicates": 0,
        "rejected": 0,
    }
    for name in ("verdict.json", "counters.json"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


def test_skip_counters_come_in_the_order_of_the_table():
    assert list(verdict().skip_counters()) == ["compute.instance.update", "port.create.end"]
    assert verdict(accounting=replace(ACCOUNTING, skipped=None)).skip_counters() is None


def test_a_verdict_equals_one_that_says_the_same_whatever_the_time_and_stack():
    assert verdict() == verdict(seconds={"total": 99.0}, stack="local")
    assert verdict() != verdict(comparison=comparison(QUANTITY))


def test_a_verdict_equals_its_month_when_it_passed():
    month = prepare(1, "2026-07")
    assert verdict() == month
    assert verdict(seed=2) != month
    assert verdict(comparison=comparison(QUANTITY)) != month


def test_the_words_of_differences_are_a_closed_set():
    assert {QUANTITY.word, LOST.word} <= set(WORDS)
    assert len(WORDS) == 8
