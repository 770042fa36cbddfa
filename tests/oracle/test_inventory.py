"""The inventory of seed 1 at the instants whose figures are known."""

from collections import Counter
from hashlib import sha256

import pytest

from harness.calendar import Period
from harness.calendar.instant import DAY, HOUR
from harness.month import generate
from harness.oracle import Interval, Oracle, Resource
from harness.oracle.fold import fold
from harness.oracle.inventory import Inventory
from harness.oracle.live import deleted, interval_at, live

JULY = Period(2026, 7)
M0 = JULY.start


@pytest.fixture(scope="module")
def month():
    return generate(1, JULY, "os-sim")


@pytest.fixture(scope="module")
def inventory(month):
    return Inventory(month, fold(month))


def day(number, hour=0):
    return M0 + (number - 1) * DAY + hour * HOUR


def lines(samples):
    for sample in samples:
        labels = ",".join(f'{name}="{value}"' for name, value in sorted(sample.labels.items()))
        yield f"{sample.name}{{{labels}}} {sample.value}\n"


TABLE = [
    (day(1), 48, (0, 0, 0), (0, 0, 0, 0), 0, "0d93896a359c950db1379a839ee8b857283eb24fd9947de2c8c775dc3fe041aa"),
    (day(1, 6), 151, (19, 0, 0), (28, 14, 9, 2), 3, "6c926788d1be0c84e4c32725f43d0a39cf9678854acc6476bf79956d4da25c64"),
    (day(5, 10), 137, (9, 4, 2), (23, 14, 9, 2), 3, "ea17fc89ccca55b699545ef562c44ff3183f7cf4499e1a20b650f5cdf5dd238a"),
    (day(10, 12), 171, (22, 0, 5), (32, 15, 9, 4), 4, "d95e7da8d2693a358a5eaac99e5a9ef1c1bac3fab8cec203914685d7fcc5e611"),
    (day(15, 12), 169, (26, 0, 0), (31, 15, 9, 5), 4, "da075dedee7179101212ab5ba3e4c1846ee308daa9dd79d62eca95185d61f32e"),
    (JULY.end - 300, 129, (12, 0, 0), (23, 10, 6, 4), 3, "2e7646e2a649b8c3e9b538cd379ce60f13f67bbf95a6977858a730536b176996"),
    (JULY.end, 129, (12, 0, 0), (23, 10, 6, 4), 3, "2e7646e2a649b8c3e9b538cd379ce60f13f67bbf95a6977858a730536b176996"),
    (JULY.end + 9 * DAY, 129, (12, 0, 0), (23, 10, 6, 4), 3, "2e7646e2a649b8c3e9b538cd379ce60f13f67bbf95a6977858a730536b176996"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("instant", "count", "servers", "others", "routers", "expected"),
    TABLE,
    ids=[str(row[0] - M0) for row in TABLE],
)
def test_the_cloud_of_seed_1(inventory, instant, count, servers, others, routers, expected):
    samples = inventory.at(instant)
    assert len(samples) == count
    states = Counter(
        sample.labels["status"]
        for sample in samples
        if sample.name == "openstack_nova_server_status"
    )
    assert tuple(states[word] for word in ("active", "stopped", "shelved_offloaded")) == servers
    names = Counter(sample.name for sample in samples)
    assert names["openstack_neutron_router"] == routers
    totals = [sample.value for sample in samples[-6:]]
    assert totals == [6, sum(servers), *others]
    assert sha256("".join(lines(samples)).encode()).hexdigest() == expected
    assert {sample.instant for sample in samples} == {min(instant, JULY.end)}


def test_an_earlier_instant_after_a_later_one(inventory):
    before = inventory.at(day(5))
    inventory.at(day(25))
    assert inventory.at(day(5)) == before


def test_limits_of_the_middle_of_the_month(month, inventory):
    samples = inventory.at(day(15, 12))
    used = {
        (
            sample.labels["tenant_id"],
            sample.name.removeprefix("openstack_nova_limits_"),
        ): sample.value
        for sample in samples
        if sample.name.startswith("openstack_nova_limits_")
    }
    assert [
        tuple(used[tenant.project_id, f"{what}_used"] for what in ("instances", "vcpus", "memory"))
        for tenant in month.tenants
    ] == [
        (4, 11, 22528),
        (4, 18, 36864),
        (4, 32, 65536),
        (0, 0, 0),
        (10, 56, 114688),
        (4, 16, 32768),
    ]
    assert {value for (_, name), value in used.items() if name == "memory_max"} == {819200}
    routers = [s.labels["id"][:8] for s in samples if s.name == "openstack_neutron_router"]
    assert routers == ["5a541308", "482fc196", "37a27f10", "985dde5e"]


def test_a_size_without_its_members_costs_a_value_and_no_scrape():
    intervals = (Interval(M0, JULY.end, "paused", "p", {"flavor": "unknown"}),)
    oracle = Oracle(
        "c", 1, M0, JULY.end, (Resource("instance", "i", "ci", intervals, ()),), (), (), ()
    )
    bare = generate(1, JULY, "os-sim")
    server, *_ = Inventory(bare, oracle).at(M0)
    assert (server.labels["status"], server.labels["flavor_id"]) == ("", "")


SPANS = Resource(
    "instance",
    "i",
    "ci",
    (Interval(M0 + 10, M0 + 20, "active", "p", {}), Interval(M0 + 30, M0 + 40, "shutoff", "p", {})),
    (),
)
LASTING = Resource("instance", "j", "ci", (Interval(M0, JULY.end, "active", "p", {}),), ())
SUBJECT = Oracle("c", 1, M0, JULY.end, (SPANS, LASTING), (), (), ())


@pytest.mark.parametrize(
    ("at", "state"),
    [
        (9, None),
        (9.9, None),
        (10, "active"),
        (19.9, "active"),
        (20, None),
        (30, "shutoff"),
        (40, None),
    ],
)
def test_intervals_are_half_open(at, state):
    found = interval_at(SPANS, M0 + at, JULY.end)
    assert (found.state if found else None) == state


def test_what_outlives_the_month_is_live_at_its_end_and_behind_it():
    for at in (JULY.end, JULY.end + 1e6):
        assert [resource.resource_id for resource, _ in live(SUBJECT, at)] == ["j"]


@pytest.mark.parametrize(
    ("since", "at", "found"),
    [(0, 39.9, []), (0, 40, ["i"]), (39, 40, ["i"]), (40, 41, []), (39.5, 1e9, ["i"])],
)
def test_what_was_deleted_within_a_window_open_at_its_start(since, at, found):
    names = [r.resource_id for r, _ in deleted(SUBJECT, M0 + since, M0 + at, "instance")]
    assert names == found
