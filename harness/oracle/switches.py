"""Names of fault switches, as an oracle carries them."""

from __future__ import annotations

from collections.abc import Iterable

from harness.month import FAULTS


def canonical(names: Iterable[str]) -> tuple[str, ...]:
    """Order switch names as every list of them is; unknown ones last, as they came, each once."""
    given = dict.fromkeys(names)
    known = tuple(name for name in FAULTS if name in given)
    return known + tuple(name for name in given if name not in FAULTS)
