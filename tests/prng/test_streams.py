from __future__ import annotations

import re

import pytest

from harness import prng
from harness.prng import Identifiers, Pcg, fnv1a64

SALTS = {
    "": 0xCBF29CE484222325,
    "a": 0xAF63DC4C8601EC8C,
    "os-sim\x002026-07": 0x31C734DB04A7C3E9,
    "noise\x00os-sim\x002026-07": 0x36DB912CC60367A3,
    "os-sim\x002026-08": 0x31C73DDB04A7D334,
    "noise\x00os-sim\x002026-08": 0x36DB9E2CC6037DBA,
    "os-sim\x002026-02": 0x31C737DB04A7C902,
    "lab\x002026-07": 0x1B6F406E7806CD2C,
    "noise\x00lab\x002026-07": 0xEACCF12015621C5A,
    "fault\x00pre-existing": 0xCC2835061D5B8A30,
    "fault\x00missing-create": 0xE2A940FBB8B482B2,
    "fault\x00duplicates": 0xC038BF51B8C402E7,
    "fault\x00reordering": 0x69EA4131AA359058,
    "fault\x00refused-shapes": 0x4929A70B6A890F04,
    "fault\x00held-back": 0xC25C2E21CE5592BE,
    "metrics\x00traffic": 0xA0099337022B1FCF,
}

FAULT_WORDS = {
    "pre-existing": [2302342495384955311, 9584682604966091913],
    "duplicates": [654883329029374891, 15886667533767463429],
    "reordering": [14050108392637431113, 9101228597360368544],
    "refused-shapes": [6546170837403673859, 16014709504711270716],
    "held-back": [15077649325205428449, 10444614499873437152],
}


@pytest.mark.parametrize(("text", "salt"), SALTS.items())
def test_salts(text: str, salt: int) -> None:
    assert fnv1a64(text.encode()) == salt


@pytest.mark.parametrize(("switch", "expected"), FAULT_WORDS.items())
def test_fault_streams(switch: str, expected: list[int]) -> None:
    stream = prng.fault(1, switch)
    assert [stream.word() for _ in expected] == expected


def test_traffic_stream() -> None:
    stream = prng.traffic(1)
    assert [stream.word(), stream.word()] == [16206285040775272592, 6772519075759078213]
    stream = prng.traffic(1)
    assert [stream.below(101) for _ in range(8)] == [88, 37, 26, 24, 28, 3, 61, 6]


def test_shape_stream() -> None:
    stream, plain = prng.shape(7), Pcg(7, 1)
    assert [stream.word() for _ in range(4)] == [plain.word() for _ in range(4)]


def test_identifier_stream() -> None:
    ids = prng.identifiers(1, "os-sim", "2026-07")
    assert ids.uuid() == "c9cc4b03-6d82-4fda-af20-c7b002633196"
    assert ids.permutation(254)[:8] == [89, 209, 144, 118, 206, 114, 27, 22]
    assert ids.hex() == "34e991db9fc6466f8ca69b43f70fce65"


def test_noise_identifier_stream() -> None:
    ids = prng.noise_identifiers(1, "os-sim", "2026-07")
    assert ids.uuid() == "339a6049-8b79-4188-b859-d268dd76c339"
    assert ids.uuid() == "dddd9707-d869-47d5-b18e-614869fa01b8"


def test_an_id_is_two_words_least_significant_byte_first() -> None:
    pcg, ids = Pcg(1, 1), Identifiers(Pcg(1, 1))
    raw = b"".join(pcg.word().to_bytes(8, "little") for _ in range(2))
    assert ids.hex() == raw.hex()


def test_uuids_are_of_version_4_and_the_rfc_variant() -> None:
    ids = Identifiers(Pcg(9, 9))
    form = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    drawn = [ids.uuid() for _ in range(500)]
    assert all(form.fullmatch(text) for text in drawn)
    assert len(set(drawn)) == 500


def test_a_uuid_differs_from_the_hex_id_in_version_and_variant_only() -> None:
    hex_id, uuid = Identifiers(Pcg(3, 4)).hex(), Identifiers(Pcg(3, 4)).uuid().replace("-", "")
    differing = [place for place in range(32) if hex_id[place] != uuid[place]]
    assert set(differing) <= {12, 16}
