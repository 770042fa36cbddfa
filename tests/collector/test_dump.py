"""``--dump``: a look at the bus that shows no secret and takes nothing from the collector."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from harness.broker.publisher import AmqpPublisher
from harness.collector.dump import line
from harness.oslo import Notification


def body(inner):
    return json.dumps(
        {"oslo.message": inner if isinstance(inner, str) else json.dumps(inner)}
    ).encode()


def shown(data):
    return json.loads(line("nova", "notifications.info", data))


def test_a_notification():
    text = line(
        "nova",
        "notifications.info",
        body(
            '{"message_id":"m","event_type":"e","timestamp":"2026-07-01 00:00:00","payload":{"b":1.50,"a":[null,true]}}'
        ),
    )
    assert text == (
        '{"event_type":"e","exchange":"nova","message_id":"m","payload":{"a":[null,true],"b":1.50},'
        '"routing_key":"notifications.info","timestamp":"2026-07-01T00:00:00Z"}'
    )


@pytest.mark.parametrize(
    "name", ["password", "adminPassword", "AUTH_TOKEN", "x-secret-y", "connection_info"]
)
def test_secrets_at_any_depth(name):
    payload = {"a": [{"b": {name: "sesame", "kept": "k"}}], name: {"deep": "sesame"}}
    data = body({"timestamp": "2026-07-01 00:00:00", "payload": payload})
    assert shown(data)["payload"] == {
        "a": [{"b": {name: "[redacted]", "kept": "k"}}],
        name: "[redacted]",
    }


def test_what_is_no_json():
    assert shown(b"\x00\xffsesame")["unparseable"] == "8 bytes that are not JSON"
    assert shown(b'{"password":"sesame"')["unparseable"] == "20 bytes that are not JSON"


def test_json_that_is_no_notification():
    assert shown(b'{"a":1,"token":"sesame"}')["unparseable"] == '{"a":1,"token":"[redacted]"}'
    cut = '{"payload":{"adminPassword":"sesame", "tim'
    assert "sesame" not in line("nova", "k", body(cut))
    long = shown(json.dumps({"ü": "ü" * 2000}).encode())["unparseable"]
    assert len(long.encode()) <= 512
    assert long.startswith('{"ü":"üü')


def test_deep_nesting_is_no_matter():
    assert "not JSON" in shown(b"[" * 100_000 + b"]" * 100_000)["unparseable"]
    assert shown(b"[" * 900 + b"]" * 900)["unparseable"]


@pytest.mark.timeout(60)
def test_the_process(amqp_url):
    environment = {
        "PATH": os.environ["PATH"],
        "TALLY_OSC_AMQP_URL": amqp_url,
        "TALLY_OSC_EXCHANGES": "nova,glance",
    }
    with AmqpPublisher(amqp_url, exchanges=("nova",)) as publisher:
        process = subprocess.Popen(
            [sys.executable, "-m", "harness", "collector", "--dump"],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            message = body(
                {
                    "event_type": "e",
                    "timestamp": "2026-07-01 00:00:00",
                    "payload": {"token": "sesame"},
                }
            )
            stop = threading.Event()

            def publish():  # again and again, because nobody tells when the dump listens
                while not stop.wait(0.1):
                    publisher.publish([Notification("nova", "notifications.info", message)])

            thread = threading.Thread(target=publish)
            thread.start()
            try:
                seen = process.stdout.readline()
            finally:
                stop.set()
                thread.join()
            assert json.loads(seen)["payload"] == {"token": "[redacted]"}
        finally:
            process.send_signal(signal.SIGTERM)
            rest = process.communicate(timeout=10)[0]
        assert process.returncode == 0
        assert "sesame" not in seen + rest


def test_only_the_address_is_needed():
    result = subprocess.run(
        [sys.executable, "-m", "harness", "collector", "--dump"],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (2, "Error: TALLY_OSC_AMQP_URL: must be set\n")
