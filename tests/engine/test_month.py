"""A whole generated month: the figures and the structural checks."""

from collections import Counter
from decimal import ROUND_HALF_UP, Decimal

import pytest

from harness.calendar import Period, rfc3339
from harness.collector.outcome import judge
from harness.engine import Engine, samples
from harness.month import generate
from harness.month.render import body
from harness.oracle.compare import compare
from harness.oracle.fold import fold
from harness.oracle.traffic import increments
from harness.pricing import read

CLOUD = "os-sim"


def events(transitions):
    return [event for item in transitions if (event := judge(body(item), CLOUD).event)]


@pytest.fixture
def month():
    return generate(1, Period(2026, 7), CLOUD)


def test_the_clean_month_of_seed_1(month, warehouse, engine, rows, documents, tmp_path):
    warehouse.load(events(month.stream))
    for tenant in month.tenants:
        warehouse.register(CLOUD, tenant.project_id)
    oracle = fold(month)
    grid = tmp_path / "samples.jsonl"
    with grid.open("wb") as file:
        file.writelines(increments(oracle))
    with Engine(engine.database_url, engine.reporting_database_url, (samples(grid),)) as metering:
        run = metering.run("2026-07")
        metering.export(run.run_id, "csv", tmp_path / "export")
    assert (run.candidates, run.usage_records, run.rated_records, run.statements) == (
        871,
        984,
        3241,
        6,
    )
    assert run.stats["unpriced"] == [
        {"platform": "openstack", "resource_type": "image", "count": 9},
        {"platform": "openstack", "resource_type": "loadbalancer", "count": 5},
    ]
    assert not [
        name
        for name in run.stats
        if name.endswith("warnings") or (name.startswith("un") and name != "unpriced")
    ]
    table = rows(run.run_id)
    intervals = Counter(
        kind
        for kind, _, _ in {
            (row["resource_type"], row["resource_id"], row["from_ts"]) for row in table
        }
    )
    assert intervals["instance"] == 757
    assert intervals["volume"] + intervals["floating_ip"] == 213
    assert len(table) == 4 * 757 + 213
    assert run.usage_records == intervals.total() + 9 + 5
    papers = documents(run.run_id)
    totals = [entry["total"] for entry in papers["run.json"]["statements"]]
    assert sum(Decimal(row["amount"]) for row in table) == sum(totals)
    comparison = compare(oracle, tmp_path / "export", read("2026-03"))
    assert comparison.matches
    assert comparison.compared == run.candidates - 9 - 5 == 857
    traffic = {(row.resource_id, row.start): row.egress_bytes for row in oracle.traffic}
    assert len(traffic) == 757
    egress = {
        (row["resource_id"], row["from_ts"]): row["quantity"]
        for row in table
        if row["dimension"] == "egress_gb"
    }
    assert egress == {
        (resource_id, rfc3339(start)): str(quarter(Decimal(size) / (1 << 30)))
        for (resource_id, start), size in traffic.items()
    }


def quarter(number):
    """Four places, half away from zero; two rows of this month lie on a tie."""
    return number.quantize(Decimal("0.0001"), ROUND_HALF_UP)


@pytest.mark.parametrize(
    ("switch", "candidates", "rated", "warnings"),
    [("held-back", 867, 3081, 38), ("missing-create", 867, None, 14)],
    ids=["held-back", "missing-create"],
)
def test_months_that_lack_messages(warehouse, engine, switch, candidates, rated, warnings):
    """Of 18 creates that go missing, four leave no event at all, so nothing to warn of."""
    warehouse.load(events(generate(1, Period(2026, 7), CLOUD, [switch]).stream))
    run = engine.run("2026-07")
    codes = [warning["code"] for warning in run.stats["metering_warnings"]]
    assert codes == ["history_starts_without_create"] * warnings
    assert run.candidates == candidates
    assert rated is None or run.rated_records == rated
