"""Scrubbing a recording into another one."""

from __future__ import annotations

from collections.abc import Callable

from harness.recording import files
from harness.recording.errors import RecordingError
from harness.recording.manifest import Scrubbed
from harness.recording.recording import ORACLE, Recording
from harness.recording.scrub import words
from harness.recording.scrub.message import Scrubber
from harness.recording.scrub.oracle import scrub_oracle
from harness.recording.scrub.pseudonyms import Pseudonyms
from harness.recording.writer import RecordingWriter

RULES = (
    "secrets",
    "request-contexts",
    "free-text",
    "unreadable-bodies",
    "ids",
    "addresses",
    "names",
)


def scrub(
    recording: Recording,
    writer: RecordingWriter,
    pseudonyms: Pseudonyms,
    *,
    allow_list: bool = False,
    cloud: str = "",
    watch: Callable[[int], None] = lambda _: None,
) -> Recording:
    """Write `recording` scrubbed, its oracle with it, and its events, which follow from it, not.

    Args:
        recording: as it came off the bus; nothing of it changes.
        writer: of a new recording.
        pseudonyms: under the key.
        allow_list: keep only what the mapping and the fold read.
        cloud: what the scrubbed recording is replayed as; empty for a pseudonym.
        watch: called with the number of messages scrubbed, now and then.

    Raises:
        RecordingError: the recording is not whole, or was scrubbed before.
    """
    if recording.manifest.scrub is not None:
        raise RecordingError(
            f"{recording.path} was scrubbed before; scrub the recording it was made from"
        )
    recording.check()
    cloud = cloud or pseudonyms.name(recording.manifest.cloud, "cloud")
    scrubber = Scrubber(pseudonyms, allow_list=allow_list)
    for number, notification in enumerate(recording.notifications(), 1):
        writer.add(scrubber(notification))
        if number % 500 == 0:
            watch(number)
    if recording.oracle is not None:
        text = files.document(recording.oracle)
        writer.attach(ORACLE, scrub_oracle(text, pseudonyms, cloud))
    ended = recording.manifest.ended.partition(":")[0]
    return writer.finish(
        cloud=cloud,
        ended=ended if ended in words.ENDINGS else "complete",
        scrub=Scrubbed(
            mode="allow-list" if allow_list else "pseudonyms",
            rules=RULES,
            fingerprint=pseudonyms.fingerprint,
        ),
    )
