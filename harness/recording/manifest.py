"""``manifest.json``: what a recording holds, and how to tell that it still does."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Annotated

import msgspec

from harness.oslo.envelope import rfc3339
from harness.recording.errors import RecordingError
from harness.recording.survey import Survey

NAME = "manifest.json"
#: Raised whenever a reader of the old format would misread a recording of the new one.
FORMAT = 1

_MANIFEST_MAX = 16 << 20
_Count = Annotated[int, msgspec.Meta(ge=0)]


class Stored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of a recording.

    Attributes:
        bytes: its length as it lies there.
        sha256: of the file as it lies there, in hex; ``sha256sum`` prints the same.
    """

    bytes: _Count
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class Scrubbed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How private details were taken out.

    Attributes:
        mode: ``pseudonyms`` or ``allow-list``.
        rules: names of the rules applied.
        fingerprint: tells whether two recordings were scrubbed with one key; says nothing of it.
    """

    mode: str
    rules: tuple[str, ...]
    fingerprint: str


class Manifest(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"first": "from", "last": "to"}
):
    """What a recording holds.

    Attributes:
        format: `FORMAT`.
        tool: name and version of what wrote it.
        cloud: the cloud it is replayed as.
        ended: why the recording ended: ``complete``, ``limit``, ``time``, ``idle``,
            ``interrupted``, or what broke.
        exchanges: names of the exchanges the messages were published to, sorted.
        routing_keys: their keys, sorted.
        first: earliest instant a message carries, RFC 3339 UTC; null where none carries one.
        last: latest one.
        notifications: number of messages.
        unparseable: messages that are no notification.
        types: oslo type to number of messages.
        files: name of a file beside the manifest to its length and digest.
        scrub: null for a recording as it came off the bus.
    """

    format: int
    tool: str
    cloud: str
    ended: str
    exchanges: tuple[str, ...]
    routing_keys: tuple[str, ...]
    first: str | None
    last: str | None
    notifications: _Count
    unparseable: _Count
    types: dict[str, _Count]
    files: dict[str, Stored]
    scrub: Scrubbed | None = None

    def held_against(self, survey: Survey) -> str:
        """Return what `survey` finds otherwise than the manifest says, empty when nothing."""
        found = describe(survey, self.cloud, self.ended, self.files, self.scrub)
        for field in ("notifications", "unparseable", "types", "exchanges", "routing_keys"):
            stated, seen = getattr(self, field), getattr(found, field)
            if stated != seen:
                return (
                    f"{field} is {_shown(stated)} in the manifest, "
                    f"and the stream holds {_shown(seen)}"
                )
        if (self.first, self.last) != (found.first, found.last):
            return (
                f"from and to are {self.first} and {self.last} in the manifest, and the stream "
                f"runs from {found.first} to {found.last}"
            )
        return ""

    def encode(self) -> bytes:
        """Render it, stable and readable."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


def describe(
    survey: Survey,
    cloud: str,
    ended: str,
    files: dict[str, Stored],
    scrub: Scrubbed | None = None,
) -> Manifest:
    """Return the manifest of what `survey` counted."""
    return Manifest(
        format=FORMAT,
        tool=f"tally-harness {metadata.version('tally-harness')}",
        cloud=cloud,
        ended=ended,
        exchanges=survey.exchanges,
        routing_keys=survey.routing_keys,
        first=None if survey.first is None else rfc3339(survey.first),
        last=None if survey.last is None else rfc3339(survey.last),
        notifications=survey.notifications,
        unparseable=survey.unparseable,
        types=dict(sorted(survey.types.items())),
        files=dict(sorted(files.items())),
        scrub=scrub,
    )


def read(directory: Path) -> Manifest:
    """Read the manifest of a recording.

    Raises:
        RecordingError: there is none or more than one, it is no manifest, or of another format.
    """
    if not directory.is_dir():
        raise RecordingError(f"{directory} is no recording: not a directory")
    path = directory / NAME
    others = sorted(found.name for found in directory.glob("*manifest*.json*") if found != path)
    if not path.exists():
        raise RecordingError(
            f"{directory} is no recording, or one that was never finished: it holds no {NAME}"
        )
    if others:
        raise RecordingError(f"{directory} holds {NAME} and {others[0]}; keep the right one")
    try:
        with path.open("rb") as file:
            text = file.read(_MANIFEST_MAX)
    except OSError as error:
        raise RecordingError(f"reading {path}: {error.strerror}") from error
    stated = _format_of(text, path)
    if stated != FORMAT:
        age = "newer" if stated > FORMAT else "no known"
        raise RecordingError(
            f"{path} states format {stated}, {age}; this version reads format {FORMAT}"
            + ("; update tally-harness" if stated > FORMAT else "")
        )
    try:
        return msgspec.json.decode(text, type=Manifest)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise RecordingError(f"{path} is no manifest: {error}") from error


def _format_of(text: bytes, path: Path) -> int:
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise RecordingError(
            f"{path} is not one JSON document, so the recording is torn: {error}"
        ) from error
    stated = document.get("format") if isinstance(document, dict) else None
    if not isinstance(stated, int) or isinstance(stated, bool):
        raise RecordingError(f"{path} is no manifest: it states no format")
    return stated


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
