"""Each invariant, broken on purpose."""

from decimal import Decimal

import msgspec
import pytest

from harness.engine.invariants import check, lives
from harness.engine.metering import Meter
from harness.engine.record import History, Resource
from harness.timeline import Event

RESOURCE = Resource("c", "p", "t", "r")
SIZE = {"vcpus": 2, "flavor": "f"}
SECOND = 1_000_000
START, END = 1000 * SECOND, 2000 * SECOND


def event(second, kind, state="active", size=None, project="q"):
    return Event(second * SECOND, 0, f"{second}{kind}", f"x.{kind}", state, size, project)


def history(*events):
    return History(RESOURCE, events)


LIFE = history(
    event(1100, "create", size=SIZE), event(1300, "change", "shutoff"), event(1500, "delete", None)
)


def metered(lived):
    return list(Meter(START, END).meter(lived).records)


def rules(lived, records):
    return {violation.rule for violation in check(lived, records, START, END)}


def changed(record, **members):
    return msgspec.structs.replace(record, **members)


def test_what_metering_makes_of_a_history_holds():
    records = metered(LIFE)
    assert [(record.start, record.end) for record in records] == [
        (1100 * SECOND, 1300 * SECOND),
        (1300 * SECOND, 1500 * SECOND),
    ]
    assert rules(LIFE, records) == set()


def test_a_gap_and_an_overlap():
    first, second = metered(LIFE)
    for moved in (1290, 1310):
        broken = [changed(first, end=moved * SECOND, seconds=moved - 1100), second]
        broken[0].usage["minutes"] = (Decimal(moved - 1100) / 60).quantize(Decimal("0.0001"))
        found = rules(LIFE, broken)
        assert "no_gaps_overlaps" in found
        assert ("coverage" in found) == (moved < 1300)


def test_coverage_of_a_record_lacking_at_either_end():
    first, second = metered(LIFE)
    assert rules(LIFE, [first]) == {"coverage"}
    assert rules(LIFE, [second]) == {"coverage"}
    assert rules(LIFE, []) == {"coverage"}


def test_an_update_after_a_delete_breaches_coverage():
    reopened = history(*LIFE.events, event(1600, "change", "active"))
    result = Meter(START, END).meter(reopened)
    assert {violation.rule for violation in result.violations} == {"coverage"}
    (violation,) = result.violations
    assert (violation.start, violation.end) == (1100 * SECOND, END)
    assert violation.document()["from"] == "1970-01-01T00:18:20Z"


def test_two_lives_have_a_gap_between_them():
    lived = history(*LIFE.events, event(1600, "create", size=SIZE), event(1700, "delete", None))
    assert rules(lived, metered(lived)) == set()


@pytest.mark.parametrize(
    "members",
    [
        {"state": "paused"},
        {"project_id": "other"},
        {"usage": {"vcpus": 3, "flavor": "f"}},
        {"usage": {"vcpus": 2}},
        {"usage": {"vcpus": 2, "flavor": "f", "disk": 1}},
        {"usage": {"vcpus": "2", "flavor": "f"}},
    ],
    ids=repr,
)
def test_traceability_of_what_a_record_says(members):
    first, second = metered(LIFE)
    if "usage" in members:
        implicit = {name: first.usage[name] for name in ("minutes", "count")}
        members = {"usage": members["usage"] | implicit}
    assert rules(LIFE, [changed(first, **members), second]) == {"traceability"}


def test_traceability_of_a_boundary_no_event_tells():
    (whole,) = metered(history(event(1100, "create", size=SIZE), event(1300, "delete", None)))
    lived = history(event(1100, "create", size=SIZE), event(1300, "delete", None))
    seconds = 100
    halves = [
        changed(whole, end=1200 * SECOND, seconds=seconds, usage=dict(whole.usage)),
        changed(whole, start=1200 * SECOND, seconds=seconds, usage=dict(whole.usage)),
    ]
    for half in halves:
        half.usage["minutes"] = Decimal("1.6667")
    assert rules(lived, halves) == {"traceability"}


@pytest.mark.parametrize(
    "broken", [{"count": 2}, {"minutes": Decimal("3.3334")}, {"minutes": 4}], ids=repr
)
def test_implicit_count(broken):
    first, second = metered(LIFE)
    first.usage.update(broken)
    assert rules(LIFE, [first, second]) == {"implicit_count"}


def test_seconds_are_whole_and_cut():
    lived = history(
        event(1100, "create", size=SIZE),
        Event(1100 * SECOND + 2_999_999, 0, "z", "x.delete", None, None, "q"),
    )
    (record,) = metered(lived)
    assert record.seconds == 2
    assert rules(lived, [record]) == set()
    assert rules(lived, [changed(record, seconds=3)]) == {"implicit_count"}


@pytest.mark.parametrize("member", ["minutes", "count"])
def test_a_size_with_a_reserved_member(member):
    result = Meter(START, END).meter(history(event(1100, "create", size={member: 5})))
    assert [violation.rule for violation in result.violations] == ["reserved_usage_field"]
    assert result.records == ()


def test_lives():
    def spans(*events):
        return [(one // SECOND, other // SECOND) for one, other in lives(events, START, END)]

    create, change, delete = (
        event(1100, "create", size=SIZE),
        event(1200, "change"),
        event(1300, "delete", None),
    )
    assert spans() == []
    assert spans(create) == [(1100, 2000)]
    assert spans(change, delete) == [(1200, 1300)]
    assert spans(delete) == []
    assert spans(delete, event(1400, "change")) == []
    assert spans(create, change, delete, event(1400, "change")) == [(1100, 1300)]
    assert spans(event(10, "create"), event(20, "delete", None)) == []
    assert spans(event(10, "create"), event(2500, "delete", None)) == [(1000, 2000)]
    assert spans(create, event(1150, "create"), delete) == [(1100, 1300)]
