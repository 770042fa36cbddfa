"""One month's part of any stack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from harness.broker import Publisher
from harness.oslo import EXCHANGES
from harness.stack.books import Books
from harness.stack.interface import Access, Collector
from harness.stack.rabbitmq import PrivateBroker


class Service(Protocol):
    """A service a drill may end and start again."""

    def start(self) -> object:
        """Start it and wait until it is ready."""
        ...

    def stop(self) -> None:
        """End it cleanly."""
        ...

    def kill(self) -> None:
        """End it the hard way."""
        ...


@dataclass(slots=True)
class OpenMonth:
    """A month's bus, collector, Reporting API and engine; keeps `harness.stack.MonthStack`.

    Attributes:
        collector: its collector.
        reporting: its Reporting API; None where that cannot be read.
        connect: connects a publisher to its bus, on which the exchanges given then exist.
        books: its engine; None where there is none.
        export: an export that is there already, in place of `books`.
        amqp_url: of its vhost; empty on the in-memory bus.
        service: the Reporting API as something to end and start; None where it is not ours.
        directory: its files; None where it has none.
        broker: the broker as something to restart; None where it is not ours.
    """

    collector: Collector
    reporting: Access | None
    connect: Callable[[Sequence[str]], Publisher] = field(repr=False)
    books: Books | None = None
    export: Path | None = None
    amqp_url: str = field(default="", repr=False)
    service: Service | None = None
    directory: Path | None = None
    broker: PrivateBroker | None = None

    def publisher(self, exchanges: Sequence[str] = EXCHANGES) -> Publisher:
        """Connect a publisher to this month's bus; see `harness.stack.MonthStack`."""
        return self.connect(exchanges)

    def bill(self, period: str, *, samples: Path | None = None, out: Path) -> Path | None:
        """Bill the period and export ``rated.csv`` into `out`; see `harness.stack.MonthStack`."""
        if self.books is not None:
            return self.books.bill(period, egress=samples, out=out)
        return self.export
