"""The fold, case by case."""

from decimal import Decimal

import pytest

from harness.timeline import (
    HISTORY_STARTS_WITHOUT_CREATE,
    Category,
    Event,
    Interval,
    Timeline,
    category,
    fold,
    same,
)

SMALL = {"vcpus": 2, "flavor": "s"}
LARGE = {"vcpus": 4, "flavor": "l"}


def event(at, kind, state="active", size=None, project="p1", received=0, event_id=None):
    return Event(at, received, event_id or f"e{at}{kind}", f"thing.{kind}", state, size, project)


def create(at, size=SMALL, **more):
    return event(at, "create.end", size=size, **more)


def delete(at, **more):
    return event(at, "delete.end", state=None, **more)


def update(at, state="active", size=None, **more):
    return event(at, "change", state=state, size=size, **more)


@pytest.mark.parametrize(
    ("event_type", "expected"),
    [
        ("image.create", Category.CREATE),
        ("compute.instance.create.end", Category.CREATE),
        ("sync.create", Category.CREATE),
        ("volume.delete.end", Category.DELETE),
        ("delete.create", Category.CREATE),
        ("volume.resize.end", Category.UPDATE),
        ("compute.instance.shelve", Category.UPDATE),
        ("thing.created", Category.UPDATE),
        ("thing.predelete.end", Category.UPDATE),
    ],
)
def test_category_looks_at_whole_dotted_parts(event_type, expected):
    assert category(event_type) is expected


def test_no_events_fold_to_nothing():
    assert fold([]) == Timeline((), None, None, ())


def test_create_and_delete_make_one_interval():
    timeline = fold([create(10), delete(30)])
    assert timeline.intervals == (Interval(10, 30, "active", SMALL, "p1"),)
    assert (timeline.created_at, timeline.deleted_at, timeline.warnings) == (10, 30, ())


def test_open_interval_has_no_end():
    assert fold([create(10)]).intervals == (Interval(10, None, "active", SMALL, "p1"),)


def test_changes_of_state_size_and_project_each_split():
    timeline = fold(
        [create(10), update(20, "shutoff"), update(30, size=LARGE), update(40, project="p2")]
    )
    assert timeline.intervals == (
        Interval(10, 20, "active", SMALL, "p1"),
        Interval(20, 30, "shutoff", SMALL, "p1"),
        Interval(30, 40, "active", LARGE, "p1"),
        Interval(40, None, "active", LARGE, "p2"),
    )


def test_update_that_changes_nothing_is_ignored():
    timeline = fold(
        [create(10), update(20), update(30, size={"flavor": "s", "vcpus": Decimal("2.0")})]
    )
    assert timeline.intervals == (Interval(10, None, "active", SMALL, "p1"),)


def test_update_after_delete_opens_again_with_what_was():
    timeline = fold([create(10), delete(20), update(30, state=None)])
    assert timeline.intervals == (
        Interval(10, 20, "active", SMALL, "p1"),
        Interval(30, None, "active", SMALL, "p1"),
    )
    assert timeline.deleted_at == 20


def test_two_lives_keep_first_create_and_last_delete():
    timeline = fold([create(10), delete(20), create(30), delete(40)])
    assert [(i.start, i.end) for i in timeline.intervals] == [(10, 20), (30, 40)]
    assert (timeline.created_at, timeline.deleted_at) == (10, 40)


def test_delete_of_nothing_open_is_only_recorded():
    timeline = fold([create(10), delete(20), delete(25)])
    assert len(timeline.intervals) == 1
    assert timeline.deleted_at == 25


def test_history_without_create_bills_from_its_first_event_and_warns():
    timeline = fold([update(20, "shutoff"), delete(30)])
    assert timeline.intervals == (Interval(20, 30, "shutoff", {}, "p1"),)
    assert timeline.warnings == (HISTORY_STARTS_WITHOUT_CREATE,)
    assert timeline.created_at is None


def test_history_that_starts_with_a_delete_warns_and_opens_nothing():
    assert fold([delete(30)]).intervals == ()
    assert fold([delete(30)]).warnings == (HISTORY_STARTS_WITHOUT_CREATE,)


def test_late_create_still_sets_created_at():
    timeline = fold([update(10), create(20)])
    assert timeline.created_at == 20
    assert timeline.warnings == (HISTORY_STARTS_WITHOUT_CREATE,)


def test_two_changes_in_one_instant_bill_the_last():
    timeline = fold(
        [create(10), update(20, "shutoff", event_id="a"), update(20, "paused", event_id="b")]
    )
    assert timeline.intervals == (
        Interval(10, 20, "active", SMALL, "p1"),
        Interval(20, None, "paused", SMALL, "p1"),
    )


def test_a_vanished_interval_leaves_equal_neighbours_apart():
    timeline = fold([create(10), update(20, "shutoff", event_id="a"), update(20, event_id="b")])
    assert timeline.intervals == (
        Interval(10, 20, "active", SMALL, "p1"),
        Interval(20, None, "active", SMALL, "p1"),
    )


def test_ties_are_broken_by_receipt_then_by_id_in_byte_order():
    by_receipt = [
        create(10),
        update(20, "b", received=2, event_id="a"),
        update(20, "a", received=1, event_id="b"),
    ]
    assert fold(by_receipt).intervals[-1].state == "b"
    by_id = [
        create(10),
        update(20, "upper", event_id="Z"),
        update(20, "umlaut", event_id="ä"),
        update(20, "lower", event_id="a"),
    ]
    assert fold(by_id).intervals[-1].state == "umlaut"


def test_order_of_arrival_does_not_matter():
    events = [create(10), update(20, "shutoff"), delete(30)]
    assert fold(reversed(events)) == fold(events)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (4, Decimal("4.0"), True),
        ({"a": [1, {"b": Decimal("2.50")}]}, {"a": [1, {"b": Decimal("2.5")}]}, True),
        (True, 1, False),
        ({"a": False}, {"a": 0}, False),
        (True, True, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([1], [1, 2], False),
        ("4", 4, False),
        (None, None, True),
        (None, 0, False),
        ({}, [], False),
    ],
)
def test_same_compares_json_values(one, other, expected):
    assert same(one, other) is expected
    assert same(other, one) is expected
