from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.calendar import Period, rfc3339, stamp
from harness.calendar.instant import midnight

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
instants = st.integers(Period(1, 1).start, Period(9998, 12).end - 1)


@settings(max_examples=100, deadline=None)
@given(instants)
def test_instants_are_written_as_the_standard_library_writes_them(instant: int) -> None:
    moment = EPOCH + timedelta(seconds=instant)
    assert rfc3339(instant) == moment.isoformat().replace("+00:00", "Z")
    assert stamp(instant) == moment.isoformat(" ", "microseconds").removesuffix("+00:00")


@settings(max_examples=100, deadline=None)
@given(instants)
def test_midnight_starts_the_day(instant: int) -> None:
    assert stamp(midnight(instant)) == stamp(instant)[:10] + " 00:00:00.000000"


def test_years_have_four_digits() -> None:
    assert stamp(Period(33, 4).start) == "0033-04-01 00:00:00.000000"
    assert rfc3339(Period(1, 1).start - 86400) == "0000-12-31T00:00:00Z"
