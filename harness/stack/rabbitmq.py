"""A RabbitMQ of one's own: a server process on free ports, its data in a temporary directory."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.stack.address import BrokerAddress
from harness.stack.interface import StackError, Unavailable
from harness.stack.ports import free_ports
from harness.stack.process import Process
from harness.stack.scratch import Scratch

#: Where Debian keeps the script itself; the one on PATH insists on the system's account.
_DEBIAN = Path("/usr/lib/rabbitmq/bin")
_USER = "tally"
_ATTEMPTS = 3
#: Words of message bodies a process of the server may drop before it collects garbage. The
#: runtime's own 46,422 make a queue spend two fifths of a month in collections.
_BODIES_PER_COLLECTION = 4_000_000
#: What epmd, the runtime and the server say about a port that is not free any more.
_PORT_TAKEN = re.compile("eaddrinuse|already_used|Address already in use|already in use")


def find_rabbitmq(program: str = "rabbitmq-server") -> Path:
    """Return the path of one of RabbitMQ's programs.

    Raises:
        Unavailable: it is not installed.
    """
    if (_DEBIAN / program).exists():
        return _DEBIAN / program
    found = shutil.which(program)
    if found is None:
        raise Unavailable(
            f"{program} is neither on PATH nor in {_DEBIAN}; "
            "install it (Debian: apt install rabbitmq-server)"
        )
    return Path(found)


class PrivateBroker:
    """A RabbitMQ server that belongs to this process and ends with it.

    ::

        with PrivateBroker() as broker:
            broker.create_vhost("july")
            pika.BlockingConnection(pika.URLParameters(broker.url("july")))

    It has its own epmd, listens on 127.0.0.1 only, reads no configuration of an installed broker,
    and runs under any account. ``stop``, ``kill``, ``start`` and ``restart`` keep ports and data;
    only ``close`` removes them.

    Attributes:
        port: AMQP port.
        address: that, and all else another process needs to use it.
        directory: its data, logs and configuration.
    """

    def __init__(self, *, start_timeout: float = 90.0) -> None:
        """Prepare a broker; nothing runs before ``start`` or ``with``.

        Args:
            start_timeout: seconds a start may take.

        Raises:
            Unavailable: no rabbitmq-server or epmd on this machine.
        """
        self._server = find_rabbitmq()
        epmd = shutil.which("epmd")
        if epmd is None:
            raise Unavailable(
                "epmd is not on PATH; install Erlang (Debian: apt install erlang-base)"
            )
        self._epmd_program = epmd
        self._start_timeout = start_timeout
        self._password = secrets.token_urlsafe(24)
        self._scratch = Scratch()
        self.directory = self._scratch.path
        self._choose_ports()
        self._epmd: Process | None = None
        self._process: Process | None = None

    def _choose_ports(self) -> None:
        self.port, self._dist_port, self._epmd_port, self._http_port = free_ports(4)
        self.address = BrokerAddress(
            host="127.0.0.1",
            port=self.port,
            management=f"http://127.0.0.1:{self._http_port}",
            user=_USER,
            password=self._password,
        )
        self._management = self.address.api()

    def url(self, vhost: str = "/") -> str:
        """Return the AMQP address of a vhost, password included."""
        return self.address.url(vhost)

    @property
    def version(self) -> tuple[int, ...]:
        """Version of the running server, such as ``(3, 10, 8)``."""
        return self._management.version()

    @property
    def running(self) -> bool:
        """Whether the server process is there."""
        return self._process is not None and self._process.running

    def create_vhost(self, name: str) -> str:
        """Create a vhost and return its AMQP address. Takes a twentieth of a second."""
        self._management.create_vhost(name)
        return self.url(name)

    def delete_vhost(self, name: str) -> None:
        """Delete a vhost with its queues and exchanges; one that is gone already is no error."""
        self._management.delete_vhost(name)

    def control(self, *arguments: str, seconds: float = 30.0) -> str:
        """Run ``rabbitmqctl`` against this broker and return what it printed (about a second).

        Raises:
            StackError: it failed; shows what it said.
        """
        log = self.directory / f"control-{secrets.token_hex(4)}.log"
        process = Process(
            "rabbitmqctl",
            [str(find_rabbitmq("rabbitmqctl")), *arguments],
            environment=self._environment(),
            log=log,
        )
        process.wait_until(lambda: not process.running, seconds)
        if process.terminate():
            raise StackError(f"rabbitmqctl {' '.join(arguments)} failed:\n{process.tail()}")
        return log.read_text(encoding="utf-8", errors="replace")

    def start(self) -> Self:
        """Start the server and wait until a connection and a declaration succeed.

        A port that another process took in between is chosen anew, on the first start only.

        Raises:
            StackError: it did not come up in time; shows the tail of its log.
        """
        fresh = not (self.directory / "mnesia").exists()
        for attempt in range(_ATTEMPTS):
            try:
                self._start_once()
            except StackError as error:
                self.kill()
                if not fresh or attempt == _ATTEMPTS - 1 or not _PORT_TAKEN.search(str(error)):
                    raise
                self._choose_ports()
            else:
                return self
        raise AssertionError("unreachable")

    def _start_once(self) -> None:
        self._configure()
        log = self.directory / "output.log"
        log.unlink(missing_ok=True)
        if self._epmd is None or not self._epmd.running:
            self._epmd = Process(
                "epmd",
                [self._epmd_program, "-port", str(self._epmd_port), "-address", "127.0.0.1"],
                environment=self._environment(),
                log=self.directory / "epmd.log",
            )
        self._process = Process(
            "rabbitmq-server",
            [str(self._server)],
            environment=self._environment(),
            log=log,
            remove=self.directory,
        )
        self._process.wait_until(self.address.answers, self._start_timeout)

    def stop(self) -> None:
        """End the server cleanly; data and ports stay. Takes some seconds."""
        if self._process is not None:
            self._process.terminate(30)

    def kill(self) -> None:
        """End the server as a power cut would; data and ports stay."""
        if self._process is not None:
            self._process.kill()

    def restart(self) -> None:
        """Stop cleanly and start again, with the same ports and data."""
        self.stop()
        self.start()

    def tail(self) -> str:
        """Return the last lines of the server's log."""
        return "" if self._process is None else self._process.tail()

    def close(self) -> None:
        """End the server at once and remove all it kept; closing twice is harmless."""
        for process in (self._process, self._epmd):
            if process is not None:
                process.kill()
        self._scratch.close()

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _configure(self) -> None:
        (self.directory / "enabled_plugins").write_text("[rabbitmq_management].\n")
        configuration = self.directory / "rabbitmq.conf"
        configuration.touch(mode=0o600)
        configuration.write_text(
            f"listeners.tcp.1 = 127.0.0.1:{self.port}\n"
            f"default_user = {_USER}\n"
            f"default_pass = {self._password}\n"
            "management.tcp.ip = 127.0.0.1\n"
            f"management.tcp.port = {self._http_port}\n"
            "management.disable_stats = true\n"
            "management_agent.disable_metrics_collector = true\n"
            "log.file = false\n"
            "log.console = true\n"
            "log.console.level = info\n"
        )

    def _environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("RABBITMQ_", "ERL_"))
        }
        runtime = (
            "-kernel inet_dist_use_interface {127,0,0,1} -start_epmd false "
            f"+hmbs {_BODIES_PER_COLLECTION}"
        )
        return kept | {
            "HOME": str(self.directory),
            "ERL_EPMD_PORT": str(self._epmd_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": "tally@localhost",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self._dist_port),
            "RABBITMQ_MNESIA_BASE": str(self.directory / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.directory / "log"),
            "RABBITMQ_CONFIG_FILE": str(self.directory / "rabbitmq.conf"),
            "RABBITMQ_ADVANCED_CONFIG_FILE": str(self.directory / "advanced.config"),
            "RABBITMQ_CONF_ENV_FILE": str(self.directory / "rabbitmq-env.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.directory / "enabled_plugins"),
            "RABBITMQ_FEATURE_FLAGS_FILE": str(self.directory / "feature_flags"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": runtime,
            "RABBITMQ_CTL_ERL_ARGS": "-start_epmd false",
        }
