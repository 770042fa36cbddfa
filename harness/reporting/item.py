"""One item of an ingest body: from JSON text to a canonical event, or to the reason against it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

import msgspec

from harness.reporting import instant, wire
from harness.timeline import Category, category

VIRTUAL = ("meta", "partner")
"""Platforms that carry projects and never resources; no cloud is named like them either."""

LONGEST = 512
LONGEST_ID = 256
EVENT_TYPE = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+", re.ASCII)
SOURCES = ("collector", "reconciliation")

#: An escaped NUL: a backslash that is not itself escaped, then u0000.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_ABSENT = msgspec.Raw(b"")
_NOTHING = (b"", b"null")
_NAMED = ("platform", "cloud", "resource_type", "resource_id", "project_id")


class Refused(Exception):  # noqa: N818, RUF100 -- not an error of the harness: an answer
    """An item that is not stored; its text is the reason."""


@dataclass(frozen=True, slots=True)
class Event:
    """A canonical event as it will be stored.

    Attributes:
        timestamp: microseconds since 1970 UTC.
        payload: its JSON text as it arrived.
        state: the reported state, ``""`` for unchanged.
        size: JSON text of the reported size, ``""`` for unchanged.
        raw: JSON text of the whole item as it arrived.
    """

    event_id: str
    timestamp: int
    event_type: str
    platform: str
    cloud: str
    resource_type: str
    resource_id: str
    project_id: str
    payload: str
    state: str
    size: str
    raw: bytes


class _Payload(msgspec.Struct):
    state: str | None = None
    size: msgspec.Raw = _ABSENT
    provider: msgspec.Raw = _ABSENT


class _Item(msgspec.Struct):
    event_id: str | None = None
    timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    event_type: str | None = None
    platform: str | None = None
    cloud: str | None = None
    resource_type: str | None = None
    resource_id: str | None = None
    project_id: str | None = None
    source: str | None = None
    payload: msgspec.Raw = _ABSENT


_ITEM = msgspec.json.Decoder(_Item)
_PAYLOAD = msgspec.json.Decoder(_Payload)


def read(raw: bytes) -> Event:
    """Decode and validate one item.

    Raises:
        Refused: the reason, ``schema: …`` with every problem on a line of its own.
    """
    if b"\\u0000" in raw and _NUL.search(raw):
        raise Refused(
            "schema: a string of the item holds a NUL character, which no column can store"
        )
    try:
        item = _ITEM.decode(raw)
        written = bytes(item.payload)
        written = b"{}" if written in _NOTHING else written
        payload = _PAYLOAD.decode(written)
        size = _object("size", payload.size)
        _object("provider", payload.provider)
        stored = _owned_by_server(written, payload.provider)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise Refused(f"schema: {error}") from error
    problems = list(_problems(item, payload, size))
    moment = 0
    if item.timestamp is not None:
        try:
            moment = instant.of(item.timestamp)
        except ValueError as error:
            problems.append(f"timestamp: {error}")
    if problems:
        raise Refused("schema: " + "\n".join(problems))
    return Event(
        event_id=item.event_id or "",
        timestamp=moment,
        event_type=item.event_type or "",
        platform=item.platform or "",
        cloud=item.cloud or "",
        resource_type=item.resource_type or "",
        resource_id=item.resource_id or "",
        project_id=item.project_id or "",
        payload=stored,
        state=payload.state or "",
        size=size,
        raw=raw,
    )


def identify(raw: bytes) -> str:
    """Return the event id of a refused item as well as it can be read, else ``""``."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return ""
    event_id = value.get("event_id") if isinstance(value, dict) else None
    if not isinstance(event_id, str):
        return ""
    return event_id.encode("utf-8", "replace").decode()


def state_and_size(payload: str) -> tuple[str, str]:
    """Return the state and the size's JSON text of a stored payload, ``""`` for unchanged."""
    members = _PAYLOAD.decode(payload)
    return members.state or "", _object("size", members.size)


def _object(member: str, value: msgspec.Raw) -> str:
    """Return the JSON text of an optional object, ``""`` when it is absent or null."""
    text = bytes(value)
    if text in _NOTHING:
        return ""
    if not text.startswith(b"{"):
        raise msgspec.ValidationError(f"Expected `object` - at `$.payload.{member}`")
    return text.decode()


def _length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _problems(item: _Item, payload: _Payload, size: str) -> Iterator[str]:
    event_id, event_type = item.event_id or "", item.event_type or ""
    if not 1 <= _length(event_id) <= LONGEST_ID:
        yield f"event_id: must be 1..{LONGEST_ID} characters, got {_length(event_id)}"
    if item.timestamp is None or item.timestamp.year == 1:
        yield "timestamp: must be set"
    if _length(event_type) > LONGEST:
        yield f"event_type: must be at most {LONGEST} characters, got {_length(event_type)}"
    elif not EVENT_TYPE.fullmatch(event_type):
        yield f'event_type: "{event_type}" must match ^{EVENT_TYPE.pattern}$'
    for name in _NAMED:
        yield from _named(name, getattr(item, name) or "")
    if (item.source or "collector") not in SOURCES:
        yield f'source: "{(item.source or "")[:LONGEST]}" must be one of {", ".join(SOURCES)}'
    yield from _reported(category(event_type), payload.state or "", size)


def _named(name: str, value: str) -> Iterator[str]:
    if not value:
        yield f"{name}: must not be empty"
    elif _length(value) > LONGEST:
        yield f"{name}: must be at most {LONGEST} characters, got {_length(value)}"
    elif name in {"platform", "cloud"} and value in VIRTUAL:
        yield f'{name}: "{value}" is a virtual platform, which carries projects and no resources'


def _reported(kind: Category, state: str, size: str) -> Iterator[str]:
    """Yield what an event of its kind has to report and does not."""
    if _length(state) > LONGEST:
        yield f"payload.state: must be at most {LONGEST} characters, got {_length(state)}"
    if kind is Category.CREATE:
        if not state:
            yield "payload.state: a create event has to report it"
        if not size:
            yield "payload.size: a create event has to report it"
    elif kind is Category.UPDATE and not state:
        yield "payload.state: every event but a delete has to report it"


def _owned_by_server(payload: bytes, provider: msgspec.Raw) -> str:
    """Return the payload's text, without the member only the server may write."""
    if b"size_as_reported" not in bytes(provider):
        return payload.decode()
    value = wire.decode(payload)
    value["provider"].pop("size_as_reported", None)
    return wire.text(value)
