"""Quantities and amounts worked out a second time: what is wrong is said once a resource."""

import csv

import pytest

from harness.drill import prepare
from harness.drill.charges import check_charges
from harness.oracle.compare import Comparison
from harness.oracle.rated import RatedError
from harness.pricing import read

MODEL = read("2026-03")
HEADER = ("cloud", "platform", "resource_id", "from_ts", "to_ts", "dimension", "quantity", "amount")


@pytest.fixture(scope="module")
def oracle():
    return prepare(1, "2026-07").oracle


def nothing(*differences):
    return Comparison("2026-03", 857, differences, {}, 0, 0, ())


def test_an_empty_export_charges_nothing_for_everything(oracle, tmp_path):
    with (tmp_path / "rated.csv").open("w", newline="") as file:
        csv.writer(file).writerow(HEADER)
    found = check_charges(nothing(), oracle, tmp_path, MODEL).differences
    priced = [
        r for r in oracle.resources if r.resource_type in {"instance", "volume", "floating_ip"}
    ]
    assert len(found) == len(priced) == 857
    assert found[0].detail.endswith("is charged nothing for count")
    instance = next(one for one in found if one.resource_type == "instance")
    assert (instance.more + 1) % 4 == 0
    again = check_charges(nothing(*found), oracle, tmp_path, MODEL)
    assert again.differences == found, "what differs already is not said twice"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cloud", "os-x"),
        ("platform", "harbor"),
        ("currency", "USD"),
        ("kind", "correction"),
        ("period_from", "2026-06-01T00:00:00Z"),
        ("period_to", "2026-09-01T00:00:00Z"),
    ],
)
def test_a_row_of_something_else_is_a_difference(oracle, tmp_path, name, value):
    row = dict.fromkeys(HEADER, "1") | {"cloud": oracle.cloud, "platform": "openstack"}
    row |= {"resource_type": "instance", "resource_id": "i-x", "currency": "EUR"}
    row |= {"period_from": "2026-07-01T00:00:00Z", "period_to": "2026-08-01T00:00:00Z"}
    row |= {"kind": "regular", name: value}
    with (tmp_path / "rated.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row)
    found = check_charges(nothing(), oracle, tmp_path, MODEL).differences
    (one,) = (one for one in found if one.resource_id == "i-x")
    again = check_charges(nothing(one), oracle, tmp_path, MODEL).differences
    assert again.count(one) == 1, "what differs already is not said twice"
    assert one.detail.startswith(f'[1, 1) is billed with {name} "{value}" instead of ')


@pytest.mark.parametrize(("rest", "text"), [(("foo",), 'amount "foo"'), ((), "lacks the column")])
def test_an_amount_that_cannot_be_read_is_refused(oracle, tmp_path, rest, text):
    header = ("resource_type", *HEADER[: 7 + len(rest)])
    row = ("instance", oracle.cloud, "openstack", "i", "1", "1", "count", "1", *rest)
    with (tmp_path / "rated.csv").open("w", newline="") as file:
        csv.writer(file).writerows((header, row))
    with pytest.raises(RatedError, match=text):
        check_charges(nothing(), oracle, tmp_path, MODEL)
