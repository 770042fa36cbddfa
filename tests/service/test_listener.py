"""A listener answers once started, refuses a taken port, and leaves nothing."""

import socket
import threading

import pytest
import requests

from harness.service.listener import Listener, ListenError


async def app(scope, receive, send):
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["path"].encode()})


def test_it_answers_until_closed():
    with Listener(app, "127.0.0.1", 0) as listener:
        url = f"http://127.0.0.1:{listener.port}/healthz"
        assert requests.get(url, timeout=5).text == "/healthz"
    with pytest.raises(requests.ConnectionError):
        requests.get(url, timeout=5)
    assert not [t for t in threading.enumerate() if t.name.startswith("listener-")]


def test_a_taken_port_is_named():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ListenError, match=f"127.0.0.1 port {port}"):
            Listener(app, "127.0.0.1", port)
