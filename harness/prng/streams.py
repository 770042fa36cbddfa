"""The named streams of a month.

The month's seed is one half of every stream's state, a salt the other; a draw from one stream
never moves a draw of another.
"""

from __future__ import annotations

from harness.prng.identifiers import Identifiers
from harness.prng.pcg import Pcg
from harness.prng.salt import fnv1a64


def shape(seed: int) -> Pcg:
    """Return the stream behind every event of a month, its time and its size."""
    return Pcg(seed, 1)


def identifiers(seed: int, cloud: str, month: str) -> Identifiers:
    """Return the ids of everything billable; `month` is ``YYYY-MM``."""
    return Identifiers(_salted(seed, cloud, month))


def noise_identifiers(seed: int, cloud: str, month: str) -> Identifiers:
    """Return the ids of what only noise carries; `month` is ``YYYY-MM``."""
    return Identifiers(_salted(seed, "noise", cloud, month))


def fault(seed: int, switch: str) -> Pcg:
    """Return the stream of a fault switch; neither cloud nor month enters it."""
    return _salted(seed, "fault", switch)


def traffic(seed: int) -> Pcg:
    """Return the stream of the traffic's jitter."""
    return _salted(seed, "metrics", "traffic")


def _salted(seed: int, *words: str) -> Pcg:
    return Pcg(seed, fnv1a64("\0".join(words).encode()))
