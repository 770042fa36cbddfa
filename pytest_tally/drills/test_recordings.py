"""One test for each recording: what it comes to has to be what it always came to."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from harness.drill.recorded import Replayed
from pytest_tally.recording_snapshots import judge
from pytest_tally.report import reproduce_recording
from pytest_tally.state import config_of


def test_recording(
    tally_recording: Replayed, snapshot: SnapshotAssertion, request: pytest.FixtureRequest
) -> None:
    """Everything adds up, the oracle is met where there is one, and no snapshot moved."""
    path = _path(request)
    faults = judge(tally_recording, path, snapshot)
    if not tally_recording.passed:
        faults = [*tally_recording.lines(), *faults]
    if faults:
        again = reproduce_recording(path, config_of(request.config), tally_recording.stack)
        faults += [f"reproduce: {again}", "where the change is meant: add --snapshot-update"]
        pytest.fail("\n".join(faults), pytrace=False)


def _path(request: pytest.FixtureRequest) -> Path:
    path: Path = request.node.callspec.params["tally_recording"]
    return path
