from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.calendar import Period
from harness.calendar.instant import DAY, HOUR
from harness.calendar.profile import (
    is_working_day,
    office_instant,
    pieces,
    weight,
    weighted_instant,
)

# 2026-07-01 is a Wednesday, the 4th and 5th are a weekend.
JULY = Period(2026, 7).start
windows = st.tuples(st.integers(0, 40 * DAY), st.integers(0, 12 * DAY)).map(
    lambda pair: (JULY + pair[0], JULY + pair[0] + pair[1])
)


def recorded(answers: list[int]) -> tuple[Callable[[int], int], list[int]]:
    """Return a draw that gives `answers` in turn, and the list of the bounds it was asked for."""
    bounds: list[int] = []

    def below(bound: int) -> int:
        bounds.append(bound)
        return answers[len(bounds) - 1]

    return below, bounds


def test_weights_of_a_working_day() -> None:
    assert [weight(JULY + hour * HOUR) for hour in range(24)] == (
        [1] * 5 + [3] * 2 + [10] * 12 + [3] * 4 + [1]
    )


@pytest.mark.parametrize("day", [3, 4])
def test_weekends_weigh_one(day: int) -> None:
    assert {weight(JULY + day * DAY + hour * HOUR) for hour in range(24)} == {1}


@pytest.mark.parametrize(
    ("clock", "expected"),
    [
        ((4, 59, 59), 1),
        ((5, 0, 0), 3),
        ((6, 59, 59), 3),
        ((7, 0, 0), 10),
        ((18, 59, 59), 10),
        ((19, 0, 0), 3),
        ((22, 59, 59), 3),
        ((23, 0, 0), 1),
    ],
)
def test_hours_begin_with_their_first_second(clock: tuple[int, int, int], expected: int) -> None:
    hours, minutes, seconds = clock
    assert weight(JULY + hours * HOUR + minutes * 60 + seconds) == expected


@settings(max_examples=100, deadline=None)
@given(st.integers(Period(1, 1).start, Period(9998, 12).end - 1))
def test_working_days_are_mondays_to_fridays(instant: int) -> None:
    day = instant // DAY
    weekday = datetime.fromordinal(datetime(1970, 1, 1, tzinfo=UTC).toordinal() + day).weekday()
    assert is_working_day(instant) == (weekday < 5)


def test_july_2026_has_23_working_days() -> None:
    assert sum(map(is_working_day, range(JULY, Period(2026, 8).start, DAY))) == 23


@settings(max_examples=100, deadline=None)
@given(windows)
def test_pieces_cover_the_window_and_break_at_full_hours(window: tuple[int, int]) -> None:
    start, end = window
    cursor = start
    for piece, seconds in pieces(start, end):
        assert piece == cursor
        assert 0 < seconds <= HOUR
        cursor += seconds
        assert cursor == end or cursor % HOUR == 0
    assert cursor == end


@pytest.mark.parametrize(
    ("start", "end", "total", "last"),
    [
        ((8, 0), (12, 0), 144000, 3600),
        ((16, 0), (18, 30), 90000, 1800),
        ((8, 0), (18, 30), 378000, 1800),
    ],
)
def test_bounds_of_the_usual_windows(
    start: tuple[int, int], end: tuple[int, int], total: int, last: int
) -> None:
    low, high = (JULY + hours * HOUR + minutes * 60 for hours, minutes in (start, end))
    below, bounds = recorded([total - 1, last - 1])
    assert weighted_instant(below, low, high) == high - 1
    assert bounds == [total, last]


def test_the_rest_of_the_first_draw_is_thrown_away() -> None:
    below, bounds = recorded([35999, 0])
    assert weighted_instant(below, JULY + 8 * HOUR, JULY + 12 * HOUR) == JULY + 8 * HOUR
    assert bounds == [144000, 3600]


def test_an_empty_window_is_its_start_and_draws_nothing() -> None:
    below, bounds = recorded([])
    assert weighted_instant(below, JULY, JULY) == JULY
    assert office_instant(below, JULY, JULY) == JULY
    assert bounds == []


def test_an_office_instant_is_one_draw_over_office_seconds() -> None:
    # Friday 18:00 to Monday 08:00: an hour on either side of the weekend.
    low, high = JULY + 2 * DAY + 18 * HOUR, JULY + 5 * DAY + 8 * HOUR
    below, bounds = recorded([3600])
    assert office_instant(below, low, high) == JULY + 5 * DAY + 7 * HOUR
    assert bounds == [7200]


def test_without_office_hours_the_weights_decide() -> None:
    saturday = JULY + 3 * DAY
    below, bounds = recorded([3600, 5])
    assert office_instant(below, saturday, saturday + 2 * HOUR) == saturday + HOUR + 5
    assert bounds == [7200, 3600]


@settings(max_examples=100, deadline=None)
@given(windows, st.data())
def test_drawn_instants_lie_in_their_window(window: tuple[int, int], data: st.DataObject) -> None:
    start, end = window

    def below(bound: int) -> int:
        return data.draw(st.integers(0, bound - 1))

    if start == end:
        return
    assert start <= weighted_instant(below, start, end) < end
    chosen = office_instant(below, start, end)
    assert start <= chosen < end
    if any(weight(piece) == 10 for piece, _ in pieces(start, end)):
        assert weight(chosen) == 10
