"""What becomes of one message: consumed, skipped by type, or unparseable."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from harness.collector.event import EVENT_MAX
from harness.collector.mapping import map_notification
from harness.oslo.envelope import Unparseable, parse


class Kind(Enum):
    """The three ends of a message; each has exactly one."""

    CONSUMED = "consumed"
    SKIPPED = "skipped"
    UNPARSEABLE = "unparseable"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one message.

    Attributes:
        kind: see `Kind`.
        event_type: the oslo type; empty when unparseable.
        event: the canonical event's JSON when consumed, else empty.
        reason: why it is unparseable, else empty.
    """

    kind: Kind
    event_type: str = ""
    event: bytes = b""
    reason: str = ""


def judge(body: bytes, cloud: str) -> Outcome:
    """Decide what becomes of a message body.

    Args:
        body: the oslo envelope as it came off the bus.
        cloud: name of the installation it comes from.
    """
    try:
        envelope = parse(body)
    except Unparseable as error:
        return Outcome(Kind.UNPARSEABLE, reason=str(error))
    event = map_notification(envelope, cloud)
    if event is not None:
        encoded = event.encode()
        if len(encoded) <= EVENT_MAX:
            return Outcome(Kind.CONSUMED, envelope.event_type, encoded)
    return Outcome(Kind.SKIPPED, envelope.event_type)
