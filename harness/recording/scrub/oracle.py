"""Scrubbing the oracle of a recording, so that it goes on judging the scrubbed one."""

from __future__ import annotations

from typing import Any

import msgspec

from harness.recording.errors import RecordingError
from harness.recording.scrub.pseudonyms import Pseudonyms

_decode = msgspec.json.Decoder(float_hook=lambda text: msgspec.Raw(text.encode())).decode


def scrub_oracle(text: bytes, pseudonyms: Pseudonyms, cloud: str) -> bytes:
    """Return the document with pseudonyms for its ids, and another cloud.

    Order is kept although the ids change: the traffic of a month is drawn in document order.

    Raises:
        RecordingError: the text is no oracle.
    """
    try:
        document = _decode(text)
        document["cloud"] = cloud
        for resource in document["resources"]:
            _swap(resource, "resource_id", pseudonyms)
            for interval in resource["intervals"]:
                _swap(interval, "project_id", pseudonyms)
        for row in document["counts"]:
            _swap(row, "project_id", pseudonyms)
        for row in document["traffic"]:
            _swap(row, "resource_id", pseudonyms)
    except (msgspec.DecodeError, UnicodeError, KeyError, TypeError) as error:
        raise RecordingError(f"the recording's oracle is none: {error}") from error
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _swap(members: dict[str, Any], name: str, pseudonyms: Pseudonyms) -> None:
    members[name] = pseudonyms(members[name], name)
