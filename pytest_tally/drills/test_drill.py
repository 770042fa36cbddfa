"""One drill for each seed: a month of a cloud has to be billed exactly as it was lived."""

from __future__ import annotations

from typing import Any

import pytest

from harness.drill import Subject, Verdict

#: Months whose skip counters must not move by accident; further ones are judged by their stream.
PINNED_PERIOD, PINNED_CLOUD, PINNED_SEEDS = "2026-07", "os-sim", (1, 2, 3, 4, 5)


def test_month(
    tally_verdict: Verdict, tally_month: Subject, request: pytest.FixtureRequest
) -> None:
    """The month comes out as it was lived, and a pinned one skips what it always skipped.

    Both stand in one test, so that xdist never takes a month through two workers.
    """
    assert tally_verdict == tally_month
    if _is_pinned(tally_verdict) and (counters := tally_verdict.skip_counters()) is not None:
        snapshot = _table_snapshot(request)
        assert counters == snapshot


def _is_pinned(verdict: Verdict) -> bool:
    return (
        str(verdict.period) == PINNED_PERIOD
        and verdict.cloud == PINNED_CLOUD
        and verdict.seed in PINNED_SEEDS
        and not verdict.faults
    )


def _table_snapshot(request: pytest.FixtureRequest) -> Any:
    from pytest_tally.snapshots import TableSnapshot

    return request.getfixturevalue("snapshot").use_extension(TableSnapshot)
