"""Moving an oracle into another month, together with the recording it belongs to."""

from __future__ import annotations

from dataclasses import replace

from harness.calendar import Period
from harness.errors import HarnessError
from harness.oracle import Oracle
from harness.oracle.traffic import METRICS_INTERVAL, place


class ShiftError(HarnessError):
    """An oracle that cannot be moved."""


def shift_oracle(oracle: Oracle, target: Period, step: int = METRICS_INTERVAL) -> Oracle:
    """Return the oracle of the same month lived in `target`.

    Traffic follows the working week, which falls otherwise in another month, so it is laid anew.

    Args:
        oracle: of a whole month.
        target: a month of as many days.
        step: grid of the traffic, seconds.

    Raises:
        ShiftError: the months differ in length: what is open at a month's end ends with it, so
            neither cutting nor padding would be what was lived.
    """
    if target.end - target.start != oracle.end - oracle.start:
        raise ShiftError(
            f"an oracle of {_days(oracle.end - oracle.start)} days cannot be moved to {target}, "
            f"which has {_days(target.end - target.start)}; name a month as long"
        )
    distance = target.start - oracle.start
    resources = tuple(
        replace(
            resource,
            intervals=tuple(
                replace(interval, start=interval.start + distance, end=interval.end + distance)
                for interval in resource.intervals
            ),
        )
        for resource in oracle.resources
    )
    return replace(
        oracle,
        start=target.start,
        end=target.end,
        resources=resources,
        traffic=place(resources, oracle.seed, target.start, target.end, step),
    )


def _days(seconds: int) -> int:
    return seconds // 86400
