"""The fold against a model that asks second by second."""

from decimal import Decimal
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.calendar import Period
from harness.month.model import Fact, Month
from harness.oracle.fold import BOOKED, FoldError, clip, fold, intervals_of

PERIOD = Period(2026, 7)
M0, M1 = PERIOD.start, PERIOD.end
SMALL = {"vcpus": 1, "ram_gb": 2}
LARGE = {"vcpus": 4, "ram_gb": 8}


def month(facts, **members):
    values = {
        "seed": 1,
        "period": PERIOD,
        "cloud": "os-test",
        "faults": (),
        "schedule": [],
        "stream": [],
        "held": [],
        "facts": list(facts),
        "tenants": (),
        "relations": (),
    }
    return Month(**(values | members))


def alive(at, event="compute.instance.create.end", state="active", size=None, **members):
    values = {"resource_id": "i-1", "project_id": "p-1", "workload": "classic"}
    return Fact(M0 + at, event, state=state, size=size or SMALL, **(values | members))


def ended(at, event="compute.instance.delete.end", **members):
    values = {"resource_id": "i-1", "project_id": "p-1", "workload": "classic"}
    return Fact(M0 + at, event, state=None, size=None, **(values | members))


def spans(oracle):
    return [
        (interval.start - M0, interval.end - M0, interval.state, interval.size["vcpus"])
        for resource in oracle.resources
        for interval in resource.intervals
    ]


effects = st.one_of(
    st.none(),
    st.tuples(
        st.sampled_from(["active", "shutoff"]),
        st.sampled_from(["p-1", "p-2"]),
        st.sampled_from([SMALL, LARGE]),
    ),
)
histories = st.dictionaries(st.integers(-10, 50), effects, max_size=14)


@given(histories, st.integers(0, 20), st.integers(21, 40))
@settings(deadline=None, max_examples=100)
def test_intervals_are_the_longest_runs_of_seconds_alike(history, start, end):
    facts = [
        ended(at)
        if effect is None
        else alive(at, state=effect[0], project_id=effect[1], size=effect[2])
        for at, effect in sorted(history.items())
    ]
    seconds = []
    for second in range(-10, 60):
        past = [at for at in history if at <= second]
        seconds.append((second, history[max(past)] if past else None))
    expected = []
    for effect, run in groupby(
        [pair for pair in seconds if start <= pair[0] < end], key=lambda pair: pair[1]
    ):
        held = [second for second, _ in run]
        if effect is not None:
            expected.append((M0 + held[0], M0 + held[-1] + 1, *effect))
    found = [
        (i.start, i.end, i.state, i.project_id, i.size)
        for i in clip(intervals_of(facts), M0 + start, M0 + end)
    ]
    assert found == expected


def test_a_repeated_report_opens_nothing_and_a_changed_project_does():
    facts = [
        alive(0),
        alive(100, "compute.instance.resize.confirm.end"),
        alive(200, "compute.instance.power_on.end", project_id="p-2"),
    ]
    oracle = fold(month(facts))
    assert spans(oracle) == [(0, 200, "active", 1), (200, M1 - M0, "active", 1)]
    assert [i.project_id for i in oracle.resources[0].intervals] == ["p-1", "p-2"]


def test_a_life_after_an_end_leaves_a_gap():
    facts = [alive(10), ended(20), ended(25), alive(30), ended(40)]
    assert spans(fold(month(facts))) == [(10, 20, "active", 1), (30, 40, "active", 1)]


def test_a_resource_outside_the_month_vanishes_and_its_counts_stay():
    oracle = fold(month([alive(-200), ended(-100)]))
    assert oracle.resources == ()
    assert [(c.event_type, c.count) for c in oracle.counts] == [
        ("compute.instance.create.end", 1),
        ("compute.instance.delete.end", 1),
    ]


def test_dropped_facts_shape_intervals_and_are_not_counted():
    facts = [alive(-200, dropped=True), alive(50, "compute.instance.power_off.end", "shutoff")]
    oracle = fold(month(facts))
    assert spans(oracle) == [(0, 50, "active", 1), (50, M1 - M0, "shutoff", 1)]
    assert [(c.event_type, c.count) for c in oracle.counts] == [("compute.instance.power_off", 1)]


def test_counts_are_by_project_and_tally_type_and_the_accepting_project_counts_a_transfer():
    size = {"size_gb": 10, "type": "ssd"}
    facts = [
        alive(9, "volume.create.end", "available", size, resource_id="v-1"),
        alive(
            19, "volume.transfer.accept.end", "available", size, resource_id="v-1", project_id="p-0"
        ),
        alive(0),
        alive(5, resource_id="i-2"),
    ]
    assert [(c.project_id, c.event_type, c.count) for c in fold(month(facts)).counts] == [
        ("p-0", "volume.transfer.accept.end", 1),
        ("p-1", "compute.instance.create.end", 2),
        ("p-1", "volume.create.end", 1),
    ]


def test_the_workload_is_the_earliest_facts():
    facts = [
        alive(10, workload="ci"),
        alive(5, "compute.instance.power_on.end", workload="gardener"),
    ]
    assert fold(month(facts)).resources[0].workload == "gardener"


def test_marks_are_in_canonical_order_and_on_the_resource_alone():
    facts = [alive(0), alive(0, resource_id="i-2")]
    oracle = fold(
        month(
            facts,
            faults=("held-back", "duplicates"),
            touched={
                ("instance", "i-2"): {"held-back", "duplicates"},
                ("volume", "i-1"): {"duplicates"},
            },
        )
    )
    assert oracle.faults == ("duplicates", "held-back")
    assert [r.faults for r in oracle.resources] == [(), ("duplicates", "held-back")]


def test_an_unknown_type_refuses_the_oracle():
    with pytest.raises(
        FoldError, match=r"compute\.instance\.resize\.end belongs to no type of resource"
    ):
        fold(month([alive(0), alive(1, "compute.instance.resize.end")]))


def test_two_facts_at_one_instant_refuse_the_oracle_even_when_dropped():
    facts = [alive(7, dropped=True), alive(9), ended(7, dropped=True)]
    with pytest.raises(
        FoldError,
        match="instance i-1 has two facts at 2026-07-01T00:00:07Z",
    ):
        fold(month(facts))


def test_an_unknown_type_is_found_before_any_group_is_ordered():
    facts = [alive(7), ended(7), alive(9, "no.such.type", resource_id="i-9")]
    with pytest.raises(FoldError, match=r"no\.such\.type"):
        fold(month(facts))


def test_sizes_differ_by_kind_of_value_as_well():
    facts = [
        alive(0, size={"vcpus": 1}),
        alive(5, size={"vcpus": Decimal(1)}),
        alive(9, size={"vcpus": "1"}),
    ]
    assert [s[:2] for s in spans(fold(month(facts)))] == [(0, 9), (9, M1 - M0)]


def test_twenty_one_types_are_booked_under_five_resource_types():
    assert len(BOOKED) == 21
    assert {kind for kind, _ in BOOKED.values()} == {
        "floating_ip",
        "image",
        "instance",
        "loadbalancer",
        "volume",
    }
    assert {o: t for o, (_, t) in BOOKED.items() if o != t} == {
        "compute.instance.finish_resize.end": "compute.instance.resize.end",
        "compute.instance.shelve_offload.end": "compute.instance.shelve",
        "compute.instance.unshelve.end": "compute.instance.unshelve",
        "compute.instance.power_off.end": "compute.instance.power_off",
        "compute.instance.power_on.end": "compute.instance.power_on",
        "image.upload": "image.create",
    }
