"""The worked examples, to the cent."""

from decimal import Decimal

import pytest

from harness.engine import Engine, Samples

SMALL = {"vcpus": 2, "ram_gb": 4, "disk_gb": 40, "flavor": "m1.small"}
LARGE = {"vcpus": 4, "ram_gb": 8, "disk_gb": 80, "flavor": "m1.large"}
GIB = 1 << 30


def on(day: int) -> int:
    """Microseconds of the start of a day of March 2026; 32 is the first of April."""
    return (1772323200 + (day - 1) * 86400) * 1_000_000


def cells(rows):
    """(state, from, dimension) to (quantity, amount)."""
    return {
        (row["state"], row["from_ts"][:10], row["dimension"]): (row["quantity"], row["amount"])
        for row in rows
    }


def amounts(rows):
    return [row["amount"] for row in rows]


def summed(rows):
    return sum(Decimal(row["amount"]) for row in rows)


def shut_off_for_ten_days(warehouse, *, missed=False):
    warehouse.tell("compute.instance.create.end", on(1), state="active", size=LARGE)
    if not missed:
        shut_off(warehouse)


def shut_off(warehouse):
    warehouse.tell("compute.instance.power_off", on(11), state="shutoff")
    warehouse.tell("compute.instance.power_on", on(21), state="active")


def with_egress(engine, increments):
    return Engine(engine.database_url, engine.reporting_database_url, (Samples(increments),))


def test_golden_rows(engine, warehouse, rows, documents):
    shut_off_for_ten_days(warehouse)
    steps = [("abc-123", on(5), 18 * GIB), ("abc-123", on(21), 45 * GIB // 2)]
    with with_egress(engine, steps) as metered:
        run = metered.run("2026-03")
    table = rows(run.run_id)
    assert cells(table) == {
        ("active", "2026-03-01", "disk_gb"): ("80.0000", "19.20"),
        ("active", "2026-03-01", "egress_gb"): ("18.0000", "1.62"),
        ("active", "2026-03-01", "ram_gb"): ("8.0000", "9.60"),
        ("active", "2026-03-01", "vcpus"): ("4.0000", "19.20"),
        ("shutoff", "2026-03-11", "disk_gb"): ("80.0000", "9.60"),
        ("shutoff", "2026-03-11", "egress_gb"): ("0.0000", "0.00"),
        ("shutoff", "2026-03-11", "ram_gb"): ("8.0000", "4.80"),
        ("shutoff", "2026-03-11", "vcpus"): ("4.0000", "9.60"),
        ("active", "2026-03-21", "disk_gb"): ("80.0000", "21.12"),
        ("active", "2026-03-21", "egress_gb"): ("22.5000", "2.03"),
        ("active", "2026-03-21", "ram_gb"): ("8.0000", "10.56"),
        ("active", "2026-03-21", "vcpus"): ("4.0000", "21.12"),
    }
    assert [row["dimension"] for row in table[:4]] == ["disk_gb", "egress_gb", "ram_gb", "vcpus"]
    statement = documents(run.run_id)["statement-os-prod%2Fproj-456.json"]
    assert statement["total"] == Decimal("128.45")
    (item,) = statement["line_items"]
    assert item["description"] == "m1.large instance"
    assert item["total"] == Decimal("128.45")
    assert [entry["hours"] for entry in item["periods"]] == [240, 240, 264]
    assert [str(entry["state_modifier"]) for entry in item["periods"]] == [
        "1.0000",
        "0.5000",
        "1.0000",
    ]
    assert list(item["periods"][0]["cost"]) == ["disk_gb", "egress_gb", "ram_gb", "total", "vcpus"]
    assert item["periods"][0]["cost"]["total"] == Decimal("49.62")


def test_a_missed_shutoff_is_corrected(engine, warehouse, rows, documents):
    shut_off_for_ten_days(warehouse, missed=True)
    first = engine.run("2026-03")
    engine.finalize("2026-03", first.run_id)
    shut_off(warehouse)
    assert [late.events for late in engine.detect_late("2026-03").resources] == [2]
    correction = engine.correct("2026-03")
    assert (correction.deltas, correction.statements) == (3, 1)
    assert [
        (row["dimension"], row["old_amount"], row["new_amount"], row["delta"])
        for row in rows(correction.run_id, "deltas.csv")
    ] == [
        ("disk_gb", "59.52", "49.92", "-9.60"),
        ("ram_gb", "29.76", "24.96", "-4.80"),
        ("vcpus", "59.52", "49.92", "-9.60"),
    ]
    note = documents(correction.run_id)["credit-note-os-prod%2Fproj-456.json"]
    assert note["total"] == Decimal("-24.00")
    assert note["corrects_run_id"] == first.run_id
    assert note["line_items"][0]["dimensions"]["ram_gb"] == {
        "old": Decimal("29.76"),
        "new": Decimal("24.96"),
        "delta": Decimal("-4.80"),
    }


def test_resize(engine, warehouse, rows):
    resized = ("instance", "def-456")
    warehouse.tell(
        "compute.instance.create.end", on(1), resource=resized, state="active", size=SMALL
    )
    warehouse.tell(
        "compute.instance.resize.end", on(16), resource=resized, state="active", size=LARGE
    )
    steps = [("def-456", on(2), 123 * GIB // 10), ("def-456", on(20), 247 * GIB // 10)]
    with with_egress(engine, steps) as metered:
        table = rows(metered.run("2026-03").run_id)
    by_start = cells(table)
    assert [
        by_start["active", "2026-03-01", name][1]
        for name in ("vcpus", "ram_gb", "disk_gb", "egress_gb")
    ] == [
        "14.40",
        "7.20",
        "14.40",
        "1.11",
    ]
    assert [
        by_start["active", "2026-03-16", name][1]
        for name in ("vcpus", "ram_gb", "disk_gb", "egress_gb")
    ] == [
        "30.72",
        "15.36",
        "30.72",
        "2.22",
    ]
    assert summed(table) == Decimal("116.13")


def test_volume_with_a_resize_and_a_retype(engine, warehouse, rows):
    volume = ("volume", "vol-789")
    for what, day, size_gb, kind in (
        ("volume.create.end", 1, 100, "ssd"),
        ("volume.resize.end", 10, 200, "ssd"),
        ("volume.retype", 20, 200, "hdd"),
    ):
        warehouse.tell(
            what,
            on(day),
            resource=volume,
            state="available",
            size={"size_gb": size_gb, "type": kind},
        )
    assert amounts(rows(engine.run("2026-03").run_id)) == ["2.16", "4.80", "2.88"]


def test_a_volume_of_a_type_without_modifier_counts_one(engine, warehouse, rows):
    warehouse.tell(
        "volume.create.end",
        on(1),
        resource=("volume", "v"),
        state="in-use",
        size={"size_gb": 100, "type": "standard"},
    )
    assert amounts(rows(engine.run("2026-03").run_id)) == ["7.44"]


def test_related_costs(engine, warehouse, documents, rows):
    shoot = {
        "resource": ("shoot", "api"),
        "cloud": "garden",
        "platform": "gardener",
        "project": "alpha",
    }
    warehouse.tell("shoot.create", on(1), state="active", size={"worker_count": 3}, **shoot)
    worker = {"vcpus": 8, "ram_gb": 16, "disk_gb": 160, "flavor": "m1.xlarge"}
    warehouse.tell(
        "compute.instance.create.end", on(1), state="active", size=worker, project="infra"
    )
    alpha = warehouse.register("garden", "alpha", "gardener")
    warehouse.relate(alpha, warehouse.register("os-prod", "infra"))
    run = engine.run("2026-03")
    assert run.statements == 1
    statement = documents(run.run_id)["statement-garden%2Falpha.json"]
    assert statement["line_items"][0]["total"] == Decimal("223.20")
    (related,) = statement["related_costs"]
    assert (related["relation_type"], related["project_id"], related["platform"]) == (
        "infrastructure_tenant",
        "infra",
        "openstack",
    )
    cost = related["line_items"][0]["periods"][0]["cost"]
    assert [str(cost[name]) for name in ("vcpus", "ram_gb", "disk_gb", "egress_gb", "total")] == [
        "119.04",
        "59.52",
        "119.04",
        "0.00",
        "297.60",
    ]
    assert (related["total"], statement["total"]) == (Decimal("297.60"), Decimal("520.80"))
    assert {row["project_id"] for row in rows(run.run_id)} == {"alpha", "infra"}


def test_vertical_slice(engine, warehouse, documents):
    shut_off_for_ten_days(warehouse)
    resized = ("instance", "def-456")
    warehouse.tell(
        "compute.instance.create.end", on(1), resource=resized, state="active", size=SMALL
    )
    warehouse.tell(
        "compute.instance.resize.end", on(16), resource=resized, state="active", size=LARGE
    )
    statement = documents(engine.run("2026-03").run_id)["statement-os-prod%2Fproj-456.json"]
    assert [item["total"] for item in statement["line_items"]] == [
        Decimal("124.80"),
        Decimal("112.80"),
    ]
    assert statement["total"] == Decimal("237.60")


@pytest.mark.parametrize(("state", "amount"), [("shelved", "0.00"), ("paused", "14.88")])
def test_states(engine, warehouse, rows, state, amount):
    size = {"vcpus": 1, "ram_gb": 1, "disk_gb": 0, "flavor": "f"}
    warehouse.tell("compute.instance.create.end", on(1), state=state, size=size)
    assert {row["dimension"]: row["amount"] for row in rows(engine.run("2026-03").run_id)}[
        "vcpus"
    ] == amount
