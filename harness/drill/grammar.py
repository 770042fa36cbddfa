"""How seeds, periods, clouds and switches are written in options; light enough for any start-up."""

from __future__ import annotations

import re

from harness.calendar import Period, PeriodError
from harness.errors import UsageError

CLOUD = "os-sim"
SEEDS_FORM = "a number, a range 1..5 or a list 1,3,7, each from 0 to 18446744073709551615"
LARGEST_SEED = 2**64 - 1
#: Most months one call takes; a mistyped range should not start a million of them.
MOST_SEEDS = 10_000
_MEMBER = re.compile(r"(\d{1,20})(?:\.\.(\d{1,20}))?", re.ASCII)


def seeds(text: str) -> tuple[int, ...]:
    """Read ``1``, ``1..5`` or ``1,3,7`` (members may be ranges), each seed once, in order.

    Raises:
        UsageError: another form, a range that runs backwards, or a seed out of bounds.
    """
    found: dict[int, None] = {}
    for member in text.split(","):
        match = _MEMBER.fullmatch(member.strip())
        if match is None:
            raise UsageError(f'"{text}" names no seeds; write {SEEDS_FORM}')
        first = int(match[1])
        last = first if match[2] is None else int(match[2])
        if last < first:
            raise UsageError(
                f'"{member.strip()}" in "{text}" runs backwards and names no seeds; '
                f"write {SEEDS_FORM}"
            )
        if last > LARGEST_SEED:
            raise UsageError(f'"{member.strip()}" in "{text}" names no seeds; write {SEEDS_FORM}')
        if last - first + len(found) >= MOST_SEEDS:
            raise UsageError(f'"{text}" names more than {MOST_SEEDS} seeds; write a shorter range')
        found.update(dict.fromkeys(range(first, last + 1)))
    return tuple(found)


def period(text: str) -> Period:
    """Read ``YYYY-MM``.

    Raises:
        UsageError: the text has another form, or the month has not ended yet.
    """
    try:
        read = Period.parse(text)
    except PeriodError as error:
        raise UsageError(f"{error}; write one like 2026-07") from error
    if not read.has_ended():
        raise UsageError(f'"{text}" has not ended yet; name a past month like 2026-07')
    return read


def cloud(text: str) -> str:
    """Accept the name of a cloud.

    Raises:
        UsageError: it is empty, a virtual platform, no Unicode text, or holds NUL.
    """
    from harness.month.inputs import check_cloud  # noqa: PLC0415 - not before a month is asked for

    return check_cloud(text)


def faults(text: str) -> tuple[str, ...]:
    """Read a comma list of fault switches into canonical order; an empty text is none.

    Raises:
        UsageError: an unknown switch, or two that exclude each other.
    """
    return switches(*text.split(",")) if text else ()


def switches(*names: str) -> tuple[str, ...]:
    """Put fault switches into canonical order, each once.

    Raises:
        UsageError: an unknown switch, or two that exclude each other.
    """
    from harness.month.faults import check_faults  # noqa: PLC0415 - as above

    return check_faults(names)


def last_period() -> Period:
    """Return the last month that has ended."""
    return Period.last_ended()
