"""A container engine, Docker's or Podman's, and the containers of this project on it."""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
import warnings
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

from harness.stack.interface import StackError, Unavailable

try:
    import docker
    import docker.errors
    import requests
    from testcontainers.core.config import ConnectionMode, testcontainers_config
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.docker_client import DockerClient, get_docker_host

    with warnings.catch_warnings():
        # The module decorates its own probe with a decorator testcontainers has deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        from testcontainers.community.rabbitmq import RabbitMqContainer
except ModuleNotFoundError as error:
    raise Unavailable(
        f"the stack containers needs the Python package {error.name}: "
        "pip install 'tally-harness[containers]'"
    ) from error

__all__ = ["DockerContainer", "Engine", "RabbitMqContainer", "docker"]

#: Seconds an answer of the engine may take, a pull's next word included; and the first one.
_TIMEOUT = 60
_GREETING = 15
_SOCKET = "/var/run/docker.sock"
_LOOPBACK = "127.0.0.1"
logging.getLogger("testcontainers").setLevel(logging.WARNING)


class Engine:
    """The engine ``DOCKER_HOST`` (or the current Docker context, or Podman's socket) names.

    Attributes:
        client: of testcontainers.
        interface: address of the engine's machine that ports are published on: 127.0.0.1 where
            that is this machine, empty (any) where it is another one.
    """

    OWNER: ClassVar[str] = "tally-harness.owner"
    ROLE: ClassVar[str] = "tally-harness.role"
    KEPT: ClassVar[str] = "tally-harness.kept"

    def __init__(self, *, keep: bool = False) -> None:
        """Find it and see that it answers.

        Args:
            keep: containers are to outlive this process, so no Ryuk may watch over them.

        Raises:
            Unavailable: no engine answers; says where it was looked for.
        """
        self._keep = keep
        if keep:
            testcontainers_config._ryuk_disabled = True  # noqa: SLF001 - has no public setter
        find_podman()
        where = get_docker_host() or f"unix://{_SOCKET}"
        try:
            _knock(where)
            self.client = DockerClient(timeout=_GREETING)
            self.client.client.ping()
        except (docker.errors.DockerException, requests.RequestException, OSError) as error:
            raise Unavailable(
                f"no container engine answers at {where} ({_short(error)}); start Docker, or "
                "Podman's service (systemctl --user start podman.socket), or set DOCKER_HOST"
            ) from None
        self.client.client.api.timeout = _TIMEOUT

        self._host, self.interface = self._reach()

    def _reach(self) -> tuple[str, str]:
        """Find out under which name published ports are reached, and where to publish them.

        The name is empty where a container shares its network with this process, which then
        reaches it directly.
        """
        mode = self.client.get_connection_mode()
        if mode is ConnectionMode.bridge_ip:
            return "", ""
        host = self.client.host()
        if mode is ConnectionMode.docker_host:
            return (_LOOPBACK, _LOOPBACK) if host in {"localhost", _LOOPBACK, "::1"} else (host, "")
        bridge = self.client.client.networks.get("bridge").attrs["IPAM"]["Config"][0]
        gateway = str(bridge.get("Gateway") or ipaddress.ip_network(bridge["Subnet"])[1])
        # A machine that only looks like a container has the engine's bridge itself.
        return (_LOOPBACK, _LOOPBACK) if _is_ours(gateway) else (gateway, gateway)

    def endpoint(self, container: Any, inside: int) -> tuple[str, int] | None:
        """Return host and port under which a container's port is reached; None while it is not."""
        if not self._host:
            return self.client.bridge_ip(container.id), inside
        container.reload()
        for binding in container.ports.get(f"{inside}/tcp") or ():
            return self._host, int(binding["HostPort"])
        return None

    def labels(self, role: str) -> dict[str, str]:
        """Return the labels of a container of ours: whose it is, and what for."""
        labels = {self.OWNER: owner(), self.ROLE: role}
        return labels | ({self.KEPT: "true"} if self._keep else {})

    def require(self, image: str, option: str) -> None:
        """See that an image is here, or get it.

        Raises:
            Unavailable: it is neither here nor to be had; names the option that chooses it.
        """
        if image.endswith(":latest"):
            raise Unavailable(f"the image {image}: give {option} a tag that does not move")
        try:
            self.client.client.images.get(image)
        except docker.errors.ImageNotFound:
            pass
        else:
            return
        try:
            self.client.client.images.pull(image)
        except (docker.errors.DockerException, requests.RequestException) as error:
            raise Unavailable(
                f"the image {image} is not on this engine and cannot be pulled "
                f"({_short(error)}); pull or build it, or name another with {option}"
            ) from None

    def containers(self, **labels: str) -> list[Any]:
        """Return the containers of ours, running or not, that bear the labels, too."""
        wanted = [self.OWNER, *(f"{name}={value}" for name, value in labels.items())]
        found = self.client.client.containers.list(all=True, filters={"label": wanted})
        return list(found)

    def sweep(self) -> list[str]:
        """Remove containers whose owner was killed on this machine; return their names."""
        swept = []
        for container in self.containers():
            if self.KEPT not in container.labels and is_gone(container.labels[self.OWNER]):
                try:
                    container.remove(force=True, v=True)
                except docker.errors.NotFound:
                    continue
                except docker.errors.APIError as error:
                    if error.status_code != 409:  # somebody else's sweep removes it right now
                        raise
                swept.append(str(container.name))
        return swept

    def close(self) -> None:
        """Close the connection to the engine."""
        self.client.client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _knock(address: str) -> None:
    """See that somebody listens; the client leaves its socket open where nobody does."""
    parts = urlsplit(address)
    if parts.scheme == "unix":
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(_GREETING)
            probe.connect(parts.path)


def _is_ours(address: str) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def find_podman() -> None:
    """Point ``DOCKER_HOST`` at this user's Podman where neither it nor a Docker socket is there."""
    if os.environ.get("DOCKER_HOST") or Path(_SOCKET).exists():
        return
    runtime = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
    candidates = (Path(runtime) / "podman" / "podman.sock", Path("/run/podman/podman.sock"))
    for candidate in candidates:
        if candidate.exists():
            os.environ["DOCKER_HOST"] = f"unix://{candidate}"
            return


def owner() -> str:
    """Return who this process is: machine, process id, and when that was given out."""
    return f"{machine()}/{os.getpid()}/{_started(os.getpid())}"


def machine() -> str:
    """Return what tells one machine (or container) with processes of its own from another."""
    try:
        space = str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        space = "0"
    return f"{socket.gethostname()}-{space}"


def is_gone(whose: str) -> bool:
    """Tell whether an owner was a process of this machine that has ended."""
    try:
        name, pid, started = whose.rsplit("/", 2)
    except ValueError:
        return False
    return name == machine() and _started(int(pid)) != started


def _started(pid: int) -> str:
    """Return when a process was started, in the kernel's ticks; empty when there is none."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return ""
    return status.rpartition(")")[2].split()[19]


def _short(error: Exception) -> str:
    """Return the last words of an exception, which are the cause."""
    text = str(getattr(error, "explanation", None) or error)
    return text.rpartition(": ")[2].strip(" ()'\"") or type(error).__name__


class ContainerFailed(StackError):
    """A container ended, or did not become ready in time; shows the tail of its log."""
