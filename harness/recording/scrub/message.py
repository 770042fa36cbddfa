"""Scrubbing one message."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from harness.oslo import Notification
from harness.recording.instants import head
from harness.recording.scrub import vocabulary, words
from harness.recording.scrub.forms import HEX, UUID, is_member
from harness.recording.scrub.pseudonyms import Pseudonyms

#: What is nested deeper goes.
DEPTH_MAX = 50

_VERSION = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3})*")

_decode = msgspec.json.Decoder(float_hook=lambda text: msgspec.Raw(text.encode())).decode
_encode = msgspec.json.encode


class Scrubber:
    """Scrubs messages under one key."""

    def __init__(self, pseudonyms: Pseudonyms, *, allow_list: bool) -> None:
        """Scrub.

        Args:
            pseudonyms: stand for what may not stay.
            allow_list: keep only what the mapping and the fold read.
        """
        self._pseudonym = pseudonyms
        self._allow_list = allow_list

    def __call__(self, notification: Notification) -> Notification:
        """Return the message scrubbed; one that is no notification becomes another such one."""
        exchange, key = notification.exchange, notification.routing_key
        return Notification(
            exchange if words.is_usual_exchange(exchange) else self._pseudonym(exchange, ""),
            key if words.is_usual_key(key) else self._pseudonym(key, ""),
            self.body(notification.body),
        )

    def body(self, body: bytes) -> bytes:
        """Return a body scrubbed: an envelope of version and message, and nothing else."""
        if head(body) is None:
            text = body.decode("utf-8", "surrogateescape")
            return f"unparseable {self._pseudonym.name(text, 'text')}".encode()
        outer = read_object(body)
        version = outer.get("oslo.version")
        kept = version if isinstance(version, str) and _VERSION.fullmatch(version) else "2.0"
        inner = self._message(read_object(outer["oslo.message"]))
        return _encode({"oslo.version": kept, "oslo.message": _encode(inner).decode()})

    def _message(self, inner: dict[str, Any]) -> dict[str, Any]:
        if self._allow_list:
            inner = {name: inner[name] for name in inner if name in vocabulary.READ_OF_MESSAGE}
            payload = inner.get("payload")
            if isinstance(payload, dict):
                inner["payload"] = _read_of(payload)
        kept = {
            name: value
            for name, value in inner.items()
            if not name.startswith("_context_") or name in vocabulary.CONTEXT
        }
        scrubbed: dict[str, Any] = self._value(kept, "", 0)
        return scrubbed

    def _value(self, value: Any, member: str, depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value, member)
        if isinstance(value, dict):
            if depth >= DEPTH_MAX:
                return {}
            return {
                self._name(name): self._value(child, name, depth + 1)
                for name, child in value.items()
                if not vocabulary.is_secret(name) and name not in vocabulary.FREE
            }
        if isinstance(value, list):
            if depth >= DEPTH_MAX:
                return []
            return [self._value(child, member, depth + 1) for child in value]
        return value

    def _name(self, name: str) -> str:
        return name if is_member(name) else self._pseudonym(name, "key_name")

    def _text(self, text: str, member: str) -> str:
        if kept_as_it_is(text, member):
            return text
        if member == "publisher_id":
            service, dot, host = text.partition(".")
            if dot and service in vocabulary.SERVICES:
                return f"{service}.{self._pseudonym.name(host, 'host')}"
        return self._pseudonym(text, member)


def _read_of(payload: dict[str, Any]) -> dict[str, Any]:
    """Return what billing reads of a payload; of lists that are counted, as many empty objects."""
    read = {name: payload[name] for name in payload if name in vocabulary.READ_OF_PAYLOAD}
    for name in vocabulary.COUNTED & read.keys():
        if isinstance(read[name], list):
            read[name] = [{}] * len(read[name])
    floating = read.get("floatingip")
    if isinstance(floating, dict):
        read["floatingip"] = {
            name: floating[name] for name in floating if name in vocabulary.READ_OF_FLOATING_IP
        }
    return read


def kept_as_it_is(text: str, member: str) -> bool:
    """Tell whether a text stays: amounts depend on it, or it is one of a service's own words."""
    if member in vocabulary.BILLED:
        return not (UUID.fullmatch(text) or HEX.fullmatch(text))
    return member in vocabulary.WORDS and words.is_word(text)


def read_object(text: str | bytes) -> dict[str, Any]:
    """Decode an object, every number with its own digits."""
    try:
        decoded = _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        # Lone surrogates and numbers of thousands of digits, which collectors read.
        decoded = json.loads(
            text,
            parse_float=lambda number: msgspec.Raw(number.encode()),
            parse_int=lambda number: msgspec.Raw(number.encode()),
        )
    return decoded if isinstance(decoded, dict) else {}
