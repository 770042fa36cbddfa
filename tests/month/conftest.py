"""Months of the session; the plain one is shared, nobody changes it."""

from __future__ import annotations

import pytest

from harness.calendar import Period
from harness.month import Month, generate


@pytest.fixture(scope="session")
def plain() -> Month:
    """Seed 1 of July 2026 without a fault switch."""
    return generate(1, Period.parse("2026-07"), "os-sim")
