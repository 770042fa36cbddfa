from __future__ import annotations

import pytest

from harness.calendar import Period, PeriodError, rfc3339


@pytest.mark.parametrize("text", ["2026-07", "0001-01", "9998-12"])
def test_months_are_read_and_written_alike(text: str) -> None:
    assert str(Period.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "2026-7", "2026-13", "2026-00", "26-07", "0000-01", "9999-01", "2026-07 ", "٢٠٢٦-07"],
)
def test_refuses_other_forms(text: str) -> None:
    with pytest.raises(PeriodError, match="is not a YYYY-MM month"):
        Period.parse(text)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026-07", "2026-07-01T00:00:00Z", "2026-08-01T00:00:00Z"),
        ("2025-12", "2025-12-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("2028-02", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"),
    ],
)
def test_a_month_is_half_open(text: str, start: str, end: str) -> None:
    period = Period.parse(text)
    assert (rfc3339(period.start), rfc3339(period.end)) == (start, end)


def test_a_month_is_over_at_its_end() -> None:
    period = Period.parse("2026-07")
    assert not period.has_ended(period.end - 1)
    assert period.has_ended(period.end)
    assert Period.last_ended(period.end) == period
    assert Period.last_ended(period.end - 1) == period.previous()
