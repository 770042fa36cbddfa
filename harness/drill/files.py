"""The files of a month in a directory: its stream, its events, its oracle, what is held back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.drill.events import events
from harness.errors import HarnessError
from harness.month import Month
from harness.month.render import line
from harness.oracle import document
from harness.oracle.model import Oracle

NOTIFICATIONS = "notifications.jsonl"
EVENTS = "events.jsonl"
ORACLE = "oracle.json"
HELD_BACK = "held-back.jsonl"

_ALL = (NOTIFICATIONS, EVENTS, ORACLE, HELD_BACK)


class MonthFilesError(HarnessError):
    """The directory cannot be made, or one of its files not removed or written."""


def write_month(directory: Path, month: Month, oracle: Oracle) -> None:
    """Write the files of a month; stale ones go first, whether or not they come back.

    ``held-back.jsonl`` is there only when something is held back. A file is there whole or not at
    all.

    Args:
        directory: made when it is missing.
        month: what is published, held, and booked.
        oracle: what has to be billed for it.

    Raises:
        MonthFilesError: the directory cannot be made, or a file not removed or written; the text
            names each path and its cause.
    """
    try:
        directory.mkdir(mode=0o755, parents=True, exist_ok=True)
    except OSError as error:
        raise MonthFilesError(f"creating {directory}: {error.strerror or error}") from error
    _remove_stale(directory)
    _write(directory / NOTIFICATIONS, map(line, month.stream))
    _write(directory / EVENTS, _lines(events(month)))
    _write(directory / ORACLE, (document.encode(oracle),))
    if month.held:
        _write(directory / HELD_BACK, map(line, month.held))


def _remove_stale(directory: Path) -> None:
    failures = []
    for name in _ALL:
        try:
            (directory / name).unlink(missing_ok=True)
        except OSError as error:
            failures.append(f"removing {directory / name}: {error.strerror or error}")
    if failures:
        raise MonthFilesError("; ".join(failures))


def _lines(documents: Iterable[bytes]) -> Iterator[bytes]:
    for text in documents:
        yield text + b"\n"


def _write(path: Path, chunks: Iterable[bytes]) -> None:
    """Fill a file beside the one wanted, and give it its name once it is whole."""
    part = path.with_name(f"{path.name}.part")
    try:
        try:
            with part.open("wb") as file:
                file.writelines(chunks)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise MonthFilesError(f"writing {path}: {error.strerror or error}") from error
