"""Words for how two tables differ; deepdiff is asked only once they do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Most differences of one table that are written out.
LIMIT = 10


def differences(what: str, expected: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Say how `found` differs from `expected`, one line a member, none when they are equal.

    Args:
        what: what a member counts, put in front of each line.
        expected: member to value.
        found: member to value.
    """
    if expected == found:
        return []
    from deepdiff import DeepDiff  # noqa: PLC0415 - a tenth of a second, and only when it is needed

    found_out = DeepDiff(
        dict(expected),
        dict(found),
        verbose_level=2,
        view="tree",
        threshold_to_diff_deeper=0,  # member by member, however different the tables are
    )
    lines = sorted(
        f"{what} {level.path(output_format='list')[-1]}: "
        f"expected {_side(level.t1)}, found {_side(level.t2)}"
        for group in found_out.values()
        for level in group
    )
    if len(lines) > LIMIT:
        lines[LIMIT:] = [f"{what}: {len(lines) - LIMIT} further differences"]
    return lines


def _side(value: Any) -> str:
    return "none" if str(value) == "not present" else str(value)
