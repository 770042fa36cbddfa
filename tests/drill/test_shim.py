"""The shim: what each fault does to a post, and that a seed repeats itself."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import requests

from harness.drill.shim import FAULTS, Shim


@pytest.fixture
def api():
    """A Reporting API that remembers what it was sent."""
    taken = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            taken.append((self.path, self.headers["Authorization"], json.loads(body)))
            answer = json.dumps({"accepted": len(taken[-1][2]), "duplicates": 0, "rejected": []})
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer.encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    server.taken = taken
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def shim(api):
    built = []

    def build(*names, seed=1, share=1.0):
        one = Shim(f"http://127.0.0.1:{api.server_port}", names, seed=seed, share=share)
        built.append(one)
        return one

    yield build
    for one in built:
        one.close()


def post(shim, count=3):
    events = [{"event_id": f"e{index}"} for index in range(count)]
    return requests.post(
        f"{shim.url}/api/v1/events", json=events, headers={"Authorization": "Bearer t"}, timeout=10
    )


def test_a_quiet_shim_carries(shim, api):
    answer = post(shim("reporting-500", share=0.0))
    assert (answer.status_code, answer.json()["accepted"]) == (200, 3)
    assert api.taken[0][:2] == ("/api/v1/events", "Bearer t")


def test_down(shim, api):
    with pytest.raises(requests.ConnectionError):
        post(shim("reporting-down"))
    assert api.taken == []


@pytest.mark.parametrize(("name", "status"), [("reporting-500", 500), ("reporting-429", 429)])
def test_a_status(shim, name, status):
    one = shim(name)
    assert post(one).status_code == status
    assert one.faults == {name: 1}


def test_too_large(shim, api):
    one = shim("reporting-413")
    assert post(one, 101).status_code == 413
    assert post(one, 100).status_code == 200
    assert len(api.taken) == 1


def test_truncated_after_it_was_stored(shim, api):
    one = shim("reporting-truncated")
    for _ in range(2):
        try:
            answer = post(one)
        except requests.RequestException:
            continue
        with pytest.raises(ValueError):
            answer.json()
    assert len(api.taken) == 2


def test_rejecting_claims_what_is_not_so(shim, api):
    answer = post(shim("reporting-rejecting"), 100)
    said = answer.json()
    assert said["rejected"]
    assert said["accepted"] + len(said["rejected"]) == 100
    assert len(api.taken[0][2]) == 100


def test_slow(shim, monkeypatch):
    slept = []
    monkeypatch.setattr("harness.drill.shim.time.sleep", slept.append)
    assert post(shim("reporting-slow")).status_code == 200
    assert 0.5 <= slept[0] <= 2


def test_never_more_than_two_failures_in_a_row(shim):
    one = shim("reporting-429")
    assert [post(one).status_code for _ in range(7)] == [429, 429, 200, 429, 429, 200, 429]


def test_a_seed_repeats_itself(shim):
    def run(seed):
        one = shim("reporting-500", "reporting-429", seed=seed, share=0.5)
        return [post(one).status_code for _ in range(30)]

    assert run(5) == run(5) != run(6)


def test_settled(shim):
    one = shim("reporting-429")
    assert post(one).status_code == 429
    one.settle()
    assert [post(one).status_code for _ in range(3)] == [200] * 3


def test_names():
    assert sorted(FAULTS) == [
        "reporting-413", "reporting-429", "reporting-500", "reporting-down",
        "reporting-rejecting", "reporting-slow", "reporting-truncated",
    ]  # fmt: skip
