"""The working week: how likely an instant is, and drawing one by that likelihood.

A working day is a Monday to Friday, UTC. Its office hours, 07:00 to 19:00, weigh 10; the two
hours before and the four after them weigh 3; every other hour, nights and weekends, weighs 1.
Draws come in as a function that returns a number from 0 to its argument - 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from harness.calendar.instant import DAY, HOUR

OFFICE = 10
FRINGE = 3
QUIET = 1

#: A bounded draw.
Below = Callable[[int], int]

_WORKING_DAY = (QUIET,) * 5 + (FRINGE,) * 2 + (OFFICE,) * 12 + (FRINGE,) * 4 + (QUIET,)


def is_working_day(instant: int) -> bool:
    """Tell whether the UTC day of an instant is a Monday to Friday."""
    return (instant // DAY + 3) % 7 < 5  # 1970-01-01 was a Thursday


def weight(instant: int) -> int:
    """Return 10 within office hours, 3 in the hours around them, 1 at any other time."""
    return _WORKING_DAY[instant % DAY // HOUR] if is_working_day(instant) else QUIET


def pieces(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut ``[start, end)`` at every full hour; yield each piece's start and seconds."""
    while start < end:
        seconds = min(end, start - start % HOUR + HOUR) - start
        yield start, seconds
        start += seconds


def weighted_instant(below: Below, start: int, end: int) -> int:
    """Draw an instant of ``[start, end)`` by the weights of its hours.

    One draw chooses the piece, a second one the second in it. An empty window is its start and
    draws nothing.
    """
    shares = [(piece, seconds, weight(piece) * seconds) for piece, seconds in pieces(start, end)]
    total = sum(share for _, _, share in shares)
    if not total:
        return start
    rest = below(total)
    for piece, seconds, share in shares:
        if rest < share:
            return piece + below(seconds)
        rest -= share
    raise AssertionError("the draw lies beyond the shares it is bounded by")


def office_instant(below: Below, start: int, end: int) -> int:
    """Draw an instant of ``[start, end)`` evenly among its office seconds, in one draw.

    A window without an office second falls back to `weighted_instant`.
    """
    office = [piece for piece in pieces(start, end) if weight(piece[0]) == OFFICE]
    total = sum(seconds for _, seconds in office)
    if not total:
        return weighted_instant(below, start, end)
    rest = below(total)
    for piece, seconds in office:
        if rest < seconds:
            return piece + rest
        rest -= seconds
    raise AssertionError("the draw lies beyond the seconds it is bounded by")
