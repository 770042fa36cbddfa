"""The inputs of a month: what they may be."""

from __future__ import annotations

import json

from harness.errors import UsageError

MOST_SEED = (1 << 64) - 1
#: Platforms the billing system keeps for itself; no cloud can be called like one.
_VIRTUAL = ("meta", "partner")


def check_seed(seed: int) -> int:
    """Return a seed from 0 to 2**64 - 1.

    Raises:
        UsageError: it is another number; the text has no option in front.
    """
    if not 0 <= seed <= MOST_SEED:
        raise UsageError(f"{seed} must be a whole number from 0 to {MOST_SEED}")
    return seed


def check_cloud(cloud: str) -> str:
    """Return the name of a cloud.

    Raises:
        UsageError: the name is empty, a virtual platform's, or no Unicode text, or holds NUL; the
            text has no option in front.
    """
    if not cloud:
        raise UsageError("must be set: name the cloud to simulate, for example os-sim")
    quoted = json.dumps(cloud)
    if "\0" in cloud:
        raise UsageError(f"{quoted} must not hold a NUL character")
    if cloud in _VIRTUAL:
        raise UsageError(f"{quoted} is a virtual platform; name a cloud, for example os-sim")
    try:
        cloud.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{quoted} must be valid UTF-8 text") from error
    return cloud
