"""What a stack is to a drill: four kinds, one interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.broker import Publisher
from harness.errors import HarnessError
from harness.oslo import EXCHANGES

KINDS = ("containers", "local", "embedded", "external")


class StackError(HarnessError):
    """A stack could not be started, or broke; holds the tail of the failing part's log."""


class Unavailable(StackError):
    """This machine lacks what the kind needs; says what is missing and how to get it."""


@dataclass(frozen=True, slots=True)
class Counters:
    """A collector's counters at one instant, summed over its lives.

    Attributes:
        consumed: oslo type to count.
        skipped: oslo type to count.
        unparseable: bodies that are no notification.
        delivered: events the Reporting API took.
        delivery_errors: posts that failed, and events dropped as oversize.
        buffered: events in the outbox.
    """

    consumed: Mapping[str, int]
    skipped: Mapping[str, int]
    unparseable: int
    delivered: int
    delivery_errors: int
    buffered: int

    @property
    def handled(self) -> int:
        """How many messages were taken off the bus for good."""
        return sum(self.consumed.values()) + sum(self.skipped.values()) + self.unparseable


class Collector(Protocol):
    """The collector of one month."""

    def start(self) -> None:
        """Start it and wait until it consumes."""
        ...

    def stop(self) -> None:
        """End it cleanly (SIGTERM)."""
        ...

    def kill(self) -> None:
        """End it the hard way (SIGKILL); StackError where the kind cannot."""
        ...

    def counters(self) -> Counters | None:
        """Read its counters; None where they cannot be read (external without a metrics URL)."""
        ...


@dataclass(frozen=True, slots=True)
class Access:
    """Where a Reporting API is and how to be let in. ``repr`` never shows a token."""

    url: str
    api_token: str
    internal_token: str = ""

    def __repr__(self) -> str:
        return f"Access(url={self.url!r})"


class MonthStack(Protocol):
    """One month's part of a stack: a vhost (or bus), an outbox, two databases."""

    collector: Collector
    reporting: Access | None
    """None where the Reporting API cannot be read (external without a token)."""

    def publisher(self, exchanges: Sequence[str] = EXCHANGES) -> Publisher:
        """Connect a publisher to this month's bus.

        Args:
            exchanges: topic exchanges that have to exist; what is published to one that no
                collector is bound to reaches nobody.
        """
        ...

    def bill(self, period: str, *, samples: Path | None = None, out: Path) -> Path | None:
        """Run the engine over the period and export ``rated.csv`` into `out`; return `out`.

        Args:
            period: ``YYYY-MM``.
            samples: increments of the egress counter, by decisions.md, *Engine*.
            out: a directory that does not exist yet.

        Returns None where no export can be had (external without one).
        """
        ...


class Stack(Protocol):
    """Services that are started once and shared by the months of a run."""

    kind: str
    reason: str
    """Why this kind was taken, and why better ones were not; empty when it was named."""

    def describe(self) -> str:
        """One line for a header: addresses, without passwords."""
        ...

    def month(self, name: str, *, cloud: str) -> AbstractContextManager[MonthStack]:
        """Open a month's part under a name unique in the run; its end removes all of it."""
        ...

    def handover(self) -> dict[str, str]:
        """Return what `harness.stack.attach` needs in another process of this run; JSON-able.

        It may hold passwords. Raises UsageError where the kind cannot be shared.
        """
        ...

    def close(self) -> None:
        """Stop what was started; nothing of it is left. Closing twice is harmless."""
        ...
