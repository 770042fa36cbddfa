"""A Reporting API that answers as a test wants, and collectors in front of it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harness.collector.settings import Settings


class ReportingDouble:
    """An HTTP server that stores events by (event_id, timestamp), or answers as `script` says.

    Attributes:
        stored: events by key, in order of arrival.
        batches: length of every post taken.
        duplicates: items it already had.
        requests: (path, authorization, number of items) of every request.
        script: called with the items; returns (status, body) or None for the true answer.
    """

    def __init__(self):
        self.stored = {}
        self.batches = []
        self.duplicates = 0
        self.requests = []
        self.script: Callable[[list], tuple[int, bytes] | None] = lambda items: None
        double = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                items = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                double.requests.append((self.path, self.headers["Authorization"], len(items)))
                status, body = double.script(items) or double.take(items)
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    self.close_connection = True

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        self.thread.start()

    def take(self, items):
        accepted = 0
        for item in items:
            key = (item["event_id"], item["timestamp"])
            accepted += key not in self.stored
            self.stored.setdefault(key, item)
        self.batches.append(len(items))
        self.duplicates += len(items) - accepted
        answer = {"accepted": accepted, "duplicates": len(items) - accepted, "rejected": []}
        return 200, json.dumps(answer).encode()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def reporting():
    double = ReportingDouble()
    yield double
    double.close()


@pytest.fixture
def settings(reporting, tmp_path):
    """Settings of a collector in front of `reporting`, quick enough for tests."""

    def build(**changes):
        return Settings(
            **(
                {
                    "cloud": "os-sim",
                    "reporting_url": reporting.url,
                    "token": "tly_i_test",
                    "buffer_path": tmp_path / "outbox.db",
                    "flush_interval": 0.02,
                    "pause_interval": 0.05,
                    "requeue_delay": 0.05,
                }
                | changes
            )
        )

    return build


@pytest.fixture
def eventually():
    """Waits until a condition holds, and fails after ten seconds."""

    def wait(condition, timeout=10.0):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, "did not happen in time"
            time.sleep(0.01)

    return wait


GOLDEN = Path(__file__).parent / "golden" / "notifications"


@pytest.fixture
def envelope():
    """Builds envelopes: ``envelope("volume.create.end", message_id, **payload)``."""

    def build(event_type, message_id, **payload):
        inner = {
            "message_id": message_id,
            "event_type": event_type,
            "timestamp": "2026-07-01 02:20:00.000000",
            "_context_project_id": "p-1",
            "payload": {"volume_id": f"v-{message_id}", "size": 1, "volume_type": "ssd"} | payload,
        }
        return json.dumps({"oslo.version": "2.0", "oslo.message": json.dumps(inner)}).encode()

    return build
