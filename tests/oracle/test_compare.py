"""Every way an export can depart from the oracle, and how the report words it."""

from dataclasses import replace
from decimal import Decimal

import pytest

from harness import pricing
from harness.calendar import rfc3339
from harness.oracle.compare import GateError, expected_quantity
from harness.oracle.model import Interval

START = 1782864000
SPAN = {
    at: f"[{rfc3339(START + at)}, {rfc3339(START + at + 100)})" for at in (100, 200, 300, 400, 500)
}


def only(comparison):
    (difference,) = comparison.differences
    return difference


def test_a_faithful_export_matches(bench):
    comparison = bench.compare()
    assert comparison.matches
    assert comparison.compared == 4
    assert comparison.unpriced == {"image": 2, "loadbalancer": 1}
    assert comparison.lines() == [
        "image: 2 resources left out; pricing model 2026-03 does not price them",
        "loadbalancer: 1 resources left out; pricing model 2026-03 does not price them",
        "the export matches the oracle over 4 resources",
    ]


def test_a_resource_without_rows_is_lost(bench):
    bench.drop(bench.find("i-1"))
    comparison = bench.compare()
    difference = only(comparison)
    assert difference.word == "lost"
    assert (difference.start, difference.end) == (START + 100, START + 400)
    assert comparison.lines()[0] == "instance i-1: the export does not bill it"
    assert comparison.lines()[-1] == "1 of 4 resources differ from the oracle"


def test_a_resource_the_oracle_does_not_hold_is_unexpected_and_carries_no_mark(bench):
    bench.faults = ("held-back",)
    bench.rows += [row | {"resource_id": "i-9"} for row in bench.find("i-2")]
    comparison = bench.compare()
    assert only(comparison).word == "unexpected"
    assert only(comparison).actual == SPAN[500]
    assert comparison.compared == 5
    assert comparison.lines() == [
        "instance i-9: the export bills it and the oracle does not know it",
        "image: 2 resources left out; pricing model 2026-03 does not price them",
        "loadbalancer: 1 resources left out; pricing model 2026-03 does not price them",
        "the month ran with the fault switches held-back",
        "1 of 5 resources differ from the oracle",
    ]


def test_a_dropped_last_interval_is_lacking(bench):
    bench.drop(bench.find("i-1", 300))
    difference = only(bench.compare())
    assert (difference.word, difference.more) == ("lost", 0)
    assert difference.detail == f"{SPAN[300]} is not billed"


def test_a_dropped_first_interval_shifts_the_rest(bench):
    bench.drop(bench.find("i-1", 100))
    difference = only(bench.compare())
    assert (difference.word, difference.more) == ("wrong-interval", 2)
    assert difference.line() == (
        f"instance i-1: {SPAN[200]} is billed where the oracle holds {SPAN[100]} (and 2 more)"
    )


def test_an_appended_interval_is_unexpected(bench):
    stamps = {"from_ts": rfc3339(START + 400), "to_ts": rfc3339(START + 500)}
    bench.rows += [row | stamps for row in bench.find("i-1", 300)]
    difference = only(bench.compare())
    assert difference.word == "unexpected"
    assert (difference.start, difference.end) == (START + 400, START + 500)
    assert difference.detail == f"{SPAN[400]} is billed and the oracle holds no such interval"


def test_a_shifted_bound_hides_what_else_differs_there(bench):
    for row in bench.find("i-2"):
        row.update(to_ts=rfc3339(START + 588), state="shutoff")
    difference = only(bench.compare())
    assert (difference.word, difference.more) == ("wrong-interval", 0)
    assert difference.expected == SPAN[500]
    assert difference.actual == SPAN[500].replace("00:10:00", "00:09:48")
    assert difference.detail == (
        f"{difference.actual} is billed where the oracle holds {difference.expected}"
    )


def test_another_state(bench):
    for row in bench.find("i-1", 100):
        row["state"] = "shutoff"
    difference = only(bench.compare())
    assert (difference.word, difference.expected, difference.actual) == (
        "wrong-state",
        "active",
        "shutoff",
    )
    assert difference.detail == f'{SPAN[100]} is billed in state "shutoff", lived in "active"'


def test_another_project(bench):
    for row in bench.find("i-1", 100):
        row["project_id"] = "p-2"
    difference = only(bench.compare())
    assert (difference.word, difference.expected, difference.actual) == (
        "wrong-project",
        "p-1",
        "p-2",
    )
    assert difference.detail == f"{SPAN[100]} is billed to project p-2, lived in p-1"


def test_the_state_comes_before_the_quantity_of_the_same_interval(bench):
    for row in bench.find("i-1", 100):
        row["state"] = "shutoff"
    bench.find("i-1", 100, "ram_gb")[0]["quantity"] = "5"
    difference = only(bench.compare())
    assert difference.line().endswith('lived in "active" (and 1 more)')


def test_a_doubled_row(bench):
    bench.rows += [dict(row) for row in bench.find("i-1", 200, "ram_gb")]
    difference = only(bench.compare())
    assert difference.word == "duplicated"
    assert difference.detail == f"{SPAN[200]} is rated twice by ram_gb"


def test_a_doubled_counter_row_is_double_as_well(bench):
    bench.rows += [dict(row) for row in bench.find("i-1", 200, "egress_gb")]
    assert only(bench.compare()).word == "duplicated"


def test_two_states_of_one_interval_win_over_a_repeated_dimension(bench):
    bench.rows += [row | {"state": "shutoff"} for row in bench.find("i-1", 100)]
    difference = only(bench.compare())
    assert (difference.word, difference.more) == ("duplicated", 0)
    assert difference.detail == (f"{SPAN[100]} is booked under two states or projects")


def test_two_projects_of_one_interval(bench):
    bench.find("i-1", 300, "vcpus")[0]["project_id"] = "p-2"
    assert only(bench.compare()).detail.startswith(f"{SPAN[300]} is booked under two")


def test_a_wrong_quantity_has_four_places(bench):
    bench.find("i-1", 300, "vcpus")[0]["quantity"] = "5"
    difference = only(bench.compare())
    assert (difference.word, difference.expected, difference.actual) == (
        "wrong-quantity",
        "4.0000",
        "5.0000",
    )
    assert difference.detail == f"{SPAN[300]} is billed with vcpus 5.0000, lived with 4.0000"


def test_there_is_no_tolerance_and_the_cell_is_not_rounded(bench):
    bench.find("i-1", 300, "vcpus")[0]["quantity"] = "4.00001"
    assert only(bench.compare()).detail.endswith("vcpus 4.0000, lived with 4.0000")
    bench.find("i-1", 300, "vcpus")[0]["quantity"] = "4.00000"
    assert bench.compare().matches


def test_a_missing_cell(bench):
    bench.drop(bench.find("i-1", 200, "disk_gb"))
    difference = only(bench.compare())
    assert (difference.word, difference.expected, difference.actual) == (
        "wrong-quantity",
        "20.0000",
        None,
    )
    assert difference.detail == f"{SPAN[200]} is not rated by disk_gb"


def test_counters_are_left_to_the_traffic_rows(bench):
    assert {row["quantity"] for row in bench.rows if row["dimension"] == "egress_gb"} == {"99.9999"}
    bench.drop([row for row in bench.rows if row["dimension"] == "egress_gb"])
    assert bench.compare().matches


@pytest.mark.parametrize(
    ("metric", "size", "quantity"),
    [
        ("vcpus", {}, "0.0000"),
        ("vcpus", {"vcpus": "4"}, "0.0000"),
        ("vcpus", {"vcpus": True}, "0.0000"),
        ("size_gb", {"size_gb": Decimal("1.00005")}, "1.0001"),
        ("size_gb", {"size_gb": Decimal("-1.00005")}, "-1.0001"),
        ("size_gb", {"size_gb": Decimal("1.000049999999")}, "1.0000"),
        ("count", {}, "1.0000"),
        ("minutes", {}, "1.6667"),
    ],
)
def test_what_a_metric_measures(metric, size, quantity):
    assert str(expected_quantity(metric, Interval(0, 100, "active", "p", size))) == quantity


def test_rows_of_other_clouds_and_platforms_are_skipped(bench):
    bench.rows += [row | {"platform": "harbor"} for row in bench.find("i-2")]
    bench.rows += [row | {"cloud": "os-other"} for row in bench.find("v-1")]
    comparison = bench.compare()
    assert comparison.skipped == 5
    assert comparison.lines()[-2:] == [
        "5 rated records left out; they name another cloud or platform",
        "the export matches the oracle over 4 resources",
    ]


def test_columns_may_stand_in_any_order_beside_others(bench):
    bench.header = ["extra", *reversed(bench.header)]
    assert bench.compare().matches


def test_two_spellings_of_an_instant_are_one(bench):
    bench.find("i-2", 500, "vcpus")[0].update(
        from_ts="2026-07-01T02:08:20+02:00", to_ts="2026-07-01T00:10:00.000Z"
    )
    assert bench.compare().matches


def test_a_fraction_of_a_second_is_a_difference_that_shows(bench):
    for row in bench.find("i-2"):
        row["to_ts"] = "2026-07-01T00:10:00.250Z"
    assert only(bench.compare()).detail.startswith(
        "[2026-07-01T00:08:20Z, 2026-07-01T00:10:00.25Z) is"
    )


def test_types_the_model_does_not_price_are_counted(bench, tmp_path):
    path = tmp_path / "volumes.yaml"
    path.write_text(
        "version: volumes\nvalid_from: 2026-03-01T00:00:00Z\ncurrency: EUR\n"
        "pricing: {openstack: {volume: {dimensions: "
        "[{metric: size_gb, type: time_gauge, price_per_unit_hour: 1}]}}}\n"
    )
    bench.model = pricing.read(path)
    bench.bill()
    comparison = bench.compare()
    assert comparison.unpriced == {"floating_ip": 1, "image": 2, "instance": 2, "loadbalancer": 1}
    assert comparison.lines()[-1] == "the export matches the oracle over 1 resources"


def test_priced_balancers_are_left_to_reconciliation(bench, tmp_path):
    path = tmp_path / "balancers.yaml"
    path.write_text(
        "version: lb\nvalid_from: 2026-03-01T00:00:00Z\ncurrency: EUR\n"
        "pricing: {openstack: {loadbalancer: {dimensions: "
        "[{metric: listeners, type: time_gauge, price_per_unit_hour: 1}]}}}\n"
    )
    bench.model = pricing.read(path)
    bench.bill()
    bench.rows[0]["quantity"] = "7"
    comparison = bench.compare()
    assert comparison.reconciled == 1
    assert "loadbalancer" not in comparison.unpriced
    assert (
        "loadbalancer: 1 resources left out; only reconciliation knows their size"
        in comparison.lines()
    )
    assert comparison.lines()[-1] == "the export matches the oracle over 0 resources"


def test_marks_stand_on_touched_resources_in_canonical_order(bench):
    bench.faults = ("held-back", "duplicates")
    bench.resources = tuple(
        replace(thing, faults=("held-back", "later", "duplicates"))
        if thing.resource_id == "i-1"
        else thing
        for thing in bench.resources
    )
    for name in ("i-1", "i-2"):
        bench.find(name, None, "vcpus")[0]["quantity"] = "9"
    comparison = bench.compare()
    first, second = comparison.differences
    assert first.line().endswith(" (touched by duplicates, held-back, later)")
    assert second.touched_by == ()
    assert comparison.lines()[-2:] == [
        "the month ran with the fault switches duplicates, held-back",
        "2 of 4 resources differ from the oracle",
    ]


def test_differences_are_sorted_by_type_and_id(bench):
    bench.rows += [row | {"resource_id": "a-0"} for row in bench.find("v-1")]
    for name in ("v-1", "i-2", "f-1"):
        bench.find(name)[0]["quantity"] = "77"
    assert [d.resource_id for d in bench.compare().differences] == ["f-1", "i-2", "a-0", "v-1"]


@pytest.mark.parametrize("member", ["cloud", "platform"])
def test_an_export_of_another_month_is_refused(bench, member):
    for row in bench.rows:
        row[member] = "else"
    with pytest.raises(GateError, match="of cloud os-test and platform openstack"):
        bench.compare()


def test_a_header_alone_bills_nothing(bench):
    bench.rows = []
    with pytest.raises(GateError, match="nothing in"):
        bench.compare()


def test_another_period_is_refused(bench):
    bench.rows[-1]["period_from"] = "2026-06-01T00:00:00Z"
    with pytest.raises(GateError) as caught:
        bench.compare()
    assert str(caught.value) == (
        "rated.csv is of the period [2026-06-01T00:00:00Z, 2026-08-01T00:00:00Z), the oracle of "
        "[2026-07-01T00:00:00Z, 2026-08-01T00:00:00Z)"
    )


@pytest.mark.parametrize(
    ("change", "what"),
    [({"resource_type": "image"}, "image by vcpus"), ({"dimension": "gpus"}, "instance by gpus")],
)
def test_another_model_is_refused(bench, change, what):
    bench.find("i-2", 500, "vcpus")[0].update(change)
    with pytest.raises(GateError, match=f"rates {what}, for which pricing model 2026-03 has no"):
        bench.compare()


def test_a_time_gauge_no_row_is_rated_by_is_refused(bench):
    bench.drop([row for row in bench.rows if row["dimension"] == "disk_gb"])
    with pytest.raises(GateError, match=r"a price for disk_gb of instance"):
        bench.compare()


def test_a_type_without_any_row_is_no_reason_to_refuse(bench):
    bench.drop(bench.find("v-1"))
    assert only(bench.compare()).line() == "volume v-1: the export does not bill it"
