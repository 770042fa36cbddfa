from __future__ import annotations

import pytest

from harness.calendar import DurationError, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("300s", 300),
        ("5m", 300),
        ("5m0s", 300),
        ("24h", 86400),
        ("1h30m", 5400),
        ("1.5s", 1.5),
        ("0.1s", 0.1),
        ("500ms", 0.5),
        ("1m1ms", 60.001),
        ("0", 0),
        ("0s", 0),
        ("+2m", 120),
        ("-5m", -300),
    ],
)
def test_spellings(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "5", "m", "5 m", " 5m", "5M", "1d", "5m-3s", "1e3s", ".5s", "٣s", "5m\n"]
)
def test_refuses_other_forms(text: str) -> None:
    with pytest.raises(DurationError, match=r"is not a duration; spell it with h, m, s or ms"):
        parse_duration(text)
