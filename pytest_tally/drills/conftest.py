"""Which of the packaged drills a run is about: seeds, recordings, or both."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_tally.plugin import names


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the drill that nothing was named for."""
    if collection_path.name == "test_recordings.py" and not names(config, "recording"):
        return True
    only_recordings = names(config, "recording") and not names(config, "seed")
    return True if collection_path.name == "test_drill.py" and only_recordings else None
