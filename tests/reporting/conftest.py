"""Databases, services and callers for the tests of the Reporting API."""

from __future__ import annotations

import gzip
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
import requests

from harness.reporting import admin
from harness.reporting.app import create_app
from harness.reporting.settings import Settings
from harness.service.listener import Listener
from harness.stack.interface import Unavailable
from harness.stack.postgresql import PrivatePostgres

INTERNAL = "internal-secret-of-the-tests"
MONTH = Path(__file__).with_name("month.jsonl.gz")


@pytest.fixture(scope="session")
def private_postgresql() -> Iterator[PrivatePostgres]:
    """A running PostgreSQL of this session."""
    try:
        server = PrivatePostgres()
    except Unavailable as error:
        if "local" in os.environ.get("TALLY_REQUIRE_STACKS", "").split(","):
            pytest.fail(str(error))
        pytest.skip(str(error))
    with server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request, tmp_path) -> Iterator[str]:
    """The address of an empty database, once on either kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/reporting.db"
        return
    server = request.getfixturevalue("private_postgresql")
    name = f"test_{secrets.token_hex(6)}"
    yield server.create_database(name)
    server.drop_database(name)


@pytest.fixture
def db_url(empty_url) -> str:
    """The address of a migrated database, once on either kind."""
    admin.migrate(empty_url)
    return empty_url


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory) -> Path:
    """A migrated SQLite database to copy, since migrating takes a fifth of a second."""
    path = tmp_path_factory.mktemp("template") / "reporting.db"
    admin.migrate(f"sqlite:///{path}")
    return path


@pytest.fixture
def sqlite_url(sqlite_template, tmp_path) -> str:
    """The address of a migrated SQLite database."""
    path = tmp_path / "copy.db"
    path.touch(mode=0o600)
    path.write_bytes(sqlite_template.read_bytes())
    return f"sqlite:///{path}"


@dataclass
class Api:
    """A served Reporting API, and a caller's tokens for it."""

    base: str
    url: str
    service: Any
    tokens: dict[str, str]
    session: requests.Session = field(default_factory=requests.Session)

    def call(self, method: str, path: str, *, token: str | None = "admin", **rest: Any) -> Any:
        headers = dict(rest.pop("headers", {}))
        if token is not None:
            headers["Authorization"] = f"Bearer {self.tokens.get(token, token)}"
        return self.session.request(method, self.base + path, headers=headers, timeout=30, **rest)

    def get(self, path: str, *, token: str | None = "admin", **params: Any) -> Any:
        return self.call("GET", path, token=token, params=params)

    def ingest(self, body: Any, *, token: str | None = "ingest") -> Any:
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        headers = {"Content-Type": "application/json"}
        return self.call("POST", "/api/v1/events", token=token, data=data, headers=headers)


@pytest.fixture
def serve() -> Iterator[Any]:
    """Serves the API over a database under given settings."""
    opened = []

    def start(url: str, **settings: Any) -> Api:
        app = create_app(Settings(db_url=url, internal_token=INTERNAL, **settings))
        listener = Listener(app, "127.0.0.1", 0).start()
        api = Api(
            f"http://127.0.0.1:{listener.port}",
            url,
            app.state.service,
            {
                "ingest": admin.create_ingest_credential(url, "openstack", "os-sim").token,
                "admin": admin.create_api_token(url, "admin").token,
                "read_all": admin.create_api_token(url, "read_all").token,
                "internal": INTERNAL,
            },
        )
        opened.append((listener, app.state.service, api))
        return api

    yield start
    for listener, service, api in opened:
        api.session.close()
        listener.close()
        service.close()


@pytest.fixture
def api(serve, sqlite_url) -> Api:
    """The API over SQLite."""
    return serve(sqlite_url)


@pytest.fixture
def either_api(serve, db_url) -> Api:
    """The API over SQLite, and over PostgreSQL."""
    return serve(db_url)


@pytest.fixture(scope="session")
def month() -> list[bytes]:
    """The 1812 events of seed 1, July 2026, cloud os-sim, one JSON text each, in order."""
    return gzip.decompress(MONTH.read_bytes()).splitlines()


def event(**members: Any) -> dict[str, Any]:
    """Return a valid create event of a volume, with members replaced."""
    return {
        "event_id": "e-1",
        "timestamp": "2026-07-01T00:00:00Z",
        "event_type": "volume.create.end",
        "platform": "openstack",
        "cloud": "os-sim",
        "resource_type": "volume",
        "resource_id": "v-1",
        "project_id": "p-1",
        "payload": {"state": "available", "size": {"size_gb": 10, "type": "ssd"}},
        **members,
    }


@pytest.fixture(name="event")
def event_fixture() -> Any:
    """`event`, for tests that cannot import from a conftest."""
    return event
