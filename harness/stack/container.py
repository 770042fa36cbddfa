"""The containers of a stack: the broker's, and a month's Reporting API."""

from __future__ import annotations

import contextlib
import io
import secrets
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import requests

from harness.stack.address import BrokerAddress
from harness.stack.docker import (
    ContainerFailed,
    DockerContainer,
    Engine,
    RabbitMqContainer,
    docker,
)
from harness.stack.interface import Access, StackError
from harness.stack.reporting import Tokens, answers

_AMQP, _MANAGEMENT, _HTTP = 5672, 15672, 8080
_USER = "tally"
_TAIL = 20
_REPORTING = "the Reporting API"
_SNAPSHOT = (
    "import sqlite3; source = sqlite3.connect('/data/reporting.db'); "
    "copy = sqlite3.connect('/data/snapshot.db'); source.backup(copy); copy.close()"
)


class _Broker(RabbitMqContainer):
    """testcontainers' RabbitMQ, which leaves it to us to say when it is ready."""

    def readiness_probe(self) -> bool:
        return True


class BrokerContainer:
    """A RabbitMQ container with the management plugin."""

    def __init__(self, engine: Engine, image: str, *, start_timeout: float) -> None:
        """Prepare it; nothing runs before `start`."""
        self._image = image
        self._start_timeout = start_timeout
        self._password = secrets.token_urlsafe(24)
        self._container = _Broker(
            image, port=_AMQP, username=_USER, password=self._password, vhost="/"
        )
        self._container.with_kwargs(labels=engine.labels("broker"))
        self._engine = engine
        publish(engine, self._container, _AMQP, _MANAGEMENT)

    def start(self) -> BrokerAddress:
        """Start it and wait until a connection and a declaration succeed.

        Raises:
            ContainerFailed: it ended or was not ready in time; shows the tail of its log.
        """
        name = f"RabbitMQ ({self._image}, which needs the management plugin)"
        with asking(name):
            self._container.start()
        container = self._container.get_wrapped_container()
        address: BrokerAddress | None = None

        def ready() -> bool:
            nonlocal address
            address = address or _address(self._engine, container, self._password)
            return address is not None and address.answers()

        wait_until(container, name, ready, self._start_timeout)
        if address is None:
            raise ContainerFailed(f"{name} has no address")
        return address

    def remove(self) -> None:
        """Remove it with its data; harmless when it is gone."""
        remove(self._container)

    @staticmethod
    def find(engine: Engine) -> BrokerAddress | None:
        """Return a broker that an earlier run kept and that still answers."""
        for container in engine.containers(**{Engine.KEPT: "true", Engine.ROLE: "broker"}):
            if container.status != "running":
                continue
            variables = dict(
                entry.split("=", 1) for entry in container.attrs["Config"]["Env"] if "=" in entry
            )
            address = _address(engine, container, variables.get("RABBITMQ_DEFAULT_PASS", ""))
            if address is not None and address.answers():
                return address
        return None


class ReportingContainer:
    """A container of the Reporting API on SQLite; may be stopped, killed and started again."""

    def __init__(
        self, engine: Engine, image: str, database: bytes, tokens: Tokens, *, start_timeout: float
    ) -> None:
        """Prepare it; nothing runs before `create`.

        Args:
            engine: where it runs.
            image: of this project.
            database: a SQLite database that `prepare` was used on.
            tokens: what `prepare` returned.
            start_timeout: seconds until it has to be ready.
        """
        self._tokens = tokens
        self._engine = engine
        self._start_timeout = start_timeout
        self._url = ""
        self._container = (
            DockerContainer(image)
            .with_envs(
                TALLY_REPORTING_DB_URL="sqlite:////data/reporting.db",
                TALLY_REPORTING_HTTP_ADDR="0.0.0.0",  # noqa: S104 - inside the container
                TALLY_REPORTING_HTTP_PORT=str(_HTTP),
                TALLY_REPORTING_INTERNAL_TOKEN=tokens.internal,
            )
            .with_command(["reporting", "serve"])
            .with_copy_into_container(database, "/data/reporting.db", 0o666)
            .with_kwargs(labels=engine.labels("reporting"))
        )
        publish(engine, self._container, _HTTP)

    @property
    def access(self) -> Access:
        """Where it is, and how to be let in."""
        return Access(self._url, self._tokens.api, self._tokens.internal)

    def create(self) -> None:
        """Create and start it, and wait until it is ready.

        Raises:
            ContainerFailed: it ended or was not ready in time; shows the tail of its log.
        """
        with asking(_REPORTING):
            self._container.start()
        self._wait()

    def start(self) -> None:
        """Start it again after `stop` or `kill`; the engine may give it another port."""
        with asking(_REPORTING):
            self._container.get_wrapped_container().start()
        self._wait()

    def stop(self) -> None:
        """End it cleanly; its data stays."""
        with asking(_REPORTING):
            self._container.get_wrapped_container().stop(timeout=15)

    def kill(self) -> None:
        """End it the hard way; its data stays."""
        with asking(_REPORTING):
            self._container.get_wrapped_container().kill()

    def snapshot(self) -> bytes:
        """Return its database as of one instant.

        Raises:
            StackError: the container does not do it; shows what it said.
        """
        done = self._container.exec(["python3", "-I", "-c", _SNAPSHOT])
        if done.exit_code:
            said = done.output.decode(errors="replace").strip()
            raise StackError(f"taking a snapshot in the Reporting API's container: {said}")
        chunks, _ = self._container.get_wrapped_container().get_archive("/data/snapshot.db")
        with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as archive:
            member = archive.extractfile("snapshot.db")
            if member is None:
                raise StackError("the Reporting API's container gave no snapshot")
            return member.read()

    def remove(self) -> None:
        """Remove it with its data; harmless when it is gone."""
        remove(self._container)

    def _wait(self) -> None:
        container = self._container.get_wrapped_container()

        def ready() -> bool:
            endpoint = self._engine.endpoint(container, _HTTP)
            if endpoint is None:
                return False
            self._url = f"http://{endpoint[0]}:{endpoint[1]}"
            return answers(f"{self._url}/readyz")

        wait_until(container, _REPORTING, ready, self._start_timeout)


@contextmanager
def asking(name: str) -> Iterator[None]:
    """Word what the engine, or the way to it, has against a request about a container."""
    try:
        yield
    except (docker.errors.DockerException, requests.RequestException) as error:
        said = getattr(error, "explanation", None) or error
        raise ContainerFailed(f"{name}: the container engine refused: {said}") from error


def publish(engine: Engine, container: DockerContainer, *ports: int) -> None:
    """Publish ports, each under a number the engine chooses."""
    for port in ports:
        container.ports[str(port)] = (engine.interface, None)  # type: ignore[assignment]  # docker's form


def wait_until(container: Any, name: str, ready: Callable[[], bool], seconds: float) -> None:
    """Wait until `ready()` is true, while the container runs.

    Raises:
        ContainerFailed: it ended or was not ready in time; shows the tail of its log.
    """
    deadline = time.monotonic() + seconds
    while not ready():
        container.reload()
        if container.status in {"exited", "dead"}:
            status = container.attrs["State"]["ExitCode"]
            raise ContainerFailed(
                f"{name} ended with status {status} before it was ready; "
                f"the end of its log:\n{_tail(container)}"
            )
        if time.monotonic() > deadline:
            raise ContainerFailed(
                f"{name} was not ready within {seconds:g} s; "
                f"the end of its log:\n{_tail(container)}"
            )
        time.sleep(0.1)


def remove(container: DockerContainer) -> None:
    """Remove a container that was perhaps never created, or is gone already."""
    with contextlib.suppress(docker.errors.NotFound):
        container.stop()


def _tail(container: Any) -> str:
    text: bytes = container.logs(tail=_TAIL)
    return text.decode(errors="replace").strip() or "(the log is empty)"


def _address(engine: Engine, container: Any, password: str) -> BrokerAddress | None:
    amqp, management = (engine.endpoint(container, port) for port in (_AMQP, _MANAGEMENT))
    if amqp is None or management is None:
        return None
    return BrokerAddress(
        host=amqp[0],
        port=amqp[1],
        management=f"http://{management[0]}:{management[1]}",
        user=_USER,
        password=password,
    )
