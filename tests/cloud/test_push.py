"""The OTLP document, the pacing, the retries and what an error may show."""

import base64
import contextlib
import socket
import threading
import time
from collections import deque

import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from harness.broker.clock import VirtualClock
from harness.cloud import otlp, push
from harness.cloud.push import Endpoint, Push, PushError, Target, batches, redact
from harness.cloud.registration import Registration, RegistrationError, Registry
from harness.oracle.sample import Sample
from harness.service.listener import Listener


class Receiver:
    """An HTTP endpoint that answers with the statuses it is given, then with 200."""

    def __init__(self):
        self.statuses = deque()
        self.requests = []

    async def answer(self, request):
        self.requests.append((dict(request.headers), await request.body()))
        status, text = self.statuses.popleft() if self.statuses else (200, "")
        return Response(text, status)


@pytest.fixture
def receiver():
    return Receiver()


@pytest.fixture
def url(receiver):
    app = Starlette(routes=[Route("/v1/metrics", receiver.answer, methods=["POST"])])
    with Listener(app, "127.0.0.1", 0) as listener:
        yield f"http://127.0.0.1:{listener.port}/v1/metrics"


@pytest.fixture
def endpoint(url, monkeypatch):
    monkeypatch.setattr(push, "_FIRST_WAIT", 0.01)
    return Endpoint(Target(url, "tally", "sécret"), {"platform": "openstack", "cloud": "os-sim"})


def gauge(number, name="g"):
    return Sample(1782864000, name, {"id": str(number)}, number)


def test_the_document():
    counter = Sample(1782864300, "c_total", {"cloud": "own", "b": "2"}, 2**60 + 1, cumulative=True)
    document = otlp.encode([gauge(7), counter, gauge(8)], {"platform": "openstack", "cloud": "os"})
    assert document.decode() == (
        '{"resourceMetrics":[{"scopeMetrics":[{"metrics":['
        '{"name":"g","gauge":{"dataPoints":['
        '{"attributes":[{"key":"cloud","value":{"stringValue":"os"}},'
        '{"key":"id","value":{"stringValue":"7"}},'
        '{"key":"platform","value":{"stringValue":"openstack"}}],'
        '"timeUnixNano":"1782864000000000000","asInt":"7"},'
        '{"attributes":[{"key":"cloud","value":{"stringValue":"os"}},'
        '{"key":"id","value":{"stringValue":"8"}},'
        '{"key":"platform","value":{"stringValue":"openstack"}}],'
        '"timeUnixNano":"1782864000000000000","asInt":"8"}]}},'
        '{"name":"c_total","sum":{"aggregationTemporality":2,"isMonotonic":true,"dataPoints":['
        '{"attributes":[{"key":"b","value":{"stringValue":"2"}},'
        '{"key":"cloud","value":{"stringValue":"own"}},'
        '{"key":"platform","value":{"stringValue":"openstack"}}],'
        '"timeUnixNano":"1782864300000000000","asInt":"1152921504606846977"}]}}]}]}]}'
    )


def test_a_name_of_two_kinds_is_refused():
    mixed = [gauge(1, "x"), gauge(2, "x")._replace(cumulative=True)]
    with pytest.raises(otlp.MixedSeries, match="x comes as a gauge and as a counter"):
        otlp.encode(mixed, {})


def test_a_batch_is_cut_into_requests(endpoint, receiver):
    endpoint.push([gauge(number) for number in range(12001)])
    counts = [body.count(b'"asInt"') for _, body in receiver.requests]
    assert counts == [5000, 5000, 2001]
    headers, _ = receiver.requests[0]
    assert headers["content-type"] == "application/json"
    assert (
        base64.b64decode(headers["authorization"].removeprefix("Basic ")).decode() == "tally:sécret"
    )


@pytest.mark.parametrize("status", [429, 500, 502, 503, 599])
def test_a_passing_failure_is_tried_again(endpoint, receiver, status):
    receiver.statuses.extend([(status, "later")] * 4)
    endpoint.push([gauge(1)])
    assert len(receiver.requests) == 5


@pytest.mark.parametrize("status", [301, 400, 401, 404, 413, 501])
def test_a_refusal_is_final(endpoint, receiver, url, status):
    receiver.statuses.append((status, "no " * 400))
    with pytest.raises(PushError) as caught:
        endpoint.push([gauge(number) for number in range(5001)])
    assert len(receiver.requests) == 1
    assert str(caught.value) == (
        f"pushing metrics to {url}: unexpected status {status}: {('no ' * 400)[:512].strip()}"
    )


def test_five_attempts_are_all(endpoint, receiver):
    receiver.statuses.extend([(503, "busy")] * 9)
    with pytest.raises(PushError, match="unexpected status 503: busy"):
        endpoint.push([gauge(1)])
    assert len(receiver.requests) == 5


def test_a_refused_connection_is_tried_again_and_shows_no_secret(monkeypatch):
    monkeypatch.setattr(push, "_FIRST_WAIT", 0.001)
    target = Target("http://127.0.0.1:9/v1?key=hidden", "tally", "sécret")
    with pytest.raises(PushError) as caught:
        Endpoint(target, {}).push([gauge(1)])
    text = str(caught.value)
    assert text.startswith("pushing metrics to http://127.0.0.1:9/v1: ")
    assert "refused" in text
    assert "hidden" not in text
    assert "sécret" not in text + repr(target)


@pytest.fixture
def breaking_off():
    """A server that announces more of an answer than it sends."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(b"HTTP/1.1 400 No\r\nContent-Length: 999\r\n\r\nbecause")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def test_an_answer_that_breaks_off_is_an_error_of_ours(breaking_off, month, monkeypatch):
    monkeypatch.setattr(push, "_FIRST_WAIT", 0.001)
    with pytest.raises(PushError, match="pushing metrics to"):
        Endpoint(Target(breaking_off, "u", "p"), {}).push([gauge(1)])
    with pytest.raises(RegistrationError, match="POST /api/v1/projects"):
        Registration(Registry(breaking_off, "t", "garden-sim"), month).run()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://otlp.example/v1/metrics", "https://otlp.example/v1/metrics"),
        ("https://u:p@otlp.example:4318/x?token=1#f", "https://redacted@otlp.example:4318/x"),
        ("http://[::1", "the configured endpoint"),
        ("nonsense", "the configured endpoint"),
    ],
)
def test_redaction(url, shown):
    assert redact(url) == shown


def test_an_interrupt_ends_the_retries(url, receiver):
    endpoint = Endpoint(Target(url, "u", "p"), {})
    receiver.statuses.extend([(503, "")] * 9)
    threading.Timer(0.2, endpoint.interrupt).start()
    started = time.monotonic()
    with pytest.raises(PushError):
        endpoint.push([gauge(1)])
    assert time.monotonic() - started < 3


def test_at_factor_0_requests_are_filled(oracle, clock):
    step = 3600
    sizes = [len(batch) for _, batch in batches(oracle, lambda at: [gauge(1)] * 200, clock, step)]
    assert all(size >= 5000 for size in sizes[:-1])
    assert sizes[-1] < 6000


def test_in_step_with_the_clock_each_grid_instant_goes_out_alone(oracle):
    wall = [0.0]

    class Stepping(VirtualClock):
        def sleep_until(self, instant):
            wall[0] = instant - oracle.start
            return True

    paced = Stepping(oracle.start, 1, wall=lambda: wall[0])
    found = list(batches(oracle, lambda at: [gauge(1)], paced, 86400))
    assert [instant for instant, _ in found] == list(range(oracle.start, oracle.end, 86400))


def test_behind_the_clock_steps_are_gathered(oracle):
    late = VirtualClock(oracle.end, 1, wall=lambda: 0.0)
    found = list(batches(oracle, lambda at: [gauge(1)], late, 86400))
    assert [instant for instant, _ in found] == [oracle.end - 86400]


def test_an_interrupted_clock_ends_the_pushing(month, oracle, endpoint, receiver):
    clock = VirtualClock(oracle.start, 1)
    pushing = Push(month, oracle, clock, endpoint, 300)
    pushing.start()
    while not receiver.requests:
        time.sleep(0.01)
    clock.interrupt()
    pushing.join(5)
    assert pushing.error is None
    assert pushing.pushed == 48


def test_a_failing_endpoint_ends_the_pushing_with_an_error(
    month, oracle, clock, endpoint, receiver
):
    receiver.statuses.append((400, "no"))
    pushing = Push(month, oracle, clock, endpoint, 86400)
    pushing.start()
    pushing.join(30)
    assert isinstance(pushing.error, PushError)
    assert pushing.pushed == 0
