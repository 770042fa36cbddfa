"""The proxy: bytes go through as they are, until it is told otherwise."""

import contextlib
import hashlib
import os
import socket
import threading
import time

import pytest

from harness.drill.proxy import Proxy


class Echo:
    """Sends back what it gets, and ends when its peer does."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.threads = []
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                end, _ = self.listener.accept()
                thread = threading.Thread(target=self.echo, args=(end,))
                thread.start()
                self.threads.append(thread)

    def echo(self, end):
        with contextlib.suppress(OSError), end:
            while piece := end.recv(65536):
                end.sendall(piece)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for thread in [self.thread, *self.threads]:
            thread.join(5)
            assert not thread.is_alive()


@pytest.fixture
def echo():
    server = Echo()
    yield server
    server.close()


@pytest.fixture
def proxy(echo):
    with Proxy("127.0.0.1", echo.port) as built:
        yield built


def connect(proxy):
    end = socket.create_connection(("127.0.0.1", proxy.port), timeout=5)
    end.settimeout(5)
    return end


def read(end, length):
    content = b""
    while len(content) < length:
        piece = end.recv(65536)
        assert piece
        content += piece
    return content


def test_bytes_go_through_unchanged(proxy):
    content = os.urandom(3_000_000)
    with connect(proxy) as end:
        writer = threading.Thread(target=end.sendall, args=(content,))
        writer.start()
        assert hashlib.sha256(read(end, len(content))).digest() == hashlib.sha256(content).digest()
        writer.join()
    assert proxy.carried == 1


def test_an_end_of_one_direction_is_carried(proxy):
    with connect(proxy) as end:
        end.sendall(b"last words")
        end.shutdown(socket.SHUT_WR)
        assert read(end, 10) == b"last words"
        assert end.recv(1) == b""
    deadline = time.monotonic() + 5
    while proxy._links and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not proxy._links


def test_a_cut_ends_both_directions(proxy):
    with connect(proxy) as one, connect(proxy) as two:
        for end in (one, two):
            end.sendall(b"x")
            assert read(end, 1) == b"x"
        assert proxy.cut() == 2
        for end in (one, two):
            with contextlib.suppress(ConnectionError):
                assert end.recv(1) == b""
    with connect(proxy) as again:
        again.sendall(b"y")
        assert read(again, 1) == b"y"
    assert (proxy.carried, proxy.severed) == (3, 2)


def test_it_can_refuse(proxy):
    proxy.refuse(refusing=True)
    with contextlib.suppress(ConnectionError), connect(proxy) as end:
        end.sendall(b"x")
        assert end.recv(1) == b""
    assert proxy.carried == 0
    proxy.refuse(refusing=False)
    with connect(proxy) as end:
        end.sendall(b"x")
        assert read(end, 1) == b"x"


def test_nobody_behind_it(echo):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with Proxy("127.0.0.1", port) as proxy:
        with contextlib.suppress(ConnectionError), connect(proxy) as end:
            assert end.recv(1) == b""
        assert proxy.carried == 0


def test_delays_are_drawn_from_the_seed(echo, monkeypatch):
    slept = {}
    for seed in (1, 1, 2):
        with Proxy("127.0.0.1", echo.port, seed=seed, delay=0.01) as proxy, connect(proxy) as end:
            taken = []
            monkeypatch.setattr("harness.drill.proxy.time.sleep", taken.append)
            for _ in range(5):
                end.sendall(b"x")
                assert read(end, 1) == b"x"
            monkeypatch.undo()
            assert slept.setdefault(seed, taken) == taken
            assert len(taken) == 10
            assert all(0 <= seconds <= 0.01 for seconds in taken)
    assert slept[1] != slept[2]
