"""Several disturbances in one month, each at seeded places of its stream."""

from __future__ import annotations

import atexit
import hashlib
import inspect
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.broker import Publisher
from harness.drill.disturbance import (
    BadReporting,
    ClockJumps,
    CutConnections,
    DelayConnections,
    DiskFull,
    Disturbance,
    KillCollector,
    RestartBroker,
    Surroundings,
)
from harness.drill.shim import FAULTS
from harness.drill.steady import SteadyPublisher
from harness.errors import UsageError
from harness.oslo import EXCHANGES
from harness.stack.interface import Access, Collector, Counters, MonthStack, StackError


@dataclass(frozen=True, slots=True)
class Kind:
    """A disturbance that can be asked for.

    Attributes:
        make: builds it from a seed.
        strikes: how often it strikes in a month unless told otherwise; 0: all the time.
    """

    make: Callable[[int], Disturbance]
    strikes: int = 0


#: What ``--chaos`` knows.
KINDS: Mapping[str, Kind] = {
    "kill-collector": Kind(KillCollector, 20),
    "restart-broker": Kind(RestartBroker, 3),
    "cut-connections": Kind(CutConnections, 10),
    "delay-connections": Kind(DelayConnections),
    "disk-full": Kind(DiskFull, 3),
    "clock-jumps": Kind(ClockJumps, 10),
    **{name: Kind(partial(BadReporting, names=(name,))) for name in FAULTS},
}


class Storm:
    """Disturbs a month's pipeline; keeps `harness.drill.chaos.Chaos`.

    Attributes:
        disturbed: whether a message may be handled more than once because of it.
    """

    def __init__(self, wanted: Mapping[str, int | None], seed: int) -> None:
        """Plan it.

        Args:
            wanted: names of `KINDS`, each with how often it shall strike; None: as often as usual.
            seed: of places and of everything else that is drawn; same seed, same storm.
        """
        self._parts: list[tuple[str, Disturbance, int]] = []
        for name, strikes in wanted.items():
            kind = KINDS[name]
            trouble = kind.make(_draw(seed, name))
            self._parts.append((name, trouble, kind.strikes if strikes is None else strikes))
        self._seed = seed
        self._acting: list[Disturbance] = []
        self._begun: list[Disturbance] = []
        self.disturbed = any(trouble.repeats for _, trouble, _ in self._parts)

    @property
    def struck(self) -> dict[str, int]:
        """Name to how often it struck so far."""
        return {name: trouble.struck for name, trouble, _ in self._parts}

    def begin(self, opened: MonthStack) -> MonthStack:
        """Put the disturbances between the parts, and return the month as the drill uses it.

        Raises:
            StackError: the stack lacks a part that shall be disturbed.
        """
        around = Surroundings(
            collector=opened.collector,
            amqp_url=getattr(opened, "amqp_url", ""),
            reporting_url=opened.reporting.url if opened.reporting else "",
            broker=getattr(opened, "broker", None),
        )
        if not around.amqp_url or "variables" not in _parameters(opened.collector):
            raise StackError(
                "chaos needs a collector that is a process of this stack; use --stack local"
            )
        atexit.register(self.close)  # should the drill not come to stopping its collector
        try:
            for _, trouble, _ in self._parts:
                trouble.begin(around)
                self._begun.append(trouble)
        except BaseException:
            self.close()
            raise
        return StormyMonth(opened, around, self)

    def published(self, confirmed: int) -> None:
        """Do nothing: the publisher halts where something has to happen."""

    def settle(self) -> None:
        """End every disturbance."""
        self._calm()
        for trouble in self._begun:
            trouble.settle()

    def close(self) -> None:
        """Take away what stands between the parts."""
        for trouble in reversed(self._begun):
            trouble.close()
        self._begun.clear()
        atexit.unregister(self.close)

    def halts(self, length: int) -> list[tuple[int, Callable[[], None]]]:
        """Return where in a stream of `length` messages something strikes, and what."""
        halts: list[tuple[int, Callable[[], None]]] = []
        for name, trouble, strikes in self._parts:
            places = random.Random(_draw(self._seed, f"{name} places"))  # noqa: S311 - no secret
            halts.extend(
                (place, self._strike(trouble))
                for place in places.sample(range(1, length), min(strikes, length - 1))
            )
        return sorted(halts, key=lambda halt: halt[0])

    def _strike(self, trouble: Disturbance) -> Callable[[], None]:
        def strike() -> None:
            self._calm()
            trouble.act()
            self._acting.append(trouble)

        return strike

    def _calm(self) -> None:
        while self._acting:
            self._acting.pop().calm()


class StormyMonth:
    """A month whose parts are disturbed; keeps `harness.stack.MonthStack`."""

    def __init__(self, opened: MonthStack, around: Surroundings, storm: Storm) -> None:
        self._opened = opened
        self._storm = storm
        self.collector: Collector = _StormyCollector(opened.collector, around, storm)
        self.reporting: Access | None = opened.reporting  # past all disturbances

    def publisher(self, exchanges: Sequence[str] = EXCHANGES) -> Publisher:
        """Connect a publisher that halts where something strikes, and survives it."""
        return SteadyPublisher(lambda: self._opened.publisher(exchanges), self._storm.halts)

    def bill(self, period: str, *, samples: Path | None = None, out: Path) -> Path | None:
        """Run the engine; see `harness.stack.MonthStack`."""
        return self._opened.bill(period, samples=samples, out=out)


class _StormyCollector:
    """The collector as the drill starts and stops it."""

    def __init__(self, inner: Collector, around: Surroundings, storm: Storm) -> None:
        self._inner = inner
        self._around = around
        self._storm = storm

    def start(self) -> None:
        """Start it with the disturbances in between."""
        self._around.collector.start(**self._around.variables)

    def stop(self) -> None:
        """Stop it and take the disturbances away."""
        try:
            self._inner.stop()
        finally:
            self._storm.close()

    def kill(self) -> None:
        """Kill it."""
        self._inner.kill()

    def counters(self) -> Counters | None:
        """Read its counters, summed over its lives."""
        return self._inner.counters()


def read(names: str) -> dict[str, int | None]:
    """Read a comma list such as ``kill-collector=5,restart-broker``.

    Raises:
        UsageError: a name that is no disturbance, or a number that is none.
    """
    wanted: dict[str, int | None] = {}
    for part in names.split(","):
        name, equals, number = part.strip().partition("=")
        if name not in KINDS:
            raise UsageError(
                f'--chaos: "{name}" is no disturbance; there are {", ".join(sorted(KINDS))}'
            )
        if equals and not (number.isascii() and number.isdigit() and len(number) < 5):
            raise UsageError(f'--chaos: "{part}" must be NAME or NAME=NUMBER, such as {name}=3')
        wanted[name] = int(number) if equals else None
    return wanted


def _draw(seed: int, name: str) -> int:
    digest = hashlib.sha256(f"{seed}:{name}".encode()).digest()
    return int.from_bytes(digest[:8])


def _parameters(collector: Collector) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(collector.start).parameters
