"""Whole months, byte for byte, as sha256 of their stream files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from harness.calendar import Period
from harness.month import Month, Transition, generate
from harness.month.render import line

PLAIN = "06026f36fb269bf1661a1dc275ff8fe32e2c89646a01ec285e78c0863bab1cab"


def digest(transitions: Iterable[Transition]) -> str:
    sha256 = hashlib.sha256()
    for transition in transitions:
        sha256.update(line(transition))
    return sha256.hexdigest()


def month(seed: int, period: str, cloud: str, *faults: str) -> Month:
    return generate(seed, Period.parse(period), cloud, faults)


def test_seed_1() -> None:
    assert digest(month(1, "2026-07", "os-sim").stream) == PLAIN
