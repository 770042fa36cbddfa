import base64
import gzip
import hashlib
import json
import shutil
import stat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.oslo import Notification
from harness.recording import files, lines
from harness.recording.errors import RecordingError
from harness.recording.files import zstd
from harness.recording.recording import Recording
from harness.recording.scrub import Pseudonyms, findings, scrub
from harness.recording.writer import RecordingWriter

ODD = [
    b"",
    b"not json",
    b"\xff\xfe",
    b"7",
    b"[1]",
    b"null",
    b'"text"',
    b"{}",
    b' {"a": 1}',
    b'{"a": 1}\n',
    b'{"a":\r 1}',
    b'{"a": "\xff"}',
    b'{"a": 1} trailing}',
    b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    b'{"a":1,"a":2}',
    b'{"oslo.message": "{}", "oslo.version": "2.0"}',
]


@pytest.mark.parametrize("body", ODD, ids=range(len(ODD)))
def test_any_body_comes_back_as_it_was(body):
    given = Notification("exchange é", "a.b", body)
    line = lines.write(given)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert lines.read(line[:-1]) == given
    plain = json.loads(line).get("body_base64") is None
    assert plain == (body in ODD[7:8] + ODD[14:])


@settings(max_examples=100, deadline=None)
@given(
    st.text(),
    st.text(),
    st.one_of(
        st.binary(), st.dictionaries(st.text(), st.text()).map(lambda d: json.dumps(d).encode())
    ),
)
def test_lines_lose_nothing(exchange, key, body):
    exchange, key = (text.encode("utf-8", "replace").decode() for text in (exchange, key))
    given = Notification(exchange, key, body)
    assert lines.read(lines.write(given)[:-1]) == given


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b'{"exchange":"a","routing_key":"b"}',
        b'{"exchange":"a","body":{}}',
        b'{"exchange":"a","routing_key":"b","body":7}',
        b'{"exchange":"a","routing_key":"b","body":{},"body_base64":""}',
        b'{"exchange":"a","routing_key":"b","body_base64":"*"}',
        b'{"exchange":"a","routing_key":"b","body":{},"more":1}',
        b'{"exchange":1,"routing_key":"b","body":{}}',
        b'{"exchange":"a","routing_key":"b","body":' + b"[" * 100_000,
    ],
)
def test_other_lines_are_refused(line):
    with pytest.raises(RecordingError, match=r"body|exchange|JSON|line"):
        lines.read(line)


@pytest.mark.parametrize("compression", ["zstd", "gzip", "none"])
def test_what_is_written_is_read_back(make, compression):
    given = [Notification("x", "k", body) for body in ODD]
    recording = make(given, compression=compression)
    assert list(recording.notifications()) == given
    assert recording.check().notifications == len(given)
    for path in recording.path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(recording.path.stat().st_mode) == 0o700


def test_the_manifest_says_what_is_there(make, message):
    given = [
        message(1, "b", "2026-07-02 00:00:00"),
        message(2, "a", "2026-07-01 00:00:00.5"),
        message(3, "b", "2026-07-03T00:00:00Z"),
        Notification("x", "k", b"noise"),
    ]
    manifest = json.loads((make(given).path / "manifest.json").read_bytes())
    assert manifest["format"] == 1
    assert manifest["tool"].startswith("tally-harness ")
    assert manifest["exchanges"] == ["nova", "x"]
    assert manifest["routing_keys"] == ["k", "notifications.info"]
    assert manifest["from"] == "2026-07-01T00:00:00.5Z"
    assert manifest["to"] == "2026-07-03T00:00:00Z"
    assert manifest["notifications"] == 4
    assert manifest["unparseable"] == 1
    assert manifest["types"] == {"a": 1, "b": 2}
    assert manifest["ended"] == "complete"
    assert list(manifest["files"]) == ["notifications.jsonl.zst"]
    assert manifest["scrub"] is None


def test_the_same_messages_give_the_same_files(make, message):
    given = [message(n) for n in range(50)]
    for compression in ("zstd", "gzip"):
        first = make(given, f"a-{compression}", compression=compression)
        second = make(given, f"b-{compression}", compression=compression)
        for path in first.path.iterdir():
            assert path.read_bytes() == (second.path / path.name).read_bytes()


def test_a_directory_in_use_is_not_written_to(tmp_path):
    (tmp_path / "other").write_text("x")
    with pytest.raises(RecordingError, match="not empty"):
        RecordingWriter(tmp_path)
    assert (tmp_path / "other").read_text() == "x"


# -- what is not whole is refused -----------------------------------------------------------------


@pytest.fixture
def whole(make, message):
    return make([message(n) for n in range(300)])


def refused(recording, match):
    with pytest.raises(RecordingError, match=match):
        Recording.open(recording.path).check()


def edit(recording, **members):
    path = recording.path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | members))


def test_a_truncated_stream(whole):
    stream = whole.stream
    stream.write_bytes(stream.read_bytes()[:-10])
    refused(whole, "truncated")


def test_an_altered_length(whole):
    with whole.stream.open("ab") as file:
        file.write(b"x")
    refused(whole, "altered")


def test_any_flipped_byte(whole):
    content = whole.stream.read_bytes()
    for position in range(0, len(content), 7):
        flipped = bytearray(content)
        flipped[position] ^= 0x10
        whole.stream.write_bytes(flipped)
        refused(whole, "altered")


def test_a_truncated_stream_whose_manifest_was_mended(whole):
    stream = whole.stream
    torn = stream.read_bytes()[:-10]
    stream.write_bytes(torn)
    stored = {"bytes": len(torn), "sha256": hashlib.sha256(torn).hexdigest()}
    edit(whole, files={stream.name: stored})
    refused(whole, "reading|manifest, and the stream")


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("notifications", 299),
        ("unparseable", 1),
        ("types", {"compute.instance.update": 299}),
        ("exchanges", ["neutron"]),
        ("routing_keys", []),
        ("from", "2026-07-01T00:00:00Z"),
        ("to", None),
    ],
)
def test_a_wrong_count(whole, member, value):
    edit(whole, **{member: value})
    refused(whole, f"(?s){member}.*manifest")


@pytest.mark.parametrize(
    ("stated", "match"),
    [
        (2, "format 2, newer.*update"),
        (0, "no known"),
        (-1, "no known"),
        ("1", "no format"),
        (True, "no format"),
        (None, "no format"),
    ],
)
def test_another_format(whole, stated, match):
    edit(whole, format=stated)
    refused(whole, match)


def test_a_newer_manifest_of_another_shape_says_it_is_newer(whole):
    (whole.path / "manifest.json").write_text('{"format": 7, "anything": {"else": []}}')
    refused(whole, "format 7, newer")


def test_two_manifests(whole):
    shutil.copy(whole.path / "manifest.json", whole.path / "manifest.json.orig")
    refused(whole, r"manifest\.json and manifest\.json\.orig")


def test_two_manifests_in_one_file(whole):
    path = whole.path / "manifest.json"
    path.write_bytes(path.read_bytes() * 2)
    refused(whole, "not one JSON document")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"{}", b"[" * 100_000])
def test_no_manifest(whole, content):
    (whole.path / "manifest.json").write_bytes(content)
    refused(whole, "manifest.json")


def test_a_recording_that_was_never_finished(tmp_path, message):
    writer = RecordingWriter(tmp_path / "torn")
    writer.add(message())
    with pytest.raises(RecordingError, match="never finished"):
        Recording.open(tmp_path / "torn")
    writer.discard()
    assert not (tmp_path / "torn").exists()


def test_two_streams(whole):
    (whole.path / "notifications.jsonl").write_bytes(b"")
    refused(whole, r"notifications\.jsonl and notifications\.jsonl\.zst")


def test_an_oracle_nobody_vouches_for(whole):
    (whole.path / "oracle.json").write_bytes(b"{}")
    refused(whole, "not named by the manifest")


def test_an_altered_oracle(make, message):
    recording = make([message()], oracle=b"{} ", compression="none")
    (recording.path / "oracle.json").write_bytes(b"{}\n")
    refused(recording, "oracle.json was altered")


def test_a_missing_file(whole):
    whole.stream.unlink()
    refused(whole, "lacks notifications")


@pytest.mark.parametrize("name", ["../../etc/passwd", "a\0b", "", ".", ".."])
def test_a_file_elsewhere(whole, name):
    edit(whole, files={name: {"bytes": 1, "sha256": "0" * 64}})
    refused(whole, "elsewhere")


def test_an_oracle_that_grows_beyond_all_bounds(make, message, tmp_path):
    recording = make([message()], oracle=b" " * (files.DOCUMENT_MAX + 1))
    assert recording.oracle.stat().st_size < 1 << 20
    refused(recording, "longer than 268435456 bytes")
    with pytest.raises(RecordingError, match="longer"):
        recording.extract("oracle.json", tmp_path)
    with pytest.raises(RecordingError, match="longer"):
        list(findings(recording))
    writer = RecordingWriter(tmp_path / "out")
    with pytest.raises(RecordingError, match="longer"):
        scrub(recording, writer, Pseudonyms(b"an example key, long"))
    writer.discard()


@pytest.mark.parametrize("path", ["nothing", "file"])
def test_what_is_no_directory(tmp_path, path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(RecordingError, match="not a directory"):
        Recording.open(tmp_path / path)


def test_a_line_that_is_none_is_named(whole):
    content = zstd.compress(lines.write(Notification("x", "k", b"{}")) + b"{}\n")
    whole.stream.write_bytes(content)
    edit(
        whole,
        files={
            whole.stream.name: {
                "bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest(),
            }
        },
    )
    refused(whole, "line 2")


def test_plain_and_gzip_streams_of_other_tools_are_read(make, message):
    given = [message(n) for n in range(3)]
    text = b"".join(map(lines.write, given))
    for name, content in (
        ("notifications.jsonl", text),
        ("notifications.jsonl.gz", gzip.compress(text)),
        (
            "notifications.jsonl.zst",
            zstd.compress(text[:100]) + zstd.compress(text[100:]),
        ),
    ):
        recording = make(given, name)
        recording.stream.unlink()
        (recording.path / name).write_bytes(content)
        edit(
            recording,
            files={name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}},
        )
        opened = Recording.open(recording.path)
        opened.check()
        assert list(opened.notifications()) == given


def test_a_generated_month_survives(month_recording, stream):
    assert list(month_recording.notifications()) == stream
    assert month_recording.manifest.notifications == 15_741
    assert len(month_recording.manifest.types) > 66


def test_base64_lines_are_valid_base64():
    line = lines.write(Notification("x", "k", b"\x00\xff"))
    assert base64.b64decode(json.loads(line)["body_base64"]) == b"\x00\xff"


def test_an_extracted_file_is_private(month_recording, tmp_path):
    path = month_recording.extract("oracle.json", tmp_path)
    assert json.loads(path.read_bytes())["seed"] == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert month_recording.extract("events.jsonl", tmp_path) is None
