import json
import os
import re
import signal
import subprocess
import sys
import time

import pika
import pytest
import requests

from harness.calendar import Period
from harness.cli import main
from harness.month import generate
from harness.month.render import notification
from harness.oracle import document
from harness.oslo import EXCHANGES, Notification
from harness.oslo.stream import write_stream
from harness.recording.files import FileWriter
from harness.recording.record import Limits, Recorder
from harness.recording.recording import Recording
from harness.recording.writer import RecordingWriter

NO_WAIT = ("--wait-for-collector", "0")


class Replay:
    """A replay in a process of its own, and the lines it logs."""

    def __init__(self, url, *arguments):
        environment = os.environ | {"TALLY_SIM_AMQP_URL": url, "TALLY_SIM_HTTP_PORT": "0"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "harness", "replay", *NO_WAIT, *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines = []

    def until(self, text):
        for line in self.process.stdout:
            self.lines.append(json.loads(line))
            if self.lines[-1]["msg"] == text:
                return self.lines[-1]
        raise AssertionError(self.process.stderr.read())

    def end(self, timeout=60):
        out, err = self.process.communicate(timeout=timeout)
        self.lines += map(json.loads, out.splitlines())
        return self.process.returncode, err


@pytest.fixture
def bound(amqp_url):
    """A queue bound to every exchange; reading it gives (exchange, body)."""
    connection = pika.BlockingConnection(pika.URLParameters(amqp_url))
    channel = connection.channel()
    queue = channel.queue_declare("", exclusive=True).method.queue
    for exchange in EXCHANGES:
        channel.exchange_declare(exchange, exchange_type="topic", durable=True)
        channel.queue_bind(queue, exchange, "#")

    def read():
        taken = []
        while (found := channel.basic_get(queue, auto_ack=True))[0] is not None:
            taken.append((found[0].exchange, found[2]))
        return taken

    yield read
    connection.close()


def sent(notifications):
    return [(notification.exchange, notification.body) for notification in notifications]


def test_a_recording_goes_out_as_it_was_recorded(amqp_url, bound, make, message):
    odd = [Notification("nova", "notifications.info", body) for body in (b"", b"\xff", b"[1]")]
    given = [message(1), *odd, message(2), message(2)]
    replay = Replay(amqp_url, "--in", str(make(given).path), "--factor", "0")
    status, errors = replay.end()
    assert status == 0, errors
    assert bound() == sent(given)
    completed = replay.lines[-1]
    assert (completed["msg"], completed["published"], completed["total"]) == ("completed", 6, 6)
    assert replay.lines[0]["msg"] == "starting"
    assert replay.lines[0]["from"] == "2026-07-01T10:00:00Z"


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_a_stream_file_goes_out_compressed_or_not(amqp_url, bound, tmp_path, message, suffix):
    given = [message(n) for n in range(5)]
    write_stream(tmp_path / "plain", given)
    path = tmp_path / f"stream.jsonl{suffix}"
    with FileWriter(path) as file:
        file.write((tmp_path / "plain").read_bytes())
    status, errors = Replay(amqp_url, "--in", str(path), "--factor", "0").end()
    assert status == 0, errors
    assert bound() == sent(given)


LONG = b'{"exchange":"nova","routing_key":"k","body":{"oslo.message":"%b"}}\n' % (b"x" * (1 << 20))
UNREAD = b'{"exchange":"nova","routing_key":"k","body":{"oslo.version":"2.0"}}\n'
ELSEWHERE = b'{"exchange":"heat","routing_key":"k","body":{"oslo.version":"2.0"}}\n'


@pytest.mark.parametrize(
    ("spoilt", "match"),
    [
        (LONG, r"line 3.*longer"),
        (UNREAD, r"line 3.*oslo.message"),
        (ELSEWHERE, r"line 3.*heat"),
        (b"nothing\n", r"line 3"),
        (b'{"exchange":"nova"', r"line 3"),
    ],
    ids=["long", "unreadable", "exchange", "no json", "torn"],
)
def test_a_spoilt_stream_file_is_refused_before_anything_goes_out(
    amqp_url, bound, tmp_path, message, spoilt, match
):
    path = tmp_path / "stream.jsonl"
    write_stream(path, [message(1), message(2)])
    with path.open("ab") as file:
        file.write(spoilt)
    status, errors = Replay(amqp_url, "--in", str(path), "--factor", "0").end()
    assert status == 1
    assert re.search(match, errors)
    assert bound() == []


def test_a_month_of_refused_shapes_is_refused(amqp_url, bound, tmp_path):
    month = generate(1, Period(2026, 7), "os-sim", ("refused-shapes",))
    path = tmp_path / "notifications.jsonl"
    write_stream(path, map(notification, month.stream))
    status, errors = Replay(amqp_url, "--in", str(path), "--factor", "0").end()
    assert status == 1
    assert re.search(r"notifications.jsonl: line \d+: ", errors)
    assert bound() == []


def test_a_spoilt_recording_is_refused_before_anything_goes_out(amqp_url, bound, make, message):
    recording = make([message(n) for n in range(100)])
    content = bytearray(recording.stream.read_bytes())
    content[len(content) // 2] ^= 1
    recording.stream.write_bytes(content)
    status, errors = Replay(amqp_url, "--in", str(recording.path), "--factor", "0").end()
    assert status == 1
    assert "was altered" in errors
    assert bound() == []


def test_the_pace_is_kept_reported_and_changed_in_flight(amqp_url, bound, make, message):
    given = [message(n, instant=f"2026-07-01 0{n // 60}:{n % 60:02d}:00") for n in range(120)]
    replay = Replay(amqp_url, "--in", str(make(given).path), "--factor", "744")
    url = f"http://127.0.0.1:{replay.until('listening')['port']}/clock"
    clock = requests.get(url, timeout=5).json()
    assert (clock["factor"], clock["total"]) == (744, 120)
    assert (clock["period_from"], clock["period_to"]) == (
        "2026-07-01T00:00:00Z",
        "2026-07-01T01:59:00Z",
    )
    time.sleep(1)
    published = requests.get(url, timeout=5).json()["published"]
    assert 5 <= published < 60
    assert requests.put(url, json={"factor": 100_000}, timeout=5).json()["factor"] == 100_000
    status, errors = replay.end(20)
    assert status == 0, errors
    assert bound() == sent(given)
    assert 0 <= replay.lines[-1]["lag_seconds"] < 5


@pytest.mark.slow
def test_two_virtual_hours_at_factor_744_take_ten_seconds(amqp_url, bound, make, message):
    given = [message(n, instant=f"2026-07-01 0{n // 60}:{n % 60:02d}:00") for n in range(120)]
    replay = Replay(amqp_url, "--in", str(make(given).path), "--factor", "744")
    replay.until("listening")
    began = time.monotonic()
    status, errors = replay.end(30)
    assert status == 0, errors
    assert 9.5 < time.monotonic() - began < 20
    assert bound() == sent(given)


def test_a_replay_waits_for_the_collector_before_its_clock_starts(amqp_url, make, message):
    recording = make([message(1)])
    replay = Replay(amqp_url, "--in", str(recording.path), "--wait-for-collector", "90s")
    replay.until("starting")
    arrived = []
    with pika.BlockingConnection(pika.URLParameters(amqp_url)) as connection:
        channel = connection.channel()
        channel.queue_declare("tally-notifications", durable=True)
        channel.queue_bind("tally-notifications", "nova", "notifications.info")
        channel.basic_consume(
            "tally-notifications", lambda *delivery: arrived.append(delivery), auto_ack=True
        )
        end = time.monotonic() + 60
        while not arrived and time.monotonic() < end:
            connection.process_data_events(0.1)
    assert len(arrived) == 1
    assert replay.end()[0] == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("when", ["starting", "listening"])
def test_a_signal_ends_it_cleanly(amqp_url, make, message, number, when):
    given = [message(1), message(2, instant="2026-07-20 00:00:00")]
    replay = Replay(
        amqp_url,
        "--in",
        str(make(given).path),
        "--wait-for-collector",
        "1m" if when == "starting" else "0",
    )
    replay.until(when)
    replay.process.send_signal(number)
    status, errors = replay.end(15)
    assert (status, errors) == (0, "")
    assert replay.lines[-1]["msg"] == "stopped"


def test_a_shifted_month_takes_its_oracle_along(amqp_url, bound, month_recording, stream, tmp_path):
    recording = str(month_recording.path)
    common = ("--in", recording, "--factor", "0")
    status, errors = Replay(amqp_url, *common, "--shift-to", "2026-08").end()
    assert status == 2
    assert "--oracle-out" in errors
    out = tmp_path / "oracle.json"
    status, errors = Replay(
        amqp_url, *common, "--shift-to", "2026-06", "--oracle-out", str(out)
    ).end()
    assert status == 1
    assert "31 days cannot be moved to 2026-06, which has 30" in errors
    assert bound() == []
    assert not out.exists()
    replay = Replay(
        amqp_url, *common, "--shift-to", "2026-08", "--oracle-out", str(out), "--fresh-ids"
    )
    status, errors = replay.end()
    assert status == 0, errors
    assert len(bound()) == len(stream)
    oracle = document.read(out)
    assert (oracle.start, oracle.end) == (1785542400, 1788220800)


def test_dropping_is_counted_before_it_starts(amqp_url, bound, make, message):
    given = [message(1, instant="2026-07-30 00:00:00"), message(2, instant="2026-07-31 00:00:00")]
    path = str(make(given).path)
    status, errors = Replay(amqp_url, "--in", path, "--factor", "0", "--shift-to", "2026-06").end()
    assert status == 1
    assert "--drop-outside" in errors
    assert bound() == []
    replay = Replay(
        amqp_url, "--in", path, "--factor", "0", "--shift-to", "2026-06", "--drop-outside"
    )
    assert replay.end()[0] == 0
    assert replay.lines[-1]["total"] == 1
    assert len(bound()) == 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--factor", "-1"], "--factor: -1"),
        (["--factor", "nan"], "--factor: nan"),
        (["--wait-for-collector=-1s"], "--wait-for-collector: -1s"),
        (["--wait-for-collector", "soon"], "--wait-for-collector"),
        (["--shift-to", "2026-13"], "--shift-to"),
        (["--drop-outside"], "--shift-to"),
    ],
)
def test_wrong_options_are_refused(tmp_path, monkeypatch, capsys, arguments, text):
    monkeypatch.setenv("TALLY_SIM_AMQP_URL", "amqp://127.0.0.1:1/")
    assert main(["replay", "--in", str(tmp_path), *arguments]) == 2
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    ("url", "status", "text"),
    [
        ("amqp://u:s3cret@rabbit.example.org/", 2, "--allow-remote-broker"),
        ("amqp://u:s3cret@127.0.0.1:1/", 1, "dialing the broker amqp://127.0.0.1:1"),
        ("s3cret", 2, "TALLY_SIM_AMQP_URL"),
        ("", 2, "name the broker"),
    ],
)
def test_other_brokers_are_refused_without_a_secret(
    tmp_path, monkeypatch, capsys, url, status, text
):
    monkeypatch.setenv("TALLY_SIM_AMQP_URL", url)
    monkeypatch.setattr("harness.service.log.configure", lambda *_: None)
    assert main(["replay", "--in", str(tmp_path)]) == status
    errors = capsys.readouterr().err
    assert text in errors
    assert "s3cret" not in errors


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_memory_does_not_grow_with_the_recording(amqp_url, tmp_path, message):
    peaks = {}
    kinds = [message(number, f"type.{number % 40}") for number in range(1_000)]
    for count in (15_000, 500_000):
        writer = RecordingWriter(tmp_path / str(count))
        for number in range(count):
            writer.add(kinds[number % len(kinds)])
        recording = writer.finish(cloud="os-sim")
        script = (
            "import resource, sys; from harness.cli import main; status = main(sys.argv[1:]); "
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); "
            "sys.exit(status)"
        )
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                script,
                "replay",
                "--in",
                str(recording.path),
                "--factor",
                "0",
                *NO_WAIT,
            ],
            env=os.environ | {"TALLY_SIM_AMQP_URL": amqp_url, "TALLY_SIM_HTTP_PORT": "0"},
            capture_output=True,
            text=True,
            check=True,
        )
        peaks[count] = int(done.stderr.splitlines()[-1])
        assert json.loads(done.stdout.splitlines()[-1])["published"] == count
    assert peaks[500_000] <= 1.2 * peaks[15_000], peaks


def test_record_then_replay_then_record_gives_the_same_stream(amqp_url, make, message, tmp_path):
    source = make([message(n) for n in range(200)])
    streams = [source]
    with pika.BlockingConnection(pika.URLParameters(amqp_url)) as connection:
        connection.channel().exchange_declare("nova", exchange_type="topic", durable=True)
    for number in range(2):
        recorder = Recorder(amqp_url, exchanges=["nova"])
        replay = Replay(amqp_url, "--in", str(streams[-1].path), "--factor", "0")
        writer = RecordingWriter(tmp_path / f"again-{number}")
        recorder.record(writer, Limits(messages=200, idle=30), stopped=lambda: False)
        recorder.close()
        assert replay.end()[0] == 0
        streams.append(writer.finish(cloud="os-sim"))
    texts = [b"".join(n.body for n in Recording.open(s.path).notifications()) for s in streams]
    assert texts[0] == texts[1] == texts[2]
