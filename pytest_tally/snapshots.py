"""Skip counters as syrupy snapshots: a text file a month, a type and its count a line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from syrupy.data import SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation

from pytest_tally.report import counters_table


class TableSnapshot(SingleFileSnapshotExtension):
    """Writes counters in the order they come in, beside the test in ``skip_counters/``.

    Options say which months a run drills, so a file of another month is never an unused one: the
    files stand where nothing looks for snapshots that are left over.
    """

    _write_mode = WriteMode.TEXT
    file_extension = "txt"

    def serialize(self, data: Mapping[str, int], **_: Any) -> str:
        """Lay the counters out as a table."""
        return counters_table(data)

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        """Return the directory the files stand in."""
        return str(Path(test_location.filepath).parent / "skip_counters")

    @classmethod
    def matches_test_location(cls, **_: Any) -> bool:
        """Every file of the directory belongs to its test."""
        return True

    def discover_snapshots(self, **_: Any) -> SnapshotCollections:
        """Find nothing that could be left over."""
        return SnapshotCollections()
