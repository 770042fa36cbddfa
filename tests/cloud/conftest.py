"""A month, its oracle, and a clock that stands where a test puts it."""

from __future__ import annotations

import pytest
import requests

from harness.broker.clock import VirtualClock
from harness.calendar import Period
from harness.month import generate
from harness.oracle.fold import fold
from harness.service.listener import Listener

JULY = Period(2026, 7)


@pytest.fixture(scope="session")
def month():
    return generate(1, JULY, "os-sim")


@pytest.fixture(scope="session")
def oracle(month):
    return fold(month)


class Standing(VirtualClock):
    """A clock at factor 0 that is moved by hand."""

    def __init__(self, instant):
        super().__init__(instant, 0)

    def move(self, instant):
        self._base = instant


@pytest.fixture(scope="session")
def standing(oracle):
    return Standing(oracle.start)


@pytest.fixture
def clock(standing, oracle):
    standing.move(oracle.start)
    return standing


class Client(requests.Session):
    """Speaks to a listener by path."""

    def __init__(self, base):
        super().__init__()
        self.base = base

    def request(self, method, path, **options):
        options.setdefault("allow_redirects", False)
        return super().request(method, self.base + path, timeout=20, **options)

    def another(self):
        return Client(self.base)


@pytest.fixture(scope="module")
def serve():
    """Serves ASGI apps until the module's tests have ended, and gives a client of each."""
    listeners = []

    def serving(app):
        listener = Listener(app, "127.0.0.1", 0).start()
        listeners.append(listener)
        return Client(f"http://127.0.0.1:{listener.port}")

    yield serving
    for listener in listeners:
        listener.close()
