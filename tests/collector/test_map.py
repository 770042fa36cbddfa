"""``tally-harness map``: files in, events and a table out."""

import base64
import gzip
import json
from pathlib import Path

import pytest

from harness.cli import main
from harness.recording.files import zstd

GOLDEN = Path(__file__).parent / "golden" / "notifications"


def golden(name):
    """Return a golden envelope as one line."""
    return json.dumps(json.loads((GOLDEN / f"{name}.json").read_text()))


def run(path, capfdbinary, cloud="os-dev"):
    status = main(["map", "--in", str(path), "--cloud", cloud])
    out, err = capfdbinary.readouterr()
    return status, [json.loads(line) for line in out.splitlines()], err.decode()


def test_a_stream_file(tmp_path, capfdbinary):
    path = tmp_path / "notifications.jsonl"
    lines = [
        f'{{"exchange":"openstack","routing_key":"notifications.info","body":{golden(name)}}}'
        for name in ("volume-create-end", "image-create-without-size", "volume-create-end")
    ]
    lines.insert(1, '{"exchange":"x","routing_key":"y","body":{"oslo.message":"{"}}')
    path.write_text("\n".join(lines) + "\n")
    status, events, table = run(path, capfdbinary)
    assert status == 0
    assert [event["event_type"] for event in events] == ["volume.create.end"] * 2
    rows = [line.split() for line in table.splitlines()]
    assert ["consumed", "volume.create.end", "2"] in rows
    assert ["skipped", "image.create", "1"] in rows
    assert ["unparseable", "total", "1"] in rows
    assert "line 2: unparseable: decoding the inner message" in table


def test_bare_envelopes_with_blank_lines_and_damage(tmp_path, capfdbinary):
    path = tmp_path / "bare.jsonl"
    path.write_bytes(b"not json\r\n\r\n" + golden("volume-delete-end").encode() + b"\r\n\xff\n")
    status, events, table = run(path, capfdbinary)
    assert status == 0
    assert [event["event_type"] for event in events] == ["volume.delete.end"]
    assert "line 1: unparseable" in table
    assert "line 4: unparseable" in table
    assert "line 2" not in table


@pytest.mark.parametrize("name", ["volume-create-end", "floatingip-create-end"])
def test_one_envelope_as_a_document(name, capfdbinary):
    status, events, _ = run(GOLDEN / f"{name}.json", capfdbinary)
    assert status == 0
    assert [event["event_type"] for event in events] == [name.replace("-", ".")]


def test_one_envelope_on_one_line(tmp_path, capfdbinary):
    path = tmp_path / "one.json"
    path.write_text(golden("volume-create-end"))
    assert len(run(path, capfdbinary)[1]) == 1


def test_a_recorded_body_that_is_no_object(tmp_path, capfdbinary):
    path = tmp_path / "recorded.jsonl"
    body = base64.b64encode(golden("volume-create-end").encode()).decode()
    path.write_text(f'{{"exchange":"a","routing_key":"b","body_base64":"{body}"}}\n')
    assert len(run(path, capfdbinary)[1]) == 1


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress], ids=["gzip", "zstd"])
@pytest.mark.parametrize("name", ["notifications.jsonl.zst", "notifications.jsonl"])
@pytest.mark.parametrize("count", [1, 3, 9000])
def test_a_compressed_file(tmp_path, capfdbinary, pack, name, count):
    path = tmp_path / name
    lines = f"{golden('volume-create-end')}\n".encode() * count
    path.write_bytes(pack(lines))
    status, events, table = run(path, capfdbinary)
    assert (status, len(events)) == (0, count)
    assert ["unparseable", "total", "0"] in [line.split() for line in table.splitlines()]


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress], ids=["gzip", "zstd"])
@pytest.mark.parametrize("missing", [1, 9, 60])
def test_a_torn_file_cannot_be_read(tmp_path, capfdbinary, pack, missing):
    path = tmp_path / "notifications.jsonl"
    path.write_bytes(pack(golden("volume-create-end").encode())[:-missing])
    status, _, error = run(path, capfdbinary)
    assert status == 1
    assert f"reading {path}: Compressed file ended before the end-of-stream marker" in error


def test_the_size_bounds_apply(tmp_path, capfdbinary):
    path = tmp_path / "large.jsonl"
    path.write_text('{"oslo.message":"' + "x" * (1024 * 1024) + '"}\n')
    status, events, table = run(path, capfdbinary)
    assert (status, events) == (0, [])
    assert "line 1: unparseable: the body has 1048595 bytes" in table


def test_an_empty_file(tmp_path, capfdbinary):
    path = tmp_path / "empty"
    path.touch()
    status, events, table = run(path, capfdbinary)
    assert (status, events) == (0, [])
    assert ["consumed", "total", "0"] in [line.split() for line in table.splitlines()]


def test_an_unreadable_file(tmp_path, capfdbinary):
    status, events, text = run(tmp_path / "none", capfdbinary)
    assert (status, events) == (1, [])
    assert "none: No such file or directory" in text
    assert run(tmp_path, capfdbinary)[0] == 1


def test_an_empty_cloud(tmp_path, capfdbinary):
    assert run(tmp_path / "none", capfdbinary, cloud="")[0] == 2


def test_an_event_type_cannot_write_to_the_terminal(tmp_path, capfdbinary):
    path = tmp_path / "odd.jsonl"
    inner = json.dumps({"event_type": "\x1b[2J", "timestamp": "2026-07-01 00:00:00"})
    path.write_text(json.dumps({"oslo.message": inner}))
    table = run(path, capfdbinary)[2]
    assert "\\x1b[2J" in table
    assert "\x1b" not in table
