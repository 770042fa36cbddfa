"""Looking for what looks private in a recording, without ever saying what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.recording import files
from harness.recording.instants import head
from harness.recording.manifest import Manifest
from harness.recording.recording import EVENTS, Recording
from harness.recording.scrub import forms, vocabulary, words
from harness.recording.scrub.forms import is_member
from harness.recording.scrub.message import DEPTH_MAX, kept_as_it_is, read_object
from harness.recording.scrub.oracle import RATED, decode_oracle

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
    for finding in _of_manifest(recording.manifest):
        yield 0, finding
    for number, notification in enumerate(recording.notifications(), 1):
        for finding in _of_place(notification.exchange, notification.routing_key, ""):
            yield number, finding
        for finding in _of_body(notification.body):
            yield number, finding
    if recording.oracle is not None:
        oracle = decode_oracle(files.document(recording.oracle))
        for finding in _of_oracle(oracle, "", "oracle"):
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
        if not is_member(name) and not forms.is_pseudonymous(name):
            yield Finding(path, "a member named by somebody")
        yield from _of_value(name, value, path, depth)


def _of_value(member: str, value: Any, path: str, depth: int) -> Iterator[Finding]:
    if isinstance(value, dict):
        for name, child in value.items():
            yield from _of_member(name, child, f"{path}.", depth + 1)
    elif isinstance(value, list):
        for child in value:
            yield from _of_value(member, child, f"{path}[]", depth + 1)
    elif isinstance(value, str):
        if not _stays(value, member):
            yield Finding(path, forms.what_it_looks_like(value))
        elif member in vocabulary.BILLED:
            what = _of_kept(value) if member == "event_type" else forms.looks_private(value)
            if what:
                yield Finding(path, what)


def _stays(text: str, member: str) -> bool:
    if kept_as_it_is(text, member) or forms.is_pseudonymous(text):
        return True
    service, _, host = text.partition(".")
    return (
        member == "publisher_id" and service in vocabulary.SERVICES and forms.is_pseudonymous(host)
    )


def _of_oracle(value: Any, member: str, path: str) -> Iterator[Finding]:
    if isinstance(value, dict):
        for name, child in value.items():
            below = f"{path}.{_shown(name)}"
            if not is_member(name) and not forms.is_pseudonymous(name):
                yield Finding(below, "a member named by somebody")
            yield from _of_oracle(child, name, below)
    elif isinstance(value, list):
        for child in value:
            yield from _of_oracle(child, member, path)
    elif isinstance(value, str):
        if member in RATED or member in {"cloud", "event_type"}:
            what = _of_kept(value) if member == "event_type" else forms.looks_private(value)
            if what:
                yield Finding(path, what)
        elif not words.is_usual_of_oracle(value, member) and not forms.is_pseudonymous(value):
            yield Finding(path, forms.what_it_looks_like(value))


def _of_place(exchange: str, key: str, path: str) -> Iterator[Finding]:
    if not words.is_usual_exchange(exchange) and not forms.is_pseudonymous(exchange):
        yield Finding(f"{path}exchange", forms.what_it_looks_like(exchange))
    if not words.is_usual_key(key) and not forms.is_pseudonymous(key):
        yield Finding(f"{path}routing_key", forms.what_it_looks_like(key))


def _of_manifest(manifest: Manifest) -> Iterator[Finding]:
    for exchange in manifest.exchanges:
        yield from _of_place(exchange, "", "manifest.")
    for key in manifest.routing_keys:
        yield from _of_place("", key, "manifest.")
    if manifest.ended not in words.ENDINGS:
        yield Finding("manifest.ended", "a name or a text")
    stated = [("cloud", manifest.cloud), ("tool", manifest.tool.removeprefix("tally-harness "))]
    stated += [("types", name) for name in manifest.types]
    for path, text in stated:
        what = _of_kept(text) if path == "types" else forms.looks_private(text)
        if what:
            yield Finding(f"manifest.{path}", what)


def _of_kept(event_type: str) -> str:
    """Say what an event type looks like; of host names, which it is like, only the usual ones."""
    what = forms.looks_private(event_type)
    return "" if what == "a host name" else what


def _shown(name: str) -> str:
    return name if is_member(name) else _NAMELESS
