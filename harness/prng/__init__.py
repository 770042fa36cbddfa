"""Random words, the ids made of them, and a month's named streams."""

from harness.prng.identifiers import Identifiers
from harness.prng.pcg import Pcg
from harness.prng.salt import fnv1a64
from harness.prng.streams import fault, identifiers, noise_identifiers, shape, traffic

__all__ = [
    "Identifiers",
    "Pcg",
    "fault",
    "fnv1a64",
    "identifiers",
    "noise_identifiers",
    "shape",
    "traffic",
]
