"""What pins a recording: a small text file each for what it came to, beside its manifest."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from syrupy.assertion import SnapshotAssertion
from syrupy.data import SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from harness.drill.recorded import Replayed

#: The directory of a recording its snapshots stand in.
DIRECTORY = "snapshots"


class _Lines(SingleFileSnapshotExtension):
    """Lines of text in ``recordings/NAME/snapshots/ASPECT.txt``."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"
    recording: Path

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:  # noqa: ARG003 - syrupy's signature
        """Return the recording's own directory of snapshots."""
        return str(cls.recording / DIRECTORY)

    @classmethod
    def get_file_basename(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:  # noqa: ARG003
        """Return the aspect."""
        return str(index)

    @classmethod
    def matches_test_location(cls, **_: Any) -> bool:
        """Every file of the directory belongs to whatever test replays the recording."""
        return True

    def discover_snapshots(self, **_: Any) -> SnapshotCollections:
        """Leave it to `leftovers`, which knows which aspects there are."""
        return SnapshotCollections()


def aspects(replayed: Replayed) -> Iterator[tuple[str, str]]:
    """Yield the name and the lines of everything about a recording that could be seen.

    Lines are sorted and stand for themselves, so that one more type is one more line.
    """
    if replayed.consumed is not None:
        yield "consumed", _counted(replayed.consumed)
    if replayed.skipped is not None:
        unparseable = replayed.unparseable or 0
        yield "skipped", _counted({**replayed.skipped, "(unparseable)": unparseable})
    if replayed.events is not None:
        yield "events", _counted({" ".join(key): n for key, n in replayed.events.items()})
    if replayed.rejected is not None:
        yield "rejected", _counted(replayed.rejected)
    if replayed.metered is not None:
        yield (
            "metered",
            _lines(
                f"{row.period} {row.project_id} {row.resource_type} {row.dimension} "
                f"{row.resources} {row.quantity} {row.amount} {row.currency}"
                for row in replayed.metered
            ),
        )


def judge(replayed: Replayed, recording: Path, snapshot: SnapshotAssertion) -> list[str]:
    """Hold a recording against its snapshots; return what is otherwise, in words.

    Args:
        replayed: what it came to.
        recording: its directory.
        snapshot: syrupy's fixture; with ``--snapshot-update`` it writes the files.
    """
    extension = type("RecordingLines", (_Lines,), {"recording": recording})
    faults, used = [], set()
    for aspect, lines in aspects(replayed):
        used.add(aspect)
        pinned = snapshot.use_extension(extension)(name=aspect)
        path = recording / DIRECTORY / f"{aspect}.txt"
        before = path.read_text(encoding="utf-8") if path.exists() else None
        if lines != pinned:
            faults.append(_difference(path, before, lines))
    for path in _leftovers(recording, used):
        if snapshot.session.update_snapshots:
            path.unlink()
        else:
            faults.append(f"nothing uses {path}; run with --snapshot-update to delete it")
    return faults


def _difference(path: Path, before: str | None, after: str) -> str:
    """Word what changed: the lines that went and the lines that came, and nothing around them."""
    if before is None:
        return f"there is no {path}; run with --snapshot-update to write it"
    changed = (
        line
        for line in difflib.ndiff(before.splitlines(), after.splitlines())
        if line.startswith(("+ ", "- "))
    )
    return "\n".join((f"{path} is not what it was:", *changed))


def _leftovers(recording: Path, used: set[str]) -> list[Path]:
    """Return files no aspect of this replay stands in.

    An aspect that could not be seen on this stack is not there to be used, and is no leftover.
    """
    known = {"consumed", "skipped", "events", "rejected", "metered"} | used
    found = sorted((recording / DIRECTORY).glob("*"))
    return [path for path in found if path.suffix != ".txt" or path.stem not in known]


def _counted(counts: Mapping[str, int]) -> str:
    return _lines(f"{name} {count}" for name, count in sorted(counts.items()) if count)


def _lines(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines) or "none\n"
