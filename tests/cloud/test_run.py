"""``tally-harness run`` publishing to a real RabbitMQ, asked and stopped while it runs."""

import contextlib
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time

import pika
import pytest
import requests

from harness.cli import main
from harness.month import generate
from harness.month.render import notification
from harness.oslo import EXCHANGES


class Run:
    """A run as a process, its log line by line."""

    def __init__(self, url, *flags, **variables):
        environment = {
            "PATH": os.environ["PATH"],
            "TALLY_SIM_AMQP_URL": url,
            "TALLY_SIM_HTTP_PORT": "0",
            **variables,
        }
        call = [sys.executable, "-m", "harness", "run", "--period=2026-07", *flags]
        self.process = subprocess.Popen(
            call, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._lines = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(json.loads(line))

    def wait_for(self, message, timeout=60):
        end = time.monotonic() + timeout
        while True:
            line = self._lines.get(timeout=max(end - time.monotonic(), 0.01))
            if line["msg"] == message:
                return line

    def listen(self):
        self.base = f"http://127.0.0.1:{self.wait_for('listening')['port']}"
        return self

    def clock(self):
        return requests.get(f"{self.base}/clock", timeout=10).json()

    def until(self, condition, timeout=60):
        end = time.monotonic() + timeout
        while not condition(document := self.clock()):
            assert time.monotonic() < end, document
            time.sleep(0.02)
        return document

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.end()

    def end(self, timeout=120):
        try:
            self.errors = self.process.stderr.read() if self.process.wait(timeout) else ""
        finally:
            self.process.kill()
            self.process.wait()
            self._reader.join()
        return self.process.returncode


@pytest.fixture
def run(amqp_url):
    runs = []

    def starting(*flags, **variables):
        runs.append(Run(amqp_url, *flags, **variables))
        return runs[-1]

    yield starting
    for each in runs:
        each.process.kill()
        each.process.wait()
        each._reader.join()
        each.process.stdout.close()
        each.process.stderr.close()


@pytest.fixture
def bound(amqp_url):
    """A channel on which `everything` is bound to all exchanges."""
    connection = pika.BlockingConnection(pika.URLParameters(amqp_url))
    channel = connection.channel()
    channel.queue_declare("everything", durable=True)
    for exchange in EXCHANGES:
        channel.exchange_declare(exchange, "topic", durable=True)
        channel.queue_bind("everything", exchange, "notifications.info")
    yield channel
    connection.close()


def drain(channel):
    """Yield every message there is, in order."""
    for method, properties, body in channel.consume(
        "everything", auto_ack=True, inactivity_timeout=1
    ):
        if method is None:
            break
        yield method, properties, body
    channel.cancel()


NOW = ("--factor=0", "--wait-for-collector=0")


def test_a_month_goes_out_byte_for_byte_in_its_order(run, bound, month):
    running = run(*NOW)
    starting = running.wait_for("starting")
    assert (starting["broker"], starting["otlp"], starting["factor"]) == (True, False, 0.0)
    completed = running.wait_for("completed")
    assert (completed["published"], completed["total"], completed["pushed"]) == (15741, 15741, 0)
    assert running.end() == 0
    wanted = (notification(transition) for transition in month.stream)
    for wants, (method, properties, body) in zip(wanted, drain(bound), strict=True):
        assert (method.exchange, body) == (wants.exchange, wants.body)
        assert (properties.content_type, properties.delivery_mode) == ("application/json", 2)


def test_files_are_written_before_the_first_message(run, bound, tmp_path):
    running = run(*NOW, f"--out={tmp_path}", "--wait-for-collector=2m")
    running.wait_for("starting")
    while not (tmp_path / "oracle.json").exists():
        time.sleep(0.01)
    assert bound.queue_declare("everything", passive=True).method.message_count == 0
    assert running.stop() == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        "events.jsonl", "notifications.jsonl", "oracle.json"
    }  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_waiting_for_a_consumer(run, number):
    running = run("--factor=0")
    running.wait_for("starting")
    time.sleep(0.5)
    assert running.stop(number) == 0
    assert running.wait_for("stopped")["published"] == 0


@pytest.mark.slow
def test_a_run_that_meets_no_consumer_says_so(run):
    running = run("--factor=0", "--wait-for-collector=1s")
    assert running.end() == 1
    assert "nobody consumes from the queue tally-notifications" in running.errors


@pytest.mark.slow
def test_it_starts_when_a_consumer_comes(run, bound):
    running = run("--factor=0")
    running.wait_for("starting")
    time.sleep(1)
    assert bound.queue_declare("everything", passive=True).method.message_count == 0
    bound.queue_declare("tally-notifications", durable=True)
    bound.basic_consume("tally-notifications", lambda *_: None)
    running.wait_for("completed")
    assert running.end() == 0


def test_a_paced_month_is_asked_sped_up_and_stopped(run, bound):
    running = run("--factor=744", "--wait-for-collector=0").listen()
    first = running.clock()
    assert first["factor"] == 744
    assert first["virtual_now"].startswith("2026-07-01T")
    later = running.until(lambda clock: clock["published"] > first["published"])
    assert later["published"] < 2000
    put = requests.put(f"{running.base}/clock", data='{"factor": 100000}', timeout=10)
    assert put.json()["factor"] == 100000
    assert running.wait_for("the factor changed")["factor"] == 100000
    running.until(lambda clock: clock["virtual_now"] > "2026-07-03")
    requests.put(f"{running.base}/clock", data='{"factor": 744}', timeout=10)
    assert running.stop() == 0
    stopped = running.wait_for("stopped")
    assert 0 < stopped["published"] < stopped["total"] == 15741
    assert sum(1 for _ in drain(bound)) == stopped["published"]


@pytest.mark.slow
def test_a_factor_of_0_flushes_the_rest(run):
    running = run("--factor=744", "--wait-for-collector=0").listen()
    requests.put(f"{running.base}/clock", data='{"factor": 0}', timeout=10)
    assert running.wait_for("completed")["published"] == 15741
    assert running.end() == 0


@pytest.mark.slow
def test_a_month_at_factor_a_million(run):
    running = run("--factor=1000000", "--wait-for-collector=0")
    assert running.wait_for("completed")["published"] == 15741
    assert running.end() == 0


@pytest.mark.slow
def test_a_hold_is_released(run, bound, month):
    running = run(*NOW, "--faults=held-back").listen()
    running.wait_for("holding")
    held = running.until(lambda clock: clock["holding"])
    assert (held["published"], held["total"], held["held"]) == (15657, 15741, 84)
    assert bound.queue_declare("everything", passive=True).method.message_count == 15657
    answer = requests.post(f"{running.base}/release", timeout=10)
    assert (answer.status_code, answer.json()["held"]) == (200, 0)
    assert running.wait_for("releasing")["held"] == 84
    assert running.wait_for("completed")["published"] == 15741
    assert running.end() == 0
    held_bodies = [
        notification(transition).body
        for transition in generate(1, month.period, "os-sim", ("held-back",)).held
    ]
    assert [body for _, _, body in drain(bound)][-84:] == held_bodies


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_hold(run, number):
    running = run(*NOW, "--faults=held-back")
    running.wait_for("holding")
    assert running.stop(number) == 0
    stopped = running.wait_for("stopped")
    assert (stopped["published"], stopped["held"]) == (15657, 84)


@pytest.mark.slow
def test_slow_clients_do_not_stop_the_month(run):
    running = run("--factor=200000", "--wait-for-collector=0").listen()
    port = int(running.base.rpartition(":")[2])
    with contextlib.ExitStack() as stack:
        for number in range(150):
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
            slow.sendall(
                (b"GET /clo", b"PUT /clock HTTP/1.1\r\nContent-Length: 9\r\n\r\n{")[number % 2]
            )
        before = running.clock()["published"]
        running.until(lambda clock: clock["published"] > before)
        assert running.wait_for("completed")["published"] == 15741
        assert running.end() == 0


@pytest.mark.slow
def test_a_debug_log_names_every_message(run, month):
    running = run(*NOW, TALLY_LOG_LEVEL="DEBUG")
    for transition in month.stream[:50]:
        line = running.wait_for("published")
        assert line["message_id"] == transition.message_id
        assert line["event_type"] == transition.event_type
        assert line["exchange"] == transition.exchange
    assert running.stop() == 0


def test_a_taken_port_is_named(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        running = run(*NOW, TALLY_SIM_HTTP_PORT=str(port))
        assert running.end() == 1
        assert f"listening on 127.0.0.1 port {port}" in running.errors


def test_a_broker_that_is_not_there(run):
    running = run(*NOW, TALLY_SIM_AMQP_URL="amqp://u:hidden@127.0.0.1:9/")
    assert running.end() == 1
    assert "dialing the broker amqp://127.0.0.1:9" in running.errors
    assert "hidden" not in running.errors


OTLP = {
    "TALLY_SIM_OTLP_URL": "https://otlp.example/v1/metrics",
    "TALLY_SIM_OTLP_USER": "tally",
    "TALLY_SIM_OTLP_PASSWORD": "hidden",
}
REGISTRY = {
    "TALLY_SIM_REPORTING_URL": "https://tally.example",
    "TALLY_SIM_API_TOKEN": "hidden",
    "TALLY_SIM_GARDEN_CLOUD": "garden-sim",
}
REFUSALS = [
    (["--factor=-1"], {}, "--factor: -1 must be"),
    (["--factor=NaN"], {}, "--factor: NaN must be"),
    (["--wait-for-collector=-1s"], {}, "--wait-for-collector: -1s must be"),
    (["--factor=-1", "--wait-for-collector=-1s", "--faults=x"], {}, "--factor: "),
    ([], {"TALLY_SIM_AMQP_URL": "amqp://u:hidden@broker.example/"}, "names a broker on broker.example"),
    ([], {"TALLY_SIM_AMQP_URL": "http://u:hidden@h/"}, "TALLY_SIM_AMQP_URL: not a usable AMQP URL"),
    ([], {"TALLY_SIM_AMQP_URL": ""}, "TALLY_SIM_AMQP_URL, or --out DIR"),
    ([], {"TALLY_SIM_AMQP_URL_FILE": "/x"}, "set TALLY_SIM_AMQP_URL or TALLY_SIM_AMQP_URL_FILE"),
    ([], {"TALLY_SIM_HTTP_PORT": "65536"}, "TALLY_SIM_HTTP_PORT: "),
    ([], OTLP | {"TALLY_SIM_OTLP_USER": ""}, "TALLY_SIM_OTLP_USER: "),
    ([], OTLP | {"TALLY_SIM_OTLP_PASSWORD": ""}, "TALLY_SIM_OTLP_PASSWORD: "),
    ([], OTLP | {"TALLY_SIM_OTLP_URL": "hidden"}, "TALLY_SIM_OTLP_URL: write http(s)"),
    ([], OTLP | {"TALLY_SIM_OTLP_URL": "https://hidden@h/"}, "TALLY_SIM_OTLP_URL: leave out user"),
    ([], OTLP | {"TALLY_SIM_OTLP_URL": "https://h/?"}, "TALLY_SIM_OTLP_URL: leave out user"),
    ([], OTLP | {"TALLY_SIM_OTLP_URL": "http://h/"}, "TALLY_SIM_OTLP_INSECURE=true"),
    (["--register-projects"], {}, "TALLY_SIM_REPORTING_URL: must be set"),
    (["--register-projects"], REGISTRY | {"TALLY_SIM_API_TOKEN": ""}, "TALLY_SIM_API_TOKEN: must be set"),
    (["--register-projects"], REGISTRY | {"TALLY_SIM_GARDEN_CLOUD": ""}, "TALLY_SIM_GARDEN_CLOUD: must"),
    (["--register-projects"], REGISTRY | {"TALLY_SIM_GARDEN_CLOUD": "os-sim"}, 'CLOUD: "os-sim" is the cloud of'),
    (["--register-projects"], REGISTRY | {"TALLY_SIM_REPORTING_URL": "http://h"}, "TALLY_SIM_REPORTING_INSECURE=true"),
    (["--register-projects=yes"], REGISTRY, "invalid choice: 'yes'"),
]  # fmt: skip


@pytest.mark.parametrize(("flags", "variables", "text"), REFUSALS, ids=range(len(REFUSALS)))
def test_a_refusal_publishes_nothing_and_shows_no_secret(
    capsys, monkeypatch, flags, variables, text
):
    for name, value in ({"TALLY_SIM_AMQP_URL": "amqp://127.0.0.1:9"} | variables).items():
        monkeypatch.setenv(name, value)
    try:
        status = main(["run", "--period=2026-07", *flags])
    except SystemExit as ended:
        status = ended.code
    printed = capsys.readouterr()
    assert status == 2
    assert printed.out == ""
    assert text in printed.err
    assert "hidden" not in printed.err
