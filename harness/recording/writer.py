"""Writing a recording: the stream as it comes, the manifest when it is complete."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.oslo import Notification
from harness.recording import files, lines, manifest
from harness.recording.errors import RecordingError
from harness.recording.manifest import Scrubbed, Stored
from harness.recording.recording import EVENTS, ORACLE, STREAM, Recording
from harness.recording.survey import Survey

#: Suffix of the stream by the name of its compression.
SUFFIXES = {"zstd": ".zst", "gzip": ".gz", "none": ""}


class RecordingWriter:
    """Writes a recording into a directory of its own.

    The manifest is written last and all at once: a directory without one is a recording that
    was torn, and every reader refuses it.

    Attributes:
        path: the directory.
        survey: what was written so far.
    """

    def __init__(self, path: Path, *, compression: str = "zstd", level: int = 3) -> None:
        """Create the directory, which must not exist or be empty.

        Args:
            path: where to.
            compression: one of `SUFFIXES`.
            level: how hard zstd tries, 1 to 22.

        Raises:
            RecordingError: something is there, or it cannot be created.
        """
        self.path = path
        self.survey = Survey()
        self._level = level
        self._suffix = SUFFIXES[compression]
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            taken = any(path.iterdir())
        except OSError as error:
            raise RecordingError(f"writing {path}: {error.strerror}") from error
        if taken:
            raise RecordingError(f"{path} is not empty; name a new directory")
        self._stream = files.FileWriter(path / f"{STREAM}{self._suffix}", level)

    def add(self, notification: Notification) -> None:
        """Write a message."""
        self.survey.add(notification)
        self._stream.write(lines.write(notification))

    def attach(self, name: str, content: Path | bytes) -> None:
        """Put ``oracle.json`` or ``events.jsonl`` beside the stream, compressed like it.

        Args:
            name: `ORACLE` or `EVENTS`.
            content: bytes, or a file, decompressed by its suffix.
        """
        with files.FileWriter(self.path / f"{name}{self._suffix}", self._level) as copy:
            if isinstance(content, bytes):
                copy.write(content)
                return
            with files.opened(content) as source:
                while chunk := source.read(1 << 20):
                    copy.write(chunk)

    def finish(
        self, *, cloud: str, ended: str = "complete", scrub: Scrubbed | None = None
    ) -> Recording:
        """Close the stream and write the manifest.

        Args:
            cloud: the cloud it is replayed as.
            ended: why the recording ended.
            scrub: how private details were taken out.
        """
        self._stream.close()
        stored = {
            path.name: Stored(path.stat().st_size, files.digest(path))
            for name in (STREAM, ORACLE, EVENTS)
            if (path := files.find(self.path, name)) is not None
        }
        document = manifest.describe(self.survey, cloud, ended, stored, scrub)
        part = self.path / ".manifest.part"
        with files.FileWriter(part) as file:
            file.write(document.encode())
        try:
            part.replace(self.path / manifest.NAME)
        except OSError as error:
            raise RecordingError(
                f"writing {self.path / manifest.NAME}: {error.strerror}"
            ) from error
        return Recording.open(self.path)

    def discard(self) -> None:
        """Take back what was written: the recording was refused."""
        try:
            self._stream.close()
        finally:
            shutil.rmtree(self.path)
