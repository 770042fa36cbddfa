"""A recording on the disk: opened, checked, read message by message."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.oslo import Notification
from harness.recording import files, lines, manifest
from harness.recording.errors import RecordingError
from harness.recording.manifest import Manifest
from harness.recording.survey import Survey

STREAM = "notifications.jsonl"
ORACLE = "oracle.json"
EVENTS = "events.jsonl"


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording whose manifest was read; `check` reads the rest.

    Attributes:
        path: its directory.
        manifest: what it says it holds.
    """

    path: Path
    manifest: Manifest

    @classmethod
    def open(cls, path: Path) -> Recording:
        """Read the manifest and see that every file it names is there in its length.

        Raises:
            RecordingError: see `harness.recording.manifest.read`; a file is missing, is there
                twice, or has another length.
        """
        recording = cls(path, manifest.read(path))
        for name, stored in recording.manifest.files.items():
            if "/" in name or "\0" in name or not name or name.startswith("."):
                raise RecordingError(f"{path}: the manifest names a file elsewhere: {name!r}")
            size = _size(path / name)
            if size is None:
                raise RecordingError(f"{path} lacks {name}, which its manifest names")
            if size != stored.bytes:
                fate = "truncated" if size < stored.bytes else "altered"
                raise RecordingError(
                    f"{path / name} was {fate}: it has {size} bytes, "
                    f"the manifest says {stored.bytes}"
                )
        recording.stream  # noqa: B018 - looked up for its refusals
        for name in (ORACLE, EVENTS):
            recording.find(name)
        return recording

    @property
    def name(self) -> str:
        """Its directory's name."""
        return self.path.resolve().name

    @property
    def stream(self) -> Path:
        """The file of messages."""
        found = self.find(STREAM)
        if found is None:
            raise RecordingError(f"{self.path}: the manifest names no {STREAM}")
        return found

    @property
    def oracle(self) -> Path | None:
        """The oracle's document, maybe compressed; None where the recording has none."""
        return self.find(ORACLE)

    def find(self, name: str) -> Path | None:
        """Return a file of the recording, compressed or not; None when there is none.

        Raises:
            RecordingError: it is there twice, or the manifest does not name it.
        """
        found = files.find(self.path, name)
        if found is not None and found.name not in self.manifest.files:
            raise RecordingError(f"{found} is not named by the manifest; remove it, or record anew")
        return found

    def notifications(self) -> Iterator[Notification]:
        """Yield the messages in the order they were recorded, one at a time.

        Raises:
            RecordingError: names the line.
        """
        stream = self.stream
        for number, line in enumerate(files.lines(stream), 1):
            try:
                yield lines.read(line)
            except RecordingError as error:
                raise RecordingError(f"{stream}: line {number}: {error}") from error

    def check(self, watch: Callable[[int], None] | None = None) -> Survey:
        """Read all of it against its manifest, in constant memory, and return what it holds.

        Args:
            watch: called with the number of messages read, now and then.

        Raises:
            RecordingError: a digest or a count differs, or a line cannot be read.
        """
        for name, stored in self.manifest.files.items():
            if files.digest(self.path / name) != stored.sha256:
                raise RecordingError(
                    f"{self.path / name} was altered: its SHA-256 is not the manifest's"
                )
        if self.oracle is not None:
            for _ in files.chunks(self.oracle):
                pass  # read for its refusals
        survey = Survey()
        for notification in self.notifications():
            survey.add(notification)
            if watch and survey.notifications % 1000 == 0:
                watch(survey.notifications)
        otherwise = self.manifest.held_against(survey)
        if otherwise:
            raise RecordingError(f"{self.path}: {otherwise}")
        return survey

    def extract(self, name: str, into: Path) -> Path | None:
        """Write a file of the recording decompressed into a directory; None when there is none.

        Raises:
            RecordingError: see `harness.recording.files.chunks`.
        """
        found = self.find(name)
        if found is None:
            return None
        with files.FileWriter(into / name) as copy:
            for chunk in files.chunks(found):
                copy.write(chunk)
        return into / name


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RecordingError(f"reading {path}: {error.strerror}") from error
