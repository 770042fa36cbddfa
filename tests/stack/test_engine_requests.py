"""What is asked of a container engine, Docker's or Podman's, read off a socket that records it.

Not run here against the real things: Podman, and Ryuk (its image cannot be had without a registry).
"""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from harness.stack import container, docker
from harness.stack.interface import StackError, Unavailable
from harness.stack.reporting import Tokens

VERSION = {"ApiVersion": "1.41", "MinAPIVersion": "1.12", "Version": "20.10"}
NOT_HERE = {"message": "no such image"}


class RecordingEngine(ThreadingHTTPServer):
    """Answers what a client asks before it creates a container, and refuses to create one."""

    address_family = socket.AF_UNIX
    daemon_threads = True

    def __init__(self, path: Path) -> None:
        self.created: list[dict[str, Any]] = []
        self.pulled: list[str] = []
        super().__init__(str(path), _Answers)  # type: ignore[arg-type]

    def server_bind(self) -> None:
        self.socket.bind(self.server_address)  # type: ignore[arg-type]

    def get_request(self) -> tuple[socket.socket, Any]:
        return self.socket.accept()[0], ("engine", 0)


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: RecordingEngine

    def do_GET(self) -> None:
        if self.path.endswith("/version"):
            self._say(200, VERSION)
        elif self.path.endswith("/_ping"):
            self._say(200, "OK")
        elif "/images/" in self.path:
            here = "absent" not in self.path
            self._say(
                *((200, {"Id": "sha256:1", "RepoTags": ["x:1"]}) if here else (404, NOT_HERE))
            )
        elif "/networks/bridge" in self.path:
            self._say(200, {"Id": "b", "IPAM": {"Config": [{"Subnet": "203.0.113.0/24"}]}})
        else:
            self._say(200, [])

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if "/images/create" in self.path:
            self.server.pulled.append(self.path)
            self._say(404, {"message": "registry: unreachable"})
            return
        self.server.created.append(json.loads(body) | {"path": self.path})
        self._say(500, {"message": "this engine only listens"})

    def _say(self, status: int, document: Any) -> None:
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordingEngine]:
    path = tmp_path / "podman" / "podman.sock"
    path.parent.mkdir()
    with RecordingEngine(path) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        monkeypatch.setattr(docker.testcontainers_config, "_ryuk_disabled", True)
        monkeypatch.setattr(docker.testcontainers_config, "connection_mode_override", None)
        yield server
        server.shutdown()


def create(engine: RecordingEngine, **options: bool) -> dict[str, Any]:
    with docker.Engine(**options) as client:
        broker = container.BrokerContainer(client, "rabbitmq:4.0", start_timeout=1)
        with pytest.raises(StackError, match="refused: this engine only listens"):
            broker.start()
        broker.remove()
    return engine.created[-1]


def test_the_broker_is_published_on_loopback_and_bears_its_owner(
    engine: RecordingEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docker, "_is_ours", lambda address: True)
    asked = create(engine)
    assert asked["Image"] == "rabbitmq:4.0"
    bindings = asked["HostConfig"]["PortBindings"]
    assert set(bindings) == {"5672/tcp", "15672/tcp"}
    assert all(entry == [{"HostIp": "127.0.0.1", "HostPort": ""}] for entry in bindings.values())
    assert asked["Labels"]["tally-harness.owner"] == docker.owner()
    assert asked["Labels"]["tally-harness.role"] == "broker"
    assert "tally-harness.kept" not in asked["Labels"]
    variables = dict(entry.split("=", 1) for entry in asked["Env"])
    assert len(variables["RABBITMQ_DEFAULT_PASS"]) >= 32


def test_a_kept_broker_says_so(engine: RecordingEngine) -> None:
    assert create(engine, keep=True)["Labels"]["tally-harness.kept"] == "true"


def test_the_reporting_api_runs_as_the_images_user_on_its_copied_database(
    engine: RecordingEngine,
) -> None:
    tokens = Tokens("tly_i_x", "tly_a_x", "inner")
    with docker.Engine() as client:
        reporting = container.ReportingContainer(
            client, "tally-harness:1", b"", tokens, start_timeout=1
        )
        with pytest.raises(StackError, match="refused: this engine only listens"):
            reporting.create()
        reporting.remove()
    asked = engine.created[-1]
    assert asked["Cmd"] == ["reporting", "serve"]
    assert asked.get("User") in {None, ""}
    assert not asked["HostConfig"].get("Binds")
    assert set(asked["HostConfig"]["PortBindings"]) == {"8080/tcp"}
    assert "TALLY_REPORTING_INTERNAL_TOKEN=inner" in asked["Env"]
    assert "TALLY_REPORTING_DB_URL=sqlite:////data/reporting.db" in asked["Env"]
    assert "tly_i_x" not in json.dumps(asked)


def test_ryuk_is_asked_for_unless_it_is_disabled_or_containers_are_kept(
    engine: RecordingEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docker.testcontainers_config, "_ryuk_disabled", False)
    first = create(engine)
    assert first["Image"].startswith("testcontainers/ryuk:")
    assert any(bind.endswith("/var/run/docker.sock:rw") for bind in first["HostConfig"]["Binds"])
    engine.created.clear()
    assert create(engine, keep=True)["Image"] == "rabbitmq:4.0"
    assert len(engine.created) == 1


def test_podmans_socket_is_found(engine: RecordingEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    path = os.environ["DOCKER_HOST"].removeprefix("unix://")
    monkeypatch.delenv("DOCKER_HOST")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(Path(path).parent.parent))
    monkeypatch.setattr(docker, "_SOCKET", "/nonexistent/docker.sock")
    assert create(engine)["Image"] == "rabbitmq:4.0"
    assert os.environ["DOCKER_HOST"] == f"unix://{path}"


def test_an_image_that_cannot_be_had_names_the_option(engine: RecordingEngine) -> None:
    with docker.Engine() as client:
        client.require("rabbitmq:4.0", "--tally-rabbitmq-image")
        expected = r"the image absent:1 is not on this engine and cannot be pulled \(unreachable\)"
        with pytest.raises(Unavailable, match=f"{expected}.*with --tally-rabbitmq-image"):
            client.require("absent:1", "--tally-rabbitmq-image")
        assert engine.pulled
        with pytest.raises(Unavailable, match="a tag that does not move"):
            client.require("rabbitmq:latest", "--tally-rabbitmq-image")


def test_an_engine_that_does_not_answer_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docker, "_GREETING", 0.5)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "silent.sock"))
        silent.listen()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/silent.sock")
        with pytest.raises(
            Unavailable, match=r"no container engine answers at unix://.*silent\.sock"
        ):
            docker.Engine()


def test_only_a_dead_process_of_this_machine_is_gone() -> None:
    mine = docker.owner()
    machine, pid, started = mine.rsplit("/", 2)
    assert not docker.is_gone(mine)
    assert docker.is_gone(f"{machine}/{pid}/{int(started) - 1}")
    assert docker.is_gone(f"{machine}/4194305/1")
    assert not docker.is_gone(f"elsewhere-1/{pid}/1")
    assert not docker.is_gone("nonsense")
