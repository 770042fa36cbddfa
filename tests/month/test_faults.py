"""The fault switches: refusals, draws, and what each does to a stream."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import prng
from harness.calendar import Period, rfc3339
from harness.errors import UsageError
from harness.month import FAULTS, Kind, Month, Transition, check_faults, generate
from harness.month.faults import Bus, apply
from harness.month.leads import Leads

P, M, D, R, S, H = FAULTS

FIRST_DRAWS = {
    (P, 3): [0, 1, 0, 2, 2, 0, 2, 0, 1, 1],
    (D, 20): [0, 17, 7, 13, 1, 18, 14, 14, 13, 4, 18, 1, 2, 0, 11, 12, 11, 11, 4, 11],
    (R, 10): [7, 4, 9, 5, 6, 9, 7, 4, 0, 4, 7, 9, 7, 4, 3, 5, 4, 5, 9, 7],
    (S, 400): [141, 347, 182, 143, 382, 315, 87, 71, 248, 286, 117, 144, 160, 238, 325, 94, 291, 174, 35, 361],
    (H, 20): [16, 11, 18, 8, 15, 4, 18, 9, 4, 16, 16, 4, 3, 12, 11, 10, 10, 18, 8, 0],
}  # fmt: skip


def bus_of(month: Month) -> tuple[Bus, Counter[str]]:
    """Return an untouched bus of a month, and how often each switch touched something."""
    touches: Counter[str] = Counter()

    def touch(_transition: Transition, switch: str) -> None:
        touches[switch] += 1

    billable = [one for one in month.schedule if one.kind is Kind.BOOKED]
    return Bus(month.seed, billable, list(month.schedule), touch), touches


@pytest.mark.parametrize(("stream", "expected"), FIRST_DRAWS.items())
def test_first_draws_of_seed_1(stream: tuple[str, int], expected: list[int]) -> None:
    switch, bound = stream
    pcg = prng.fault(1, switch)
    assert [pcg.below(bound) for _ in expected] == expected


def test_switches_are_listed_in_canonical_order_and_once() -> None:
    assert check_faults(()) == ()
    assert check_faults([H, D, P, D]) == (P, D, H)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["bogus"], 'unknown fault switch "bogus"; the switches are ' + ", ".join(FAULTS)),
        ([D, ""], 'unknown fault switch ""'),
        ([" duplicates"], 'unknown fault switch " duplicates"'),
        (["Duplicates"], 'unknown fault switch "Duplicates"'),
        (['a"b\\'], r'unknown fault switch "a\"b\\"'),
        ([P, M], "pre-existing and missing-create exclude each other"),
        ([M, D, P], "pre-existing and missing-create exclude each other"),
        ([P, M, "first", "second"], 'unknown fault switch "first"'),
    ],
)
def test_refusals(names: list[str], text: str) -> None:
    with pytest.raises(UsageError) as refusal:
        check_faults(names)
    assert str(refusal.value).startswith(text)


@pytest.mark.parametrize("switch", [P, M])
def test_leads_are_the_same_for_both_switches(switch: str) -> None:
    leads = Leads(switch, 1, 0)
    drawn = [leads.draw() for _ in range(12)]
    assert {place: -lead for place, lead in enumerate(drawn) if lead is not None} == {
        0: 1388276,
        1: 1773640,
        3: 2114125,
        4: 1754525,
        8: 2037783,
    }


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**64 - 1))
def test_leads_are_at_least_a_day_and_less_than_thirty(seed: int) -> None:
    leads = Leads(P, seed, 0)
    drawn = [lead for lead in (leads.draw() for _ in range(30)) if lead is not None]
    assert all(-30 * 86400 < lead <= -86400 for lead in drawn)


def test_pre_existing_starts_before_the_month() -> None:
    period = Period.parse("2026-07")
    month = generate(1, period, "os-sim", [P])
    early = [one for one in month.stream if one.instant < period.start]
    assert rfc3339(month.stream[0].instant) == "2026-06-06T12:44:10Z"
    assert len(early) == 184
    assert sum(one.kind is Kind.BOOKED for one in early) == 60
    missing = generate(1, period, "os-sim", [M])
    assert missing.touched.keys() == month.touched.keys()
    assert sum(fact.dropped for fact in missing.facts) == 60
    assert len(missing.stream) == len(month.stream) - 184
    assert all(one.instant >= period.start for one in missing.schedule)


def test_held_back(plain: Month) -> None:
    bus, touches = bus_of(plain)
    apply(bus, [H])
    places = {one.message_id: place for place, one in enumerate(bus.billable)}
    assert [places[one.message_id] for one in bus.held][:6] == [19, 64, 96, 127, 143, 148]
    assert [one.message_id for one in bus.held][:3] == [
        "cadf5101-1443-4c4e-8290-9fdb568bda2f",
        "8f3b879c-7f23-4c32-8e20-8961e1efe0b9",
        "504ed351-db95-4771-8e0c-866c1258a951",
    ]
    assert touches == {H: 84}
    held = {one.message_id for one in bus.held}
    assert bus.stream == [one for one in plain.schedule if one.message_id not in held]


def test_reordering(plain: Month) -> None:
    bus, _ = bus_of(plain)
    apply(bus, [R])
    order = [one.message_id for one in plain.schedule]
    now = [one.message_id for one in bus.stream]
    for first, first_line, second, second_line in (
        ("023c6af0-4190-4f38-96b6-1558bb5f4ba6", 625, "7e17a2c3-1cf7-4a39-9b75-86ddfa7dc94d", 640),
        ("3aae11cc-46b8-47b7-b778-7c71bc42fa73", 379, "bfa3987e-b902-4620-b7d1-714e0066e471", 1182),
        (
            "38c20375-fbc8-4290-90db-a1f491c9759f",
            1117,
            "31bf17fd-5625-47b2-b691-ff419a1cc5d8",
            1231,
        ),
    ):
        assert order.index(first) + 1 == first_line
        assert order.index(second) + 1 == second_line
        assert now.index(first) == now.index(second) + 1
    assert sorted(now) == sorted(order)


def test_duplicates(plain: Month) -> None:
    bus, _ = bus_of(plain)
    apply(bus, [D])
    first = "7d16f9f3-740a-4670-9898-bc32b30fd3f9"
    lines = [number for number, one in enumerate(bus.stream, 1) if one.message_id == first]
    assert lines == [19, 30]
    counts = Counter(one.message_id for one in bus.stream)
    places = [place for place, one in enumerate(bus.billable) if counts[one.message_id] == 2]
    assert places[:6] == [0, 13, 25, 62, 64, 71]
    assert Counter(counts.values()) == {1: 15655, 2: 86}


def test_refused_shapes(plain: Month) -> None:
    bus, _ = bus_of(plain)
    apply(bus, [S])
    twins = [
        (one, bus.stream[place - 1])
        for place, one in enumerate(bus.stream)
        if one.kind is Kind.TWIN
    ]
    seen = [
        (
            "truncated"
            if twin.truncated
            else "oversized"
            if "fault_padding" in twin.payload
            else "versioned",
            original.event_type.removeprefix("compute.instance."),
            original.message_id,
            twin.message_id,
        )
        for twin, original in twins
    ]
    assert [seen[number] for number in (0, 1, 2, 3, 4, 5, 86)] == [
        ("truncated", "volume.create.end", "18cbd474-187d-4e7e-a9e0-6450ff9c55b4", "362a1af5-0d3b-45e1-9b35-a22a3f7723f0"),
        ("oversized", "floatingip.create.end", "8ff893f3-c732-4487-b293-e5ceb709817c", "697142d1-1902-4617-bc73-a29ea8296fda"),
        ("versioned", "create.end", "b51aef84-71e4-44f2-8256-b1d8563975e9", "00adab3f-3415-438c-89f7-0d7bc7ddc551"),
        ("versioned", "create.end", "3928f20a-6ddb-4b40-9da8-adb70f32cb22", "c977c2dd-a20f-416b-81c8-c6bb0f578e14"),
        ("oversized", "delete.end", "121d14f6-a598-4e8f-9d94-c2485b1eeb6e", "e26fa3bb-65d9-4c23-af8d-e7dc80f9bc3b"),
        ("versioned", "delete.end", "a0dbcd20-0784-4115-8575-b38cf49da656", "000bdbab-f3d0-4842-9bd6-173c1352e075"),
        ("versioned", "delete.end", "32ff9926-4269-4549-9c18-91d3fbbc7aca", "aefe6574-c1aa-46d5-9d32-710f22c078d7"),
    ]  # fmt: skip
    assert Counter((kind, event_type) for kind, event_type, _, _ in seen) == {
        ("versioned", "create.end"): 35,
        ("versioned", "delete.end"): 29,
        ("versioned", "power_on.end"): 3,
        ("truncated", "delete.end"): 8,
        ("truncated", "create.end"): 5,
        ("truncated", "volume.create.end"): 2,
        ("oversized", "floatingip.create.end"): 1,
        ("oversized", "delete.end"): 1,
        ("oversized", "create.end"): 3,
    }


def touched_by(month: Month, switches: tuple[str, ...]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {switch: set() for switch in switches}
    bus, _ = bus_of(month)
    bus.touch = lambda transition, switch: found[switch].add(transition.message_id)
    apply(bus, switches)
    return found


def test_no_switch_moves_what_another_one_picks(plain: Month) -> None:
    alone = {switch: touched_by(plain, (switch,))[switch] for switch in (D, R, S)}
    together = touched_by(plain, (D, R, S))
    assert together == alone


def test_a_held_transition_is_out_of_every_other_switch(plain: Month) -> None:
    found = touched_by(plain, (D, R, S, H))
    assert not found[H] & (found[D] | found[R] | found[S])
    bus, _ = bus_of(plain)
    apply(bus, (D, R, S, H))
    held = {one.message_id for one in bus.held}
    assert not held & {one.message_id for one in bus.stream}


small = st.lists(st.integers(0, 5), max_size=40)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**64 - 1), small, st.sets(st.sampled_from([D, R, S, H])))
def test_passes_lose_and_invent_nothing(seed: int, resources: list[int], on: set[str]) -> None:
    schedule = [
        Transition(
            instant,
            "compute.instance.create.end",
            "nova",
            "compute.compute-01",
            "p",
            "u",
            f"resource-{resource}",
            "classic",
            Kind.BOOKED,
            {"instance_id": "i"},
            message_id=f"id-{instant}",
        )
        for instant, resource in enumerate(resources)
    ]
    bus = Bus(seed, list(schedule), list(schedule), lambda _transition, _switch: None)
    apply(bus, tuple(on))
    carried = [one for one in bus.stream if one.kind is not Kind.TWIN]
    counts = Counter(one.message_id for one in carried)
    assert set(counts.values()) <= ({1, 2} if D in on else {1})
    assert counts.keys() | {one.message_id for one in bus.held} == {
        one.message_id for one in schedule
    }
    assert not counts.keys() & {one.message_id for one in bus.held}
    if R not in on and D not in on:
        assert [one.instant for one in carried] == sorted(one.instant for one in carried)
    if S not in on:
        assert len(carried) == len(bus.stream)
