from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.oslo import Notification
from harness.oslo.render import document, envelope, line

texts = st.text(st.characters(exclude_categories=("Cs",)))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def reference(members: object) -> bytes:
    """Write with the standard library, then put the five escapes in."""
    text = json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode()


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(texts, values, max_size=5))
def test_documents_are_what_the_standard_library_writes(members: dict[str, object]) -> None:
    assert document(members) == reference(members)


def test_members_stand_in_byte_order_at_every_depth() -> None:
    assert document(
        {"b": {"router:external": 1, "project_id": 2, "shared": 3}, "_a": [], "B": {}}
    ) == (b'{"B":{},"_a":[],"b":{"project_id":2,"router:external":1,"shared":3}}')


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('"', r"\""),
        ("\\", r"\\"),
        ("\b\f\n\r\t", r"\b\f\n\r\t"),
        ("\x00\x01\x1f", r"\u0000\u0001\u001f"),
        ("<>&", r"\u003c\u003e\u0026"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("/\x7f", "/\x7f"),
        ("zürich \u20ac \U0001f600 \u202a", "zürich \u20ac \U0001f600 \u202a"),
    ],
)
def test_characters(text: str, written: str) -> None:
    assert document({"k": text}) == f'{{"k":"{written}"}}'.encode()


def test_the_message_is_encoded_twice() -> None:
    assert envelope(document({"k": '"&'})) == (
        rb'{"oslo.message":"{\"k\":\"\\\"\\u0026\"}","oslo.version":"2.0"}'
    )


@pytest.mark.parametrize(
    ("cut", "marks"), [(1, 1), (2, 2), (3, 0)], ids=["one byte", "two bytes", "whole"]
)
def test_a_cut_character_leaves_one_mark_a_byte(cut: int, marks: int) -> None:
    fragment = b'{"k":"' + "\u20ac".encode()[:cut]
    written = json.loads(envelope(fragment))["oslo.message"]
    assert written == '{"k":"' + ("\ufffd" * marks or "\u20ac")


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=40))
def test_any_fragment_makes_a_valid_envelope(fragment: bytes) -> None:
    body = json.loads(envelope(fragment))
    assert set(body) == {"oslo.message", "oslo.version"}
    assert "\ufffd" in body["oslo.message"] or body["oslo.message"].encode() == fragment


def test_a_line_has_its_members_in_order() -> None:
    assert line(Notification("nova", "notifications.info", b'{"a":1}')) == (
        b'{"exchange":"nova","routing_key":"notifications.info","body":{"a":1}}\n'
    )
