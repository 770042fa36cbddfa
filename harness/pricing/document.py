"""YAML as plain values with exact numbers: texts, decimals, booleans, nulls, lists, mappings.

PyYAML reads the events; what a plain scalar means is resolved here by YAML 1.2's core schema,
because the library's own resolution makes floats of prices and booleans of states such as
``off``, and its loaders let the second of two equal keys win.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import yaml

MOST_BYTES = 16 * 1024 * 1024
MOST_VALUES = 1048576
MOST_DEPTH = 64

_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,3})?")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAGS = "tag:yaml.org,2002:"


class Offence(Exception):
    """What is wrong, and at which member; `path` is empty for the document itself."""

    def __init__(self, path: str, text: str) -> None:
        super().__init__(text)
        self.path = path
        self.text = text


def join(path: str, member: str) -> str:
    """Extend the path of a mapping by a member's name."""
    return f"{path}.{member}" if path else member


@dataclass(frozen=True, slots=True)
class _Built:
    """A value with how many values it holds, itself included, and how deep it nests."""

    value: Any
    count: int
    depth: int


class _Builder:
    """Builds the one document of a stream of parser events."""

    def __init__(self, text: str) -> None:
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=_LOADER)
        self._anchors: dict[str, _Built] = {}
        self._count = 0

    def build(self) -> Any:
        """Return the value of the only document."""
        built: _Built | None = None
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                if built is not None:
                    raise Offence("", "holds more than one YAML document; a model is one")
                built = self._node(next(self._events), "", 1)
        if built is None:
            raise Offence("", "is empty; a model is one YAML mapping")
        return built.value

    def _node(self, event: yaml.Event, path: str, depth: int) -> _Built:
        if isinstance(event, yaml.AliasEvent):
            built = self._anchors.get(event.anchor or "")
            if built is None:
                raise Offence(path, f'refers to "*{event.anchor}", which is not complete here')
            self._spend(path, built.count, depth + built.depth - 1)
            return built
        self._spend(path, 1, depth)
        if isinstance(event, yaml.MappingStartEvent):
            built = self._mapping(event, path, depth)
        elif isinstance(event, yaml.SequenceStartEvent):
            built = self._sequence(event, path, depth)
        else:
            assert isinstance(event, yaml.ScalarEvent)  # noqa: S101 - the parser's grammar
            built = _Built(_scalar(event, path), 1, 1)
        anchor = getattr(event, "anchor", None)
        if anchor is not None:
            self._anchors[anchor] = built
        return built

    def _spend(self, path: str, count: int, depth: int) -> None:
        self._count += count
        if self._count > MOST_VALUES:
            raise Offence(path, f"the document holds more than {MOST_VALUES} values")
        if depth > MOST_DEPTH:
            raise Offence(path, f"nests deeper than {MOST_DEPTH} levels")

    def _mapping(self, event: yaml.MappingStartEvent, path: str, depth: int) -> _Built:
        _known_tag(event, "map", path)
        mapping: dict[str, Any] = {}
        count, deepest = 1, 0
        for key_event in self._events:
            if isinstance(key_event, yaml.MappingEndEvent):
                break
            key = self._node(key_event, join(path, "(key)"), depth + 1)
            if not isinstance(key.value, str):
                raise Offence(path, f"the key {_shown(key_event)} is no string; quote it")
            if key.value in mapping:
                raise Offence(join(path, key.value), "stands twice; state it once")
            value = self._node(next(self._events), join(path, key.value), depth + 1)
            mapping[key.value] = value.value
            count += key.count + value.count
            deepest = max(deepest, value.depth)
        return _Built(mapping, count, deepest + 1)

    def _sequence(self, event: yaml.SequenceStartEvent, path: str, depth: int) -> _Built:
        _known_tag(event, "seq", path)
        values: list[Any] = []
        count, deepest = 1, 0
        for item_event in self._events:
            if isinstance(item_event, yaml.SequenceEndEvent):
                break
            value = self._node(item_event, f"{path}[{len(values)}]", depth + 1)
            values.append(value.value)
            count += value.count
            deepest = max(deepest, value.depth)
        return _Built(values, count, deepest + 1)


def _known_tag(event: Any, kind: str, path: str) -> None:
    if event.tag not in {None, "!", _TAGS + kind}:
        raise Offence(path, f'carries the tag "{event.tag}"; leave it out')


def _scalar(event: yaml.ScalarEvent, path: str) -> Any:
    """Resolve a scalar by the core schema."""
    text: str = event.value
    if event.tag is not None and event.tag not in {"!", _TAGS + "str"}:
        raise Offence(path, f'carries the tag "{event.tag}"; leave it out')
    if event.tag is not None or event.style:
        return text
    if text in {"", "~", "null", "Null", "NULL"}:
        return None
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if _NUMBER.fullmatch(text):
        return Decimal(text) if len(text) <= 64 else text
    return text


def _shown(event: yaml.Event) -> str:
    return f'"{event.value}"' if isinstance(event, yaml.ScalarEvent) else "that is a collection"


def load(content: bytes) -> Any:
    """Read one YAML document.

    Raises:
        Offence: no UTF-8, no YAML, more than one document, a repeated key or one that is no
            string, or beyond the bounds of size, depth or count.
    """
    if len(content) > MOST_BYTES:
        raise Offence("", f"is larger than {MOST_BYTES} bytes")
    try:
        return _Builder(content.decode("utf-8-sig")).build()
    except UnicodeDecodeError as error:
        raise Offence("", f"is not UTF-8: {error.reason} at byte {error.start}") from error
    except yaml.YAMLError as error:
        raise Offence("", f"is not YAML: {' '.join(str(error).split())}") from error
