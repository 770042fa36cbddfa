"""Scrubbing the oracle of a recording, so that it goes on judging the scrubbed one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from harness.recording.errors import RecordingError
from harness.recording.scrub import words
from harness.recording.scrub.forms import is_member
from harness.recording.scrub.pseudonyms import Pseudonyms

#: Members of a size whose text rates depend on, kept whatever it is.
RATED = frozenset({"flavor", "type", "volume_type"})

_DEPTH_MAX = 20
_LISTS = ("resources", "counts", "traffic")
_decode = msgspec.json.Decoder(float_hook=lambda text: msgspec.Raw(text.encode())).decode


def decode_oracle(text: bytes) -> dict[str, Any]:
    """Decode the document, every number with its own digits.

    Raises:
        RecordingError: the text is no oracle.
    """
    try:
        document = _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise RecordingError(f"the recording's oracle is no JSON document: {error}") from error
    if not isinstance(document, dict):
        raise RecordingError("the recording's oracle is none: it is no JSON object")
    for name in _LISTS:
        if not isinstance(document.get(name), list):
            raise RecordingError(f"the recording's oracle is none: it has no list of {name}")
    _check_depth(document)
    return document


def scrub_oracle(text: bytes, pseudonyms: Pseudonyms, cloud: str) -> bytes:
    """Return the document with pseudonyms for whatever is no word of its own, and another cloud.

    Order is kept although the ids change: the traffic of a month is drawn in document order.

    Raises:
        RecordingError: the text is no oracle.
    """
    document = _swapped(decode_oracle(text), "", pseudonyms)
    document["cloud"] = cloud
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _check_depth(document: Any) -> None:
    level = [document]
    for _ in range(_DEPTH_MAX):
        level = [child for value in level for child in _children(value)]
    if level:
        raise RecordingError(f"the recording's oracle is none: it nests {_DEPTH_MAX} deep and more")


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _swapped(value: Any, member: str, pseudonyms: Pseudonyms) -> Any:
    if isinstance(value, str):
        stays = member in RATED or words.is_usual_of_oracle(value, member)
        return value if stays else pseudonyms(value, member)
    if isinstance(value, dict):
        return {
            name if is_member(name) else pseudonyms(name, "key_name"): _swapped(
                child, name, pseudonyms
            )
            for name, child in value.items()
        }
    if isinstance(value, list):
        return [_swapped(child, member, pseudonyms) for child in value]
    return value
