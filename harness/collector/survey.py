"""The collector's judgement over a file, without a bus, an outbox or a Reporting API."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO

import msgspec

from harness.collector.outcome import Kind, judge
from harness.oslo.envelope import BODY_MAX

_LINE_MAX = 4 * BODY_MAX  # a line holds a body and little else


@dataclass(slots=True)
class Survey:
    """What a file's messages came to; ``str`` is a table.

    Attributes:
        consumed: oslo type to count.
        skipped: oslo type to count.
        unparseable: line number and reason of each.
    """

    consumed: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    unparseable: list[tuple[int, str]] = field(default_factory=list)

    def __str__(self) -> str:
        rows = [
            (outcome, _shown(event_type), str(count))
            for outcome, types in (("consumed", self.consumed), ("skipped", self.skipped))
            for event_type, count in sorted(types.items())
        ]
        rows += [
            ("consumed", "total", str(self.consumed.total())),
            ("skipped", "total", str(self.skipped.total())),
            ("unparseable", "total", str(len(self.unparseable))),
        ]
        width = max(len(event_type) for _, event_type, _ in rows)
        lines = [f"{'outcome':<11}  {'event type':<{width}}  {'count':>7}"]
        lines += [f"{outcome:<11}  {name:<{width}}  {count:>7}" for outcome, name, count in rows]
        lines += [f"line {number}: unparseable: {reason}" for number, reason in self.unparseable]
        return "\n".join(lines)


def survey(messages: Iterable[tuple[int, bytes]], cloud: str, events: IO[bytes]) -> Survey:
    """Judge every message and write the events of those consumed.

    Args:
        messages: line number and body of each, as `bodies` yields them.
        cloud: name of the installation.
        events: takes the canonical events, one a line.
    """
    found = Survey()
    for number, body in messages:
        outcome = judge(body, cloud)
        if outcome.kind is Kind.UNPARSEABLE:
            found.unparseable.append((number, outcome.reason))
        elif outcome.kind is Kind.SKIPPED:
            found.skipped[outcome.event_type] += 1
        else:
            found.consumed[outcome.event_type] += 1
            events.write(outcome.event + b"\n")
    return found


def bodies(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield line number and message body; blank lines are passed over.

    Args:
        file: a stream or recording file, bare envelopes one a line, or one envelope as a document:
            one JSON value over several lines is one body, that of line 1. Read once, forwards.
    """
    head = file.read(_LINE_MAX + 1)
    if len(head) <= _LINE_MAX and head.strip().count(b"\n") and _is_json(head):
        yield 1, _body(head)
        return
    for number, line in enumerate(_lines(head, file), 1):
        if line.strip():
            yield number, _body(line.rstrip(b"\r\n"))


def _lines(head: bytes, file: IO[bytes]) -> Iterator[bytes]:
    *whole, last = head.split(b"\n")
    yield from whole
    yield last + file.readline()
    yield from file


class _Line(msgspec.Struct):
    body: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    body_base64: str | msgspec.UnsetType = msgspec.UNSET


_line = msgspec.json.Decoder(_Line)
_any = msgspec.json.Decoder(msgspec.Raw)


def _body(line: bytes) -> bytes:
    """Return the body a line carries, the line itself where it carries none."""
    try:
        found = _line.decode(line)
        if isinstance(found.body, msgspec.Raw):
            return bytes(found.body)
        if isinstance(found.body_base64, str):
            return base64.b64decode(found.body_base64, validate=True)
    except (msgspec.DecodeError, binascii.Error, RecursionError):
        pass
    return line


def _is_json(document: bytes) -> bool:
    try:
        _any.decode(document)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _shown(event_type: str) -> str:
    return event_type if event_type and event_type.isprintable() else ascii(event_type)
