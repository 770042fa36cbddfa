"""The daily audits, over small drafts put together by hand."""

from __future__ import annotations

import pytest

from harness import prng
from harness.calendar import Period, stamp
from harness.calendar.instant import DAY, HOUR
from harness.month import audits, catalog, world
from harness.month.draft import Draft
from harness.month.model import Kind, Transition
from harness.month.payloads import nova
from harness.month.resources import Instance
from harness.month.sequences import servers

PERIOD = Period.parse("2026-07")
START = PERIOD.start


@pytest.fixture
def draft() -> Draft:
    shape = prng.shape(1)
    ids = prng.identifiers(1, "os-sim", "2026-07")
    noise_ids = prng.noise_identifiers(1, "os-sim", "2026-07")
    built = world.build("os-sim", shape, ids, noise_ids)
    return Draft(PERIOD, "os-sim", shape, ids, noise_ids, built)


def boot(draft: Draft, name: str, created: int) -> Instance:
    project = draft.world.classics[0]
    instance = Instance(name, name, "compute-01", catalog.SMALL, created, image_id="image")
    servers.boot(draft, project.tenant, instance, project.network)
    return instance


def remove(draft: Draft, instance: Instance, instant: int) -> None:
    servers.remove(draft, draft.world.classics[0].tenant, instance, instant)


def step(draft: Draft, instance: Instance, instant: int, verb: str, state: str) -> None:
    tenant = draft.world.classics[0].tenant
    payload = nova.resized(tenant, instance, state)
    servers.subject(draft, tenant, instance).note(instant, verb, payload)


def audited(draft: Draft) -> list[Transition]:
    """Append the audits and return them."""
    before = len(draft.transitions)
    audits.append(draft)
    added = draft.transitions[before:]
    assert all(one.event_type == "compute.instance.exists" for one in added)
    assert all(one.kind is Kind.NOISE for one in added)
    return added


def test_an_instance_is_reported_at_every_midnight_behind_a_day_it_existed(draft: Draft) -> None:
    boot(draft, "a", START + 2 * DAY + 10 * HOUR)
    found = audited(draft)
    assert [one.instant for one in found] == [START + day * DAY for day in range(3, 31)]
    for one in found:
        assert one.payload["audit_period_beginning"] == stamp(one.instant - DAY)
        assert one.payload["audit_period_ending"] == stamp(one.instant)
        assert one.payload["state"] == "active"
        assert one.payload["bandwidth"] == one.payload["image_meta"] == {}


def test_neither_the_first_instant_nor_the_one_behind_the_last_is_reported(draft: Draft) -> None:
    boot(draft, "a", START - 5 * DAY)
    instants = [one.instant for one in audited(draft)]
    assert instants[0] == START + DAY
    assert instants[-1] == PERIOD.end - DAY


def test_created_on_the_last_day_is_never_reported(draft: Draft) -> None:
    boot(draft, "a", PERIOD.end - HOUR)
    assert audited(draft) == []


def test_created_and_deleted_within_a_day_is_reported_once_as_deleted(draft: Draft) -> None:
    instance = boot(draft, "a", START + 10 * HOUR)
    remove(draft, instance, START + 11 * HOUR)
    (found,) = audited(draft)
    assert found.instant == START + DAY
    assert found.payload["state"] == "deleted"
    assert "deleted_at" not in found.payload


def test_reports_go_midnight_by_midnight_in_the_order_of_creation(draft: Draft) -> None:
    boot(draft, "b", START + HOUR)
    boot(draft, "a", START + 2 * HOUR)
    boot(draft, "c", START + HOUR)
    found = audited(draft)
    assert [one.resource_id for one in found[:6]] == ["b", "c", "a"] * 2


@pytest.mark.parametrize("taken", [1, 2, 3])
def test_a_report_gives_way_to_what_its_instance_says_at_that_second(
    draft: Draft, taken: int
) -> None:
    instance = boot(draft, "a", START + HOUR)
    other = boot(draft, "b", START + HOUR)
    for second in range(taken):
        step(draft, instance, START + DAY + second, "power_off.start", "active")
    step(draft, other, START + DAY + taken, "power_off.start", "active")
    first, second = audited(draft)[:2]
    assert (first.resource_id, first.instant) == ("a", START + DAY + taken)
    assert first.payload["audit_period_ending"] == stamp(START + DAY)
    assert (second.resource_id, second.instant) == ("b", START + DAY)


def test_what_happens_on_a_midnight_is_news_of_the_next_day(draft: Draft) -> None:
    instance = boot(draft, "a", START + HOUR)
    step(draft, instance, START + DAY, "power_off.end", "stopped")
    first, second = audited(draft)[:2]
    assert (first.instant, first.payload["state"]) == (START + DAY + 1, "active")
    assert (second.instant, second.payload["state"]) == (START + 2 * DAY, "stopped")


def test_deleted_on_a_midnight_is_reported_a_last_time_as_it_was(draft: Draft) -> None:
    instance = boot(draft, "a", START + HOUR)
    remove(draft, instance, START + 2 * DAY)
    found = audited(draft)
    assert [(one.instant, one.payload["state"]) for one in found] == [
        (START + DAY, "active"),
        # The second of the deletion is taken, and the port's is no business of the instance.
        (START + 2 * DAY + 1, "active"),
    ]


def test_a_resize_moves_the_flavor_once_it_finished(draft: Draft) -> None:
    instance = boot(draft, "a", START + HOUR)
    instance.flavor = catalog.LARGE
    step(draft, instance, START + DAY + HOUR, "resize.end", "active")
    step(draft, instance, START + 2 * DAY + HOUR, "finish_resize.end", "resized")
    instance.flavor = catalog.SMALL
    step(draft, instance, START + 3 * DAY + HOUR, "resize.revert.end", "active")
    seen = [
        (
            one.payload["state"],
            one.payload["instance_type"],
            one.payload["disk_gb"],
            one.payload["vcpus"],
            one.payload["instance_flavor_id"],
        )
        for one in audited(draft)[:4]
    ]
    small = ("m1.small", 20, 1, catalog.SMALL.flavor_id)
    large = ("m1.large", 80, 4, catalog.LARGE.flavor_id)
    assert seen == [("active", *small)] * 2 + [("resized", *large), ("active", *small)]


def test_starts_and_updates_tell_an_audit_nothing(draft: Draft) -> None:
    instance = boot(draft, "a", START + HOUR)
    step(draft, instance, START + 2 * HOUR, "power_off.start", "stopped")
    step(draft, instance, START + 2 * HOUR, "update", "stopped")
    assert audited(draft)[0].payload["state"] == "active"


def test_earlier_reports_keep_what_they_said(draft: Draft) -> None:
    instance = boot(draft, "a", START + HOUR)
    step(draft, instance, START + DAY + HOUR, "power_off.end", "stopped")
    states = [one.payload["state"] for one in audited(draft)]
    assert states == ["active"] + ["stopped"] * 29
