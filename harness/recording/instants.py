"""When a message was sent, by its own envelope, and what type it is."""

from __future__ import annotations

from dataclasses import dataclass

from harness.oslo import Unparseable, parse

#: Nanoseconds in a second.
NANO = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Head:
    """What pacing and counting need to know of a message.

    Attributes:
        event_type: the oslo type, empty where it states none.
        instant: Unix nanoseconds.
    """

    event_type: str
    instant: int


def head(body: bytes) -> Head | None:
    """Return the head of a message, or None where a collector could not read it either."""
    try:
        envelope = parse(body)
    except Unparseable:
        return None
    return Head(envelope.event_type, envelope.timestamp)
