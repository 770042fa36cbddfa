"""What can be replayed: a recording, or a generated stream file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.oslo import EXCHANGES, Notification
from harness.oslo.stream import read_opened
from harness.recording import files
from harness.recording.recording import Recording
from harness.recording.survey import Survey


@dataclass(frozen=True, slots=True)
class Source:
    """Messages that were read once, to the end, and found right.

    Attributes:
        path: the recording's directory, or the file.
        exchanges: where they are published.
        survey: what they are.
        read: yields them again, in order, one at a time.
        recording: the recording; None for a file.
    """

    path: Path
    exchanges: tuple[str, ...]
    survey: Survey
    read: Callable[[], Iterator[Notification]]
    recording: Recording | None = None


def load(path: Path) -> Source:
    """Read and check all of a recording or a file, keeping none of it.

    A recording is taken as it was recorded, whatever its lines hold. A file (``.jsonl``, maybe
    with ``.gz`` or ``.zst`` behind it) is a stream file, and read as strictly as one.

    Raises:
        RecordingError: the recording is not whole, or the file cannot be read.
        StreamError: a line of the file is refused.
    """
    if path.is_dir():
        recording = Recording.open(path)
        survey = recording.check()
        exchanges = recording.manifest.exchanges
        return Source(path, exchanges, survey, recording.notifications, recording)

    def read() -> Iterator[Notification]:
        with files.opened(path) as file:
            yield from read_opened(file, path)

    survey = Survey()
    for notification in read():
        survey.add(notification)
    return Source(path, EXCHANGES, survey, read)
