"""What can go wrong on purpose: one class for each part that is disturbed."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

from harness.broker.address import parameters
from harness.drill import jumping_clock
from harness.drill.proxy import Proxy
from harness.drill.shim import Shim
from harness.stack.interface import StackError

_DISK_MIB = 16
_YEAR = 366 * 86400


@dataclass(slots=True)
class Surroundings:
    """What a collector is started with; a disturbance puts itself in between.

    Attributes:
        collector: to kill and start.
        amqp_url: where it consumes; empty where there is no address to put something in front of.
        reporting_url: where it posts; empty likewise.
        broker: the broker as something to restart; None where it is not ours.
        variables: what its environment is changed by.
    """

    collector: Any
    amqp_url: str
    reporting_url: str
    broker: Any = None
    variables: dict[str, str] = field(default_factory=dict)


class Disturbance(Protocol):
    """One kind of trouble.

    Attributes:
        repeats: a message may be handled, or an event posted, more than once because of it.
    """

    repeats: bool

    @property
    def struck(self) -> int:
        """How often it struck so far."""
        ...

    def begin(self, around: Surroundings) -> None:
        """Take hold, before the collector starts."""
        ...

    def act(self) -> None:
        """Strike, at a place of the stream."""
        ...

    def calm(self) -> None:
        """End what `act` began; called at the next place, and at the end of the stream."""
        ...

    def settle(self) -> None:
        """Strike no more."""
        ...

    def close(self) -> None:
        """Take everything away, after the collector ended."""
        ...


class Trouble:
    """A disturbance that does nothing; others say what they do."""

    repeats = True

    def __init__(self, seed: int) -> None:
        """Draw from `seed`."""
        self._seed = seed
        self._random = random.Random(seed)  # noqa: S311 - reproducible, no secret
        self._strikes = 0

    @property
    def struck(self) -> int:
        """How often it struck so far."""
        return self._strikes

    def begin(self, around: Surroundings) -> None:
        """Take hold of nothing."""

    def act(self) -> None:
        """Do nothing but count."""
        self._strikes += 1

    def calm(self) -> None:
        """Do nothing."""

    def settle(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Take away nothing."""


class KillCollector(Trouble):
    """SIGKILLs the collector while it works on what was just published, and starts it again."""

    def begin(self, around: Surroundings) -> None:
        """Remember the collector."""
        self._around = around

    def act(self) -> None:
        """Kill and start."""
        super().act()
        time.sleep(self._random.uniform(0, 0.15))
        self._around.collector.kill()
        time.sleep(self._random.uniform(0, 0.2))
        self._around.collector.start(**self._around.variables)


class RestartBroker(Trouble):
    """Restarts the broker while the month is being published."""

    def begin(self, around: Surroundings) -> None:
        """Remember the broker."""
        if around.broker is None:
            raise StackError(
                "restart-broker needs a broker this process started; use --stack local, one process"
            )
        self._broker = around.broker
        self._work: threading.Thread | None = None
        self._failure: StackError | None = None

    def act(self) -> None:
        """Begin to restart it."""
        super().act()
        self._work = threading.Thread(target=self._restart, name="restart-broker")
        self._work.start()

    def calm(self) -> None:
        """Wait until it is back."""
        if self._work is not None:
            self._work.join()
            self._work = None
        if self._failure is not None:
            raise self._failure

    def _restart(self) -> None:
        try:
            self._broker.restart()
        except StackError as error:
            self._failure = error


class CutConnections(Trouble):
    """Resets the collector's connections to the broker and the Reporting API."""

    def __init__(self, seed: int, delay: float = 0.0) -> None:
        """Draw from `seed`; hold up each piece that passes by up to `delay` seconds."""
        super().__init__(seed)
        self._delay = delay
        self.proxies: list[Proxy] = []

    def begin(self, around: Surroundings) -> None:
        """Put a proxy in front of both."""
        around.amqp_url = self._in_front(around.amqp_url, parameters(around.amqp_url).port)
        around.variables["TALLY_OSC_AMQP_URL"] = around.amqp_url
        if around.reporting_url:
            around.reporting_url = self._in_front(around.reporting_url, 80)
            around.variables["TALLY_OSC_REPORTING_URL"] = around.reporting_url

    def act(self) -> None:
        """Cut, and refuse to connect for a moment."""
        super().act()
        for proxy in self.proxies:
            proxy.refuse(refusing=True)
            proxy.cut()
        time.sleep(self._random.uniform(0, 0.3))
        self.calm()

    def calm(self) -> None:
        """Connect again."""
        for proxy in self.proxies:
            proxy.refuse(refusing=False)

    def settle(self) -> None:
        """Hold up nothing."""
        for proxy in self.proxies:
            proxy.delay(0.0)

    def close(self) -> None:
        """Take the proxies away."""
        for proxy in self.proxies:
            proxy.close()

    def _in_front(self, url: str, default_port: int) -> str:
        parts = urlsplit(url)
        proxy = Proxy(
            parts.hostname or "127.0.0.1",
            parts.port or default_port,
            seed=self._random.getrandbits(32),
            delay=self._delay,
        )
        self.proxies.append(proxy)
        user, at, _ = parts.netloc.rpartition("@")
        return urlunsplit(parts._replace(netloc=f"{user}{at}127.0.0.1:{proxy.port}"))


class DelayConnections(CutConnections):
    """Holds up what the collector sends and receives."""

    repeats = False

    def __init__(self, seed: int) -> None:
        """Draw from `seed`."""
        super().__init__(seed, delay=0.02)

    def act(self) -> None:
        """Cut nothing: it holds up all the time."""


class BadReporting(Trouble):
    """Answers posts badly; `harness.drill.shim` has the ways."""

    def __init__(self, seed: int, names: tuple[str, ...]) -> None:
        """Draw from `seed` among `names`."""
        super().__init__(seed)
        self._names = names
        self.shim: Shim | None = None

    @property
    def struck(self) -> int:
        """How many posts it answered badly."""
        return sum(self.shim.faults.values()) if self.shim is not None else 0

    def begin(self, around: Surroundings) -> None:
        """Put a shim in front of the Reporting API."""
        if not around.reporting_url:
            raise StackError(f"{self._names[0]} needs the address the collector posts to")
        self.shim = Shim(around.reporting_url, self._names, seed=self._seed)
        around.reporting_url = self.shim.url
        around.variables["TALLY_OSC_REPORTING_URL"] = self.shim.url

    def settle(self) -> None:
        """Answer well."""
        if self.shim is not None:
            self.shim.settle()

    def close(self) -> None:
        """Take the shim away."""
        if self.shim is not None:
            self.shim.close()


class DiskFull(Trouble):
    """Fills the file system under the outbox, and empties it again."""

    repeats = False

    def begin(self, around: Surroundings) -> None:
        """Mount a small file system and move the outbox there."""
        self._directory = Path(tempfile.mkdtemp(prefix="tally-disk-"))
        command = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_MIB}m,mode=0700"]
        result = subprocess.run(
            [*command, "tally-drill", str(self._directory)],
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            self._directory.rmdir()
            raise StackError(
                "disk-full needs to mount a small tmpfs, as root or with CAP_SYS_ADMIN; "
                f"leave it out, or run the drill as root: {result.stderr.strip()}"
            )
        around.variables["TALLY_OSC_BUFFER_PATH"] = str(self._directory / "outbox.db")

    def act(self) -> None:
        """Leave no byte."""
        super().act()
        with contextlib.suppress(OSError), (self._directory / "filler").open("wb") as filler:
            while True:
                filler.write(b"\0" * 65536)
                filler.flush()

    def calm(self) -> None:
        """Make room, after the collector has had time to notice."""
        filler = self._directory / "filler"
        if filler.exists():
            time.sleep(self._random.uniform(0.2, 1.5))
            filler.unlink()

    def close(self) -> None:
        """Unmount."""
        subprocess.run(["umount", "-l", str(self._directory)], check=False)
        self._directory.rmdir()


class ClockJumps(Trouble):
    """Lets the wall clock of a collector in Python jump, by up to a year either way."""

    repeats = False

    def begin(self, around: Surroundings) -> None:
        """Give the collector's process a clock that can be set."""
        self._directory = Path(tempfile.mkdtemp(prefix="tally-clock-"))
        shutil.copy(jumping_clock.__file__, self._directory / "sitecustomize.py")
        around.variables["PYTHONPATH"] = os.pathsep.join(
            filter(None, [str(self._directory), os.environ.get("PYTHONPATH", "")])
        )
        around.variables[jumping_clock.VARIABLE] = str(self._directory / "offset")

    def act(self) -> None:
        """Set the clock."""
        super().act()
        offset = self._random.choice((-1, 1)) * self._random.uniform(1, _YEAR)
        written = self._directory / "offset.new"
        written.write_text(f"{offset:.3f}", encoding="ascii")
        written.replace(self._directory / "offset")

    def close(self) -> None:
        """Take the files away."""
        shutil.rmtree(self._directory, ignore_errors=True)
