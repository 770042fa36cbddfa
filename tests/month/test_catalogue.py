"""What a month carries: its event types and how often each comes."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.calendar import Period
from harness.month import Kind, Month, generate
from harness.oslo import EXCHANGES

# What the collector bills nothing for, in seed 1 of July 2026.
SKIPPED = {
    "compute.instance.update": 2672,
    "compute.instance.exists": 1753,
    "port.create.start": 676,
    "port.create.end": 676,
    "compute.instance.create.start": 671,
    "scheduler.select_destinations.start": 671,
    "scheduler.select_destinations.end": 671,
    "port.update.start": 671,
    "port.update.end": 671,
    "port.delete.start": 660,
    "port.delete.end": 660,
    "compute.instance.delete.start": 659,
    "compute.instance.shutdown.start": 659,
    "compute.instance.shutdown.end": 659,
    "volume.attach.start": 203,
    "volume.attach.end": 203,
    "volume.detach.start": 186,
    "volume.detach.end": 186,
    "volume.create.start": 169,
    "identity.authenticate": 158,
    "volume.delete.start": 146,
    "compute.instance.power_off.start": 29,
    "compute.instance.power_on.start": 29,
    "volume.resize.start": 18,
    "compute.instance.shelve_offload.start": 10,
    "compute.instance.unshelve.start": 10,
    "image.create": 9,
    "image.prepare": 9,
    "image.activate": 9,
    "audit.http.request": 8,
    "audit.http.response": 8,
    "compute.instance.resize.start": 7,
    "compute.instance.finish_resize.start": 7,
    "compute.instance.resize.end": 7,
    "compute.instance.resize.confirm.start": 6,
    "dns.recordset.create": 6,
    "security_group_rule.create.start": 6,
    "security_group_rule.create.end": 6,
    "network.create.start": 4,
    "network.create.end": 4,
    "subnet.create.start": 4,
    "subnet.create.end": 4,
    "router.create.start": 4,
    "router.create.end": 4,
    "router.interface.create": 4,
    "identity.project.created": 3,
    "identity.user.created": 3,
    "keypair.import.start": 3,
    "keypair.import.end": 3,
    "security_group.create.start": 3,
    "security_group.create.end": 3,
    "volume.transfer.accept.start": 3,
    "dns.zone.create": 2,
    "dns.recordset.delete": 2,
    "compute.instance.resize.revert.start": 1,
    "keypair.delete.start": 1,
    "keypair.delete.end": 1,
    "security_group.delete.start": 1,
    "security_group.delete.end": 1,
    "router.interface.delete": 1,
    "router.delete.start": 1,
    "router.delete.end": 1,
    "subnet.delete.start": 1,
    "subnet.delete.end": 1,
    "network.delete.start": 1,
    "network.delete.end": 1,
}

BILLABLE = {
    "compute.instance.create.end",
    "compute.instance.delete.end",
    "compute.instance.finish_resize.end",
    "compute.instance.resize.confirm.end",
    "compute.instance.resize.revert.end",
    "compute.instance.power_off.end",
    "compute.instance.power_on.end",
    "compute.instance.shelve_offload.end",
    "compute.instance.unshelve.end",
    "volume.create.end",
    "volume.delete.end",
    "volume.resize.end",
    "volume.retype",
    "volume.transfer.accept.end",
    "floatingip.create.end",
    "floatingip.delete.end",
    "image.upload",
    "image.delete",
    "octavia.loadbalancer.create.end",
    "octavia.loadbalancer.update.end",
    "octavia.loadbalancer.delete.end",
}


def test_what_is_skipped(plain: Month) -> None:
    found = Counter(one.event_type for one in plain.stream if one.kind is not Kind.BOOKED)
    assert found == SKIPPED
    assert found.total() == 13929
    assert len(found) == 66


def test_every_seed_carries_the_whole_catalogue(plain: Month) -> None:
    for month in (plain, generate(4, Period.parse("2026-07"), "os-sim")):
        assert {one.event_type for one in month.stream} == SKIPPED.keys() | BILLABLE


def test_audits_and_the_reports_before_a_deletion(plain: Month) -> None:
    reports = [one for one in plain.stream if one.event_type == "compute.instance.exists"]
    daily = [
        one for one in reports if one.payload["audit_period_ending"].endswith("00:00:00.000000")
    ]
    assert (len(reports), len(daily)) == (1753, 1094)


months = st.builds(Period, st.integers(1, 9998), st.integers(1, 12))
clouds = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1)


@settings(max_examples=3, deadline=None)
@given(
    st.integers(0, 2**64 - 1),
    months,
    clouds.filter(lambda cloud: cloud not in {"meta", "partner"}),
)
def test_any_month(seed: int, period: Period, cloud: str) -> None:
    month = generate(seed, period, cloud)
    assert [one.instant for one in month.schedule] == sorted(one.instant for one in month.schedule)
    assert all(period.start <= one.instant < period.end for one in month.schedule)
    ids = [one.message_id for one in month.schedule]
    assert len(set(ids)) == len(ids)
    assert {one.exchange for one in month.schedule} == set(EXCHANGES)
    booked = [one for one in month.schedule if one.kind is Kind.BOOKED]
    assert {one.event_type for one in booked} == BILLABLE
    assert len({(one.resource_id, one.instant) for one in booked}) == len(booked)
    assert Counter((one.instant, one.event_type, one.resource_id) for one in booked) == Counter(
        (fact.instant, fact.event_type, fact.resource_id) for fact in month.facts
    )


def test_equal_arguments_give_equal_months(plain: Month) -> None:
    again = generate(1, Period.parse("2026-07"), "os-sim")
    assert again.schedule == plain.schedule
    assert again.facts == plain.facts


def test_the_shape_of_a_month_does_not_depend_on_the_cloud(plain: Month) -> None:
    other = generate(1, Period.parse("2026-07"), "elsewhere")
    assert [(one.instant, one.event_type) for one in other.schedule] == [
        (one.instant, one.event_type) for one in plain.schedule
    ]
    assert not {one.message_id for one in other.schedule} & {
        one.message_id for one in plain.schedule
    }


def test_classic_tenants_keep_their_offsets_between_months_of_one_length(plain: Month) -> None:
    other = generate(1, Period.parse("2026-08"), "os-sim")

    def offsets(month: Month) -> list[tuple[int, str]]:
        return [
            (one.instant - month.period.start, one.event_type)
            for one in month.schedule
            if one.workload == "classic"
        ]

    assert offsets(other) == offsets(plain)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_refuses_a_seed_out_of_range(seed: int) -> None:
    with pytest.raises(Exception, match="must be a whole number from 0 to 18446744073709551615"):
        generate(seed, Period.parse("2026-07"), "os-sim")
