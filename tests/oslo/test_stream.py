from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.oslo import EXCHANGES, Notification
from harness.oslo.render import document, envelope
from harness.oslo.stream import LINE_MAX, StreamError, read_stream, write_stream

BODY = envelope(document({"timestamp": "2026-07-01 00:00:00.000000", "event_type": "a.b"}))
NOTIFICATION = Notification("nova", "notifications.info", BODY)


def test_bodies_keep_their_bytes(tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    odd = b'{ "oslo.version" : "2.0",  "oslo.message":"{\\"timestamp\\":\\"2026-07-01 00:00:00\\",\\"n\\":1.50}" }'
    notifications = [NOTIFICATION, Notification("openstack", "notifications.error", odd)]
    assert write_stream(path, notifications) == 2
    assert list(read_stream(path)) == notifications
    assert path.read_bytes().splitlines()[1] == (
        b'{"exchange":"openstack","routing_key":"notifications.error","body":' + odd + b"}"
    )


def test_the_last_line_may_lack_its_end(tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    write_stream(path, [NOTIFICATION])
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    assert list(read_stream(path)) == [NOTIFICATION]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.builds(
            lambda exchange, key, text: Notification(
                exchange,
                key,
                envelope(document({"timestamp": "2026-07-01 00:00:00", "payload": {"text": text}})),
            ),
            st.sampled_from(EXCHANGES),
            st.text(st.characters(exclude_categories=("Cs",))),
            st.text(st.characters(exclude_categories=("Cs",))),
        ),
        min_size=1,
    )
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, notifications: list[Notification]
) -> None:
    path = tmp_path_factory.mktemp("stream") / "stream.jsonl"
    write_stream(path, notifications)
    assert list(read_stream(path)) == notifications


def test_lines_are_read_up_to_the_bound(tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    bare = len(b'{"exchange":"nova","routing_key":"","body":}') + len(BODY)
    for excess in (0, 1):
        write_stream(path, [Notification("nova", "k" * (LINE_MAX - bare + excess), BODY)])
        if excess:
            with pytest.raises(StreamError, match=r"line 1: the line is longer than 1048576 bytes"):
                list(read_stream(path))
        else:
            assert len(list(read_stream(path))) == 1


def line(**members: object) -> str:
    whole = {"exchange": "nova", "routing_key": "notifications.info", "body": json.loads(BODY)}
    return json.dumps({**whole, **members})


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "not a line of exchange, routing_key and body"),
        ("{", "not a line of exchange, routing_key and body"),
        ("[]", "not a line of exchange, routing_key and body"),
        ('{"exchange":"nova","body":{}}', "missing required field `routing_key`"),
        (line(exchange="cinder"), 'exchange "cinder" is none of'),
        (line(exchange=1), "not a line of exchange"),
        (line(body=None), "null"),
        (line(body={"oslo.version": "2.0"}), "oslo.message"),
        (line(body={"oslo.message": "{}"}), "timestamp"),
        (line(body={"oslo.message": '{"timestamp": "soon"}'}), "soon"),
        (line(body={"oslo.message": '{"timestamp": "2026'}), "Unterminated string"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str, cause: str) -> None:
    path = tmp_path / "stream.jsonl"
    path.write_text(f"{line()}\n{text}\n{line()}\n")
    with pytest.raises(StreamError) as refusal:
        list(read_stream(path))
    assert str(refusal.value).startswith(f"{path}: line 2: ")
    assert cause in str(refusal.value)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    path.touch()
    with pytest.raises(StreamError, match="holds no notifications"):
        list(read_stream(path))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match=r"reading .*gone.jsonl: No such file"):
        list(read_stream(tmp_path / "gone.jsonl"))


def test_an_unwritable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match=r"writing .*nowhere/stream.jsonl: No such file"):
        write_stream(tmp_path / "nowhere" / "stream.jsonl", [NOTIFICATION])
