"""Whole months, byte for byte, as sha256 of their stream files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import pytest

from harness.calendar import Period
from harness.month import FAULTS, Kind, Month, Transition, generate
from harness.month.catalog import resource_type_of
from harness.month.faults import Bus, apply
from harness.month.render import line

P, M, D, R, S, H = FAULTS

PLAIN = "06026f36fb269bf1661a1dc275ff8fe32e2c89646a01ec285e78c0863bab1cab"

# Beyond those that tests/cli takes through a whole run.
MONTHS = [
    # Starts on a Saturday.
    (
        1,
        "2026-08",
        "os-sim",
        15721,
        "0498fb4b7b9dcf3fb63bf8c8c2bb1f7a7546a5da523a7e49da25a17680160905",
    ),
    # 28 and 29 days.
    (
        1,
        "2026-02",
        "os-sim",
        13913,
        "e27c68e1ee87b298c539576036026bf93f2bfb052c603b2817d72838b0c9969f",
    ),
    (
        7,
        "2028-02",
        "lab",
        13943,
        "98f024d785ef40a98ed470cae82905638496377a470dfca7fa95ee17216a447c",
    ),
    (
        42,
        "2026-11",
        "os-sim",
        14312,
        "010ab08fafa57ff4a73b5fea4f918dd555311364a1a7af021ce849e0c4f07239",
    ),
    # The largest seed, over a year's end.
    (
        2**64 - 1,
        "2025-12",
        "c-1",
        16108,
        "37616838ad9f0f4c0403a61cbf9b9aeaef8914ab4a98a52a25611cdba4a29c29",
    ),
    # Audits that have to give way; test_audits looks at them one by one.
    (
        17,
        "2026-07",
        "os-sim",
        17035,
        "647e5f7b2ce97104fd24fba5220d085641c8ba4b55b651e44be5566e5c1b7608",
    ),
    (
        86,
        "2026-07",
        "os-sim",
        16819,
        "f9c5b36690c45c6888152e2ba232185ada79db4c0b973103b80cca40b6108f13",
    ),
    (
        1298,
        "2026-07",
        "os-sim",
        16370,
        "55a2f1c5214790e7a5a0bb146db469bd39c397ab1a55f072ba825354583026ef",
    ),
    (
        7158,
        "2026-07",
        "os-sim",
        16035,
        "29345df2f54e6ea69135b50806621e82904ebf545595ed285e88528763af12c9",
    ),
    # Names that need escapes, and UTF-8.
    (
        3,
        "2026-07",
        "a&b<c>",
        14762,
        "f7d8f3f37de997f46eb237e04ce1eed9073e7745a86610de049f4e412194a0fb",
    ),
    (
        3,
        "2026-07",
        "zürich",
        14762,
        "b00a38d3ac49ca79278cfa747f561bcf679f5324f2c7071df13e3e303906a79d",
    ),
]

HELD = "e0673c1fec12b5dabd5d9add34c4872afe37ca380f8588d6ca35e8d6722d544f"

# Seed 1, 2026-07, os-sim: length of the stream, billable ones in it, what is touched per switch,
# by any, and the digest of the stream where one is known.
SWITCHED = {
    (D,): (15827, 1898, {D: 85}, 85, "e53c649e3fc99439ca31d2890f4db440185ca6a42805744729d9fb5db56b8616"),
    (R,): (15741, 1812, {R: 87}, 87, "380148aa56d2efe8f472a632eb3421d06bb13b7acceeef6a18579374098d94c6"),
    (S,): (15828, 1812, {S: 84}, 84, "4678cb7d7438d3700d85654e30c1c958c9bc5df5f68af3ef04868181522345b9"),
    (H,): (15657, 1728, {H: 81}, 81, "ad206d9b11042e8240df1175596b76ab59efdc9db4d0ca0686f6705dc6ada5ff"),
    (R, H): (15657, 1728, {R: 80, H: 81}, 160, "cda9954da9e6670e590731d26e31920c5315e8cc1a356d7e037f5c6bc612895d"),
    (D, H): (15738, 1809, {D: 80, H: 81}, 154, "240c2fa66c65d1c7a5cb7da9101f217e083058b0f8b6dec0e35c47c5a51745af"),
    (S, H): (15740, 1728, {S: 80, H: 81}, 157, "426e123cc53b573f0cf069eb05d5de3303eaef49efbd73498268c83f0003171b"),
    (D, R): (15827, 1898, {D: 85, R: 87}, 165, "65cb85cb4aae4939dc7892272024ad92a7703b4af6c51bf0894bcd66614efcba"),
    (R, S): (15828, 1812, {R: 87, S: 84}, 163, None),
    (D, S): (15914, 1898, {D: 85, S: 84}, 166, "fd5dea399a4ddd4bf1d20a0ceae961f0898c9eba07064e660e351a6a6f2b26d0"),
    (D, R, S, H): (15821, 1809, {D: 80, R: 80, S: 80, H: 81}, 294, "8e5ccb0199d39f51a862c2418f5a418d7d67a86c2ac15b43142fe183e603dd96"),
}  # fmt: skip

LED = {
    (P, D, R, S, H): (15820, 1809, {P: 18, D: 81, R: 81, S: 80, H: 83}, 308, "9125d9faa86500571a782a5b09d040bc0bec225b6a480c9f6ff0c9fe643187ca"),
    (M, D, R, S, H): (15638, 1745, {M: 18, D: 77, R: 75, S: 83, H: 80}, 293, "8a4f5fd3ddf09b0de163514df10029cd78ea845017e04227c6e3ac28207d29f0"),
}  # fmt: skip

LED_HELD = {
    (P, D, R, S, H): "3bff5a2e42b7b02de1093d815ea0b288a4958351319293d89219846baca2b2b1",
    (M, D, R, S, H): "5fc32e54cfa15b195552b869eabf17d58b181257326d872e83d75181d656a56b",
}


def digest(transitions: Iterable[Transition]) -> str:
    sha256 = hashlib.sha256()
    for transition in transitions:
        sha256.update(line(transition))
    return sha256.hexdigest()


def figures(
    stream: list[Transition], touched: dict[tuple[str, str], set[str]], switches: Iterable[str]
) -> tuple[int, int, dict[str, int], int]:
    billable = sum(transition.kind is Kind.BOOKED for transition in stream)
    per_switch = {switch: sum(switch in names for names in touched.values()) for switch in switches}
    return len(stream), billable, per_switch, len(touched)


def test_the_plain_month(plain: Month) -> None:
    assert digest(plain.stream) == PLAIN
    assert figures(plain.stream, plain.touched, ()) == (15741, 1812, {}, 0)
    assert plain.schedule == plain.stream
    assert not plain.held


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "period", "cloud", "count", "expected"), MONTHS)
def test_other_months(seed: int, period: str, cloud: str, count: int, expected: str) -> None:
    month = generate(seed, Period.parse(period), cloud)
    assert len(month.stream) == count
    assert digest(month.stream) == expected


def switched(
    month: Month, switches: tuple[str, ...]
) -> tuple[Bus, dict[tuple[str, str], set[str]]]:
    """Return what the bus carries of a month under stream switches, and what they touch."""
    touched: dict[tuple[str, str], set[str]] = {}

    def touch(transition: Transition, switch: str) -> None:
        key = resource_type_of(transition.event_type), transition.resource_id
        touched.setdefault(key, set()).add(switch)

    billable = [one for one in month.schedule if one.kind is Kind.BOOKED]
    bus = Bus(month.seed, billable, list(month.schedule), touch)
    apply(bus, switches)
    return bus, touched


@pytest.mark.parametrize("switches", SWITCHED, ids="+".join)
def test_stream_switches(plain: Month, switches: tuple[str, ...]) -> None:
    bus, touched = switched(plain, switches)
    *expected, sha256 = SWITCHED[switches]
    assert figures(bus.stream, touched, switches) == tuple(expected)
    assert digest(bus.held) == (HELD if H in switches else digest(()))
    if sha256:
        assert digest(bus.stream) == sha256


# Length of the stream, held ones, billable ones in the stream, and what is touched by any.
ELSEWHERE = {
    (2, "2026-07"): {
        (D,): (16916, 0, 1986, 111),
        (R,): (16799, 0, 1869, 75),
        (S,): (16897, 0, 1869, 96),
        (H,): (16728, 71, 1798, 68),
        (D, R, S, H): (16935, 71, 1908, 297),
    },
    (3, "2026-07"): {
        (P,): (14762, 0, 1664, 26),
        (M,): (14554, 0, 1602, 26),
        (D,): (14844, 0, 1746, 79),
        (R,): (14762, 0, 1664, 76),
        (S,): (14833, 0, 1664, 68),
        (H,): (14680, 82, 1582, 80),
        (D, R, S, H): (14826, 82, 1658, 256),
    },
    (4, "2026-07"): {
        (D,): (16160, 0, 1900, 85),
        (R,): (16074, 0, 1814, 95),
        (S,): (16160, 0, 1814, 83),
        (H,): (15983, 91, 1723, 90),
        (D, R, S, H): (16150, 91, 1806, 305),
    },
    (5, "2026-07"): {
        (D,): (16293, 0, 1872, 75),
        (R,): (16213, 0, 1792, 95),
        (S,): (16289, 0, 1792, 74),
        (H,): (16122, 91, 1701, 91),
        (D, R, S, H): (16270, 91, 1776, 289),
    },
    (1, "2026-02"): {
        (P,): (13913, 0, 1570, 18),
        (M,): (13729, 0, 1510, 18),
        (D,): (13987, 0, 1644, 72),
        (R,): (13913, 0, 1570, 76),
        (S,): (13991, 0, 1570, 74),
        (H,): (13837, 76, 1494, 75),
        (D, R, S, H): (13981, 76, 1564, 251),
    },
}


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "period"), ELSEWHERE)
def test_switches_in_other_months(seed: int, period: str) -> None:
    clean = generate(seed, Period.parse(period), "os-sim")
    found = {}
    for switches in ELSEWHERE[seed, period]:
        if {P, M} & set(switches):
            month = generate(seed, Period.parse(period), "os-sim", switches)
            stream, held, touched = month.stream, month.held, month.touched
        else:
            bus, touched = switched(clean, switches)
            stream, held = bus.stream, bus.held
        length, billable, _, any_switch = figures(stream, touched, switches)
        found[switches] = (length, len(held), billable, any_switch)
    assert found == ELSEWHERE[seed, period]


@pytest.mark.slow
@pytest.mark.parametrize("switches", LED, ids="+".join)
def test_switches_that_move_creations(switches: tuple[str, ...]) -> None:
    month = generate(1, Period.parse("2026-07"), "os-sim", switches)
    *expected, sha256 = LED[switches]
    assert figures(month.stream, month.touched, switches) == tuple(expected)
    assert digest(month.stream) == sha256
    assert digest(month.held) == LED_HELD.get(switches, digest(()))


def test_generating_with_a_switch_is_generating_and_applying_it() -> None:
    month = generate(1, Period.parse("2026-07"), "os-sim", (H, S, R, D, D))
    assert month.faults == (D, R, S, H)
    assert digest(month.schedule) == PLAIN
    assert digest(month.stream) == SWITCHED[D, R, S, H][-1]
    assert digest(month.held) == HELD
