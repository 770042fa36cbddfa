"""Clients that dawdle or come in crowds do not keep a listener from serving others."""

import contextlib
import socket
import time

import pytest
import requests
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from harness.service import protocol
from harness.service.listener import Listener


async def echo(request: Request):
    return PlainTextResponse(await request.body())


async def pour(_):
    async def chunks():
        for _ in range(1000):
            yield b"x" * 1_000_000

    return StreamingResponse(chunks())


@pytest.fixture
def listener(monkeypatch):
    patience = dict.fromkeys(protocol.BoundedProtocol.patience, 0.3)
    monkeypatch.setattr(protocol.BoundedProtocol, "patience", patience)
    monkeypatch.setattr(protocol.BoundedProtocol, "most", 5)
    app = Starlette(routes=[Route("/echo", echo, methods=["GET", "POST"]), Route("/pour", pour)])
    with Listener(app, "127.0.0.1", 0) as serving:
        yield serving


@contextlib.contextmanager
def client(listener, text=b""):
    with socket.create_connection(("127.0.0.1", listener.port), timeout=5) as connection:
        connection.sendall(text)
        yield connection


def ended(connection):
    """Whether the server closes the connection by itself, and what it said before."""
    said = b""
    try:
        while data := connection.recv(65536):
            said += data
    except ConnectionResetError:
        pass
    return said


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"GET /ec",
        b"GET /echo HTTP/1.1\r\nHost: x\r\n",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345",
    ],
)
def test_a_request_that_never_ends_is_given_up(listener, text):
    started = time.monotonic()
    with client(listener, text) as connection:
        assert ended(connection) == b""
    assert 0.2 < time.monotonic() - started < 3


def test_a_client_that_drips_is_given_up_all_the_same(listener):
    with client(listener) as connection:
        started = time.monotonic()
        with contextlib.suppress(OSError):
            for character in "GET /echo HTTP/1.1\r\nX-Slow: " + "x" * 100:
                connection.sendall(character.encode())
                time.sleep(0.05)
        assert time.monotonic() - started < 3


def test_the_second_request_on_a_connection_is_bounded_as_well(listener):
    with client(listener, b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n") as connection:
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        time.sleep(0.5)  # idle is another matter
        connection.sendall(b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET /ec")
        assert ended(connection) == b""


def test_an_answer_nobody_reads_is_given_up(listener):
    with client(listener, b"GET /pour HTTP/1.1\r\nHost: x\r\n\r\n") as connection:
        time.sleep(1)
        assert len(ended(connection)) < 900_000_000


def test_a_crowd_is_kept_out_and_the_listener_serves_on(listener):
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(client(listener, b"GET /ec")) for _ in range(30)]
        assert all(ended(connection) == b"" for connection in crowd)
    url = f"http://127.0.0.1:{listener.port}/echo"
    for _ in range(20):
        assert requests.post(url, data="here", timeout=5).text == "here"


def test_a_pipelined_request_is_answered(listener):
    request = b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n"
    with client(listener, request * 3) as connection:
        said = b""
        while said.count(b"200 OK") < 3:
            data = connection.recv(4096)
            assert data
            said += data


def test_closing_does_not_wait_for_a_dawdler(listener):
    with client(listener, b"GET /ec"):
        time.sleep(0.05)
        started = time.monotonic()
        listener.close()
        assert time.monotonic() - started < 3
