"""The envelope parser: one outcome for every shape of body."""

import contextlib
import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.oslo import Envelope, Literal, Unparseable, parse
from harness.oslo.envelope import BODY_MAX, _decode_slowly, _decoder, rfc3339

STAMP = "2026-07-01 02:20:00.000000"


def body(inner, **outer):
    text = inner if isinstance(inner, str) else json.dumps(inner)
    return json.dumps({"oslo.version": "2.0", "oslo.message": text} | outer).encode()


def refused(data):
    with pytest.raises(Unparseable) as error:
        parse(data)
    return str(error.value)


def test_reads_every_member():
    read = parse(
        body(
            {
                "message_id": "m",
                "event_type": "volume.create.end",
                "timestamp": STAMP,
                "payload": {"size": 5, "ratio": 1.5},
                "_context_project_id": "p",
                "_context_tenant_id": "t",
            }
        )
    )
    assert read == Envelope(
        "m",
        "volume.create.end",
        1782872400_000_000_000,
        {"size": 5, "ratio": Literal("1.5")},
        "p",
        "t",
    )


def test_only_the_timestamp_is_mandatory():
    assert parse(body({"timestamp": STAMP})) == Envelope("", "", 1782872400_000_000_000, {}, "", "")


@pytest.mark.parametrize("odd", [None, 5, 1.5, True, [], {}])
def test_members_of_another_type_count_as_absent(odd):
    inner = dict.fromkeys(
        ("message_id", "event_type", "_context_project_id", "_context_tenant_id"), odd
    )
    read = parse(body(inner | {"timestamp": STAMP}))
    assert (read.message_id, read.event_type, read.project_id, read.tenant_id) == ("", "", "", "")


@pytest.mark.parametrize("odd", [None, 5, True, [], "text"])
def test_a_payload_that_is_no_object_is_empty(odd):
    assert parse(body({"timestamp": STAMP, "payload": odd})).payload == {}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2026-07-01 02:20:00.000000", "2026-07-01T02:20:00Z"),
        ("2026-07-01 02:20:00", "2026-07-01T02:20:00Z"),
        ("2026-07-01 02:20:00.120000", "2026-07-01T02:20:00.12Z"),
        ("2026-07-01T02:20:00Z", "2026-07-01T02:20:00Z"),
        ("2026-07-01T02:20:00.000001Z", "2026-07-01T02:20:00.000001Z"),
        ("2026-07-01T02:20:00.123456789Z", "2026-07-01T02:20:00.123456789Z"),
        ("2026-07-01T02:20:00.1234567899Z", "2026-07-01T02:20:00.123456789Z"),
        ("2026-07-01T02:20:00+02:00", "2026-07-01T00:20:00Z"),
        ("2026-07-01T02:20:00.5-09:30", "2026-07-01T11:50:00.5Z"),
        ("2026-07-01T02:20:00.5", "2026-07-01T02:20:00.5Z"),
        ("1969-12-31 23:59:59.5", "1969-12-31T23:59:59.5Z"),
        ("0001-01-01 00:00:00", "0001-01-01T00:00:00Z"),
        ("9999-12-31 23:59:59.999999", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_layouts_of_the_timestamp(text, written):
    assert rfc3339(parse(body({"timestamp": text})).timestamp) == written


@pytest.mark.parametrize("text", [None, ""])
def test_no_timestamp(text):
    assert refused(body({"timestamp": text})) == "the notification is without a timestamp"
    assert refused(body({})) == "the notification is without a timestamp"


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "2026-02-30 00:00:00",
        "2026-07-01 24:00:00",
        "2026-07-01",
        "2026-07-01 02:20",
        "2026-07-01T02:20:00.Z",
        "2026-07-01T02:20:00+24:00",
        "2026-07-01T02:20:00 Z",
        "\u0662026-07-01 02:20:00",
        "2026-07-01 02:20:00\n",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-00:01",
        1782872400,
        True,
        [],
    ],
)
def test_unknown_layouts_of_the_timestamp(text):
    assert "in no known layout" in refused(body({"timestamp": text}))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "decoding the envelope"),
        (b"null", "not an object but null"),
        (b"[]", "not an object but an array"),
        (b'"{}"', "not an object but a string"),
        (b"true", "not an object but a boolean"),
        (b"1.5", "not an object but a number"),
        (b"{", "decoding the envelope"),
        (b"{}", "the envelope lacks oslo.message"),
        (b'{"oslo.message":{}}', "oslo.message is no text but an object"),
        (b'{"oslo.message":null}', "oslo.message is no text but null"),
        (b'{"oslo.message":"{"}', "decoding the inner message"),
        (b'{"oslo.message":"[]"}', "decoding the inner message: not an object but an array"),
        (b'{"oslo.message":"{\\"timestamp\\":NaN}"}', "decoding the inner message"),
        (b'{"oslo.message":"{\\"a\\":Infinity}"}', "decoding the inner message"),
        (b'{"oslo.message":"{}"} x', "decoding the envelope"),
        (b"\xef\xbb\xbf" + body({"timestamp": STAMP}), "decoding the envelope"),
        (body({"timestamp": STAMP, "a": "ä"}).decode().encode("utf-16"), "decoding the envel"),
        (b'{"oslo.message":"{}","a":"\xe4"}', "decoding the envelope"),
        (b'{"oslo.message":"{\\"a\\":\\"\xff\\"}"}', "decoding the envelope"),
        (gzip.compress(body({"timestamp": STAMP})), "decoding the envelope"),
    ],
)
def test_bodies_that_are_no_notification(data, reason):
    assert reason in refused(data)


def test_the_bound_of_a_body():
    frame = len(body({"timestamp": STAMP, "a": ""}))
    fits = body({"timestamp": STAMP, "a": "x" * (BODY_MAX - frame)})
    assert len(fits) == BODY_MAX
    assert parse(fits).timestamp
    assert refused(fits + b" ") == "the body has 1048577 bytes; at most 1048576 are read"


def test_of_duplicate_members_the_last_one_counts():
    inner = f'{{"event_type":"a","event_type":"b","timestamp":"x","timestamp":"{STAMP}"}}'
    outer = f'{{"oslo.message":"{{","oslo.message":{json.dumps(inner)}}}'
    assert parse(outer.encode()).event_type == "b"


@pytest.mark.parametrize("text", ["\\u0000", "\\ud800", "a\\udfffb"])
def test_odd_characters_are_kept(text):
    inner = f'{{"message_id":"{text}","timestamp":"{STAMP}"}}'
    assert parse(body(inner)).message_id == json.loads(f'"{text}"')


def test_a_lone_surrogate_in_the_outer_text_is_kept():
    data = b'{"oslo.message":"{\\"message_id\\":\\"\\udc00\\",\\"timestamp\\":\\"%s\\"}"}'
    assert parse(data % STAMP.encode()).message_id == "\udc00"


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [3, 249, 250, 251, 500, 998, 999, 1000, 1001, 5000, 90000])
def test_nesting(opening, depth):
    closing = {"[": "]", '{"a":': "}"}[opening]
    inner = f'{{"timestamp":"{STAMP}","event_type":"deep","payload":%s}}'
    data = body(inner % (opening * (depth - 1) + "0" + closing * (depth - 1)))
    if depth <= 1000:
        assert parse(data).event_type == "deep"
    else:
        assert "nested deeper than 1000 levels" in refused(data)


def test_nesting_of_the_outer_object():
    message = json.dumps(json.dumps({"timestamp": STAMP}))
    for depth, fits in ((999, True), (1000, False)):
        data = f'{{"x":{"[" * depth}{"]" * depth},"oslo.message":{message}}}'.encode()
        if fits:
            assert parse(data).timestamp
        else:
            assert "nested deeper" in refused(data)


def test_a_deep_subtree_that_is_no_json_is_refused():
    inner = f'{{"timestamp":"{STAMP}","payload":{"[" * 600}1 2{"]" * 600}}}'
    assert "decoding the inner message" in refused(body(inner))
    inner = f'{{"timestamp":"{STAMP}","payload":{"[" * 600}{"]" * 599}}}'
    assert "decoding the inner message" in refused(body(inner))
    inner = f'{{"timestamp":"{STAMP}","payload":{"[" * 600}{"]" * 601}}}'
    assert "decoding the inner message" in refused(body(inner))


def test_many_brackets_that_are_not_deep_change_nothing():
    payload = {"list": [[1]] * 400, "text": "[" * 2000 + '\\"{'}
    assert parse(body({"timestamp": STAMP, "payload": payload})).payload == payload


@pytest.mark.parametrize("digits", [10, 19, 20, 309, 4000, 4301, 100_000])
def test_integers_of_any_length_are_read(digits):
    inner = f'{{"timestamp":"{STAMP}","event_type":"e","payload":{{"n":{"9" * digits}}}}}'
    assert parse(body(inner)).event_type == "e"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)


@settings(max_examples=100, deadline=None)
@given(json_values, st.booleans())
def test_both_decoders_agree(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert _decoder.decode(text) == _decode_slowly(text)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_damage_is_read_or_refused(data):
    whole = body({"timestamp": STAMP, "payload": data.draw(json_values)})
    at = data.draw(st.integers(0, len(whole) - 1))
    cut = data.draw(st.integers(at, len(whole)))
    damaged = whole[:at] + data.draw(st.binary(max_size=4)) + whole[cut:]
    with contextlib.suppress(Unparseable):
        assert isinstance(parse(damaged).payload, dict)
