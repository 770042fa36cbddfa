"""Looking for what looks private in a recording, without ever saying what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from harness.recording import files
from harness.recording.instants import head
from harness.recording.recording import EVENTS, Recording
from harness.recording.scrub import forms, vocabulary
from harness.recording.scrub.message import DEPTH_MAX, MEMBER, kept_as_it_is, read_object

_UNREADABLE = re.compile(rb"unparseable text-[0-9a-f]{12}")
_NAMELESS = "(a name)"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that looks private.

    Attributes:
        path: where in a message, or in another file, members joined by dots.
        what: what it looks like, such as ``an address``; never the value.
    """

    path: str
    what: str


def findings(recording: Recording) -> Iterator[tuple[int, Finding]]:
    """Yield what looks private, with the line it is in; 0 for another file than the stream.

    An id counts as private unless it carries the mark of a pseudonym, which one in 64 of
    somebody's own may carry by chance.
    """
    for number, notification in enumerate(recording.notifications(), 1):
        for finding in _of_body(notification.body):
            yield number, finding
    if recording.oracle is not None:
        with files.opened(recording.oracle) as file:
            oracle = msgspec.json.decode(file.read())
        for finding in _of_oracle(oracle):
            yield 0, finding
    if recording.find(EVENTS) is not None:
        yield 0, Finding(EVENTS, "a file that scrubbing leaves out")


def _of_body(body: bytes) -> Iterator[Finding]:
    if head(body) is None:
        if not _UNREADABLE.fullmatch(body):
            yield Finding("body", "a body that cannot be looked into")
        return
    outer = read_object(body)
    for name in outer.keys() - {"oslo.version", "oslo.message"}:
        yield Finding(_shown(name), "a member of the envelope nobody reads")
    inner = read_object(outer["oslo.message"])
    for name, value in inner.items():
        if name.startswith("_context_") and name not in vocabulary.CONTEXT:
            yield Finding(name, "a member of the request context")
        else:
            yield from _of_member(name, value, "", 1)


def _of_member(name: str, value: Any, above: str, depth: int) -> Iterator[Finding]:
    path = f"{above}{_shown(name)}"
    if vocabulary.is_secret(name):
        yield Finding(path, "a secret, by its name")
    elif name in vocabulary.FREE:
        yield Finding(path, "free text, by its name")
    elif depth > DEPTH_MAX:
        yield Finding(path, "something nested too deep to look into")
    else:
        if not MEMBER.fullmatch(name) and not forms.is_pseudonymous(name):
            yield Finding(path, "a member named by somebody")
        yield from _of_value(name, value, path, depth)


def _of_value(member: str, value: Any, path: str, depth: int) -> Iterator[Finding]:
    if isinstance(value, dict):
        for name, child in value.items():
            yield from _of_member(name, child, f"{path}.", depth + 1)
    elif isinstance(value, list):
        for child in value:
            yield from _of_value(member, child, f"{path}[]", depth + 1)
    elif isinstance(value, str) and not _stays(value, member):
        yield Finding(path, forms.what_it_looks_like(value))


def _stays(text: str, member: str) -> bool:
    if kept_as_it_is(text, member) or forms.is_pseudonymous(text):
        return True
    service, _, host = text.partition(".")
    return (
        member == "publisher_id" and service in vocabulary.SERVICES and forms.is_pseudonymous(host)
    )


def _of_oracle(oracle: Any) -> Iterator[Finding]:
    rows = [("resources", "resource_id"), ("counts", "project_id"), ("traffic", "resource_id")]
    found = [(f"{name}.{member}", row[member]) for name, member in rows for row in oracle[name]]
    found += [
        ("resources.intervals.project_id", interval["project_id"])
        for resource in oracle["resources"]
        for interval in resource["intervals"]
    ]
    for path, text in found:
        if not forms.is_pseudonymous(text):
            yield Finding(f"oracle.{path}", forms.what_it_looks_like(text))


def _shown(name: str) -> str:
    return name if MEMBER.fullmatch(name) else _NAMELESS
