"""Everything in this process: an in-memory bus, SQLite, and threads."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Self

from harness.broker.memory import MemoryBus
from harness.collector.counters import Snapshot
from harness.collector.service import Collector
from harness.collector.settings import Settings
from harness.reporting import app
from harness.reporting.settings import Settings as ReportingSettings
from harness.service.listener import Listener
from harness.stack.books import Books, at
from harness.stack.collector import FLUSH_INTERVAL, add
from harness.stack.interface import Access, Counters, StackError
from harness.stack.month import OpenMonth
from harness.stack.options import Options
from harness.stack.reporting import prepare
from harness.stack.scratch import Scratch

_PREFETCH = 500


class EmbeddedStack:
    """Needs nothing but this project; see `harness.stack.Stack`."""

    kind = "embedded"

    def __init__(self, options: Options, *, reason: str = "") -> None:
        """Open it; `reason` says why no better one was taken."""
        self.reason = reason
        self._options = options
        self._scratch = Scratch()

    @classmethod
    def start(cls, options: Options, *, reason: str = "") -> Self:
        """Open it."""
        return cls(options, reason=reason)

    @classmethod
    def attach(cls, handed: Mapping[str, str]) -> Self:
        """Open one of one's own: there is nothing to share."""
        return cls(Options.from_mapping(json.loads(handed["options"])), reason=handed["reason"])

    def describe(self) -> str:
        """Return one line for a header."""
        return "in-memory bus, services in this process, SQLite"

    @contextmanager
    def month(self, name: str, *, cloud: str) -> Iterator[OpenMonth]:
        """Open a month's part; see `harness.stack.Stack`."""
        directory = self._scratch.room(name)
        with ExitStack() as parts:
            parts.callback(shutil.rmtree, directory, ignore_errors=True)
            db_url = f"sqlite:///{directory / 'reporting.db'}"
            tokens = prepare(db_url, cloud)
            service = _Reporting(
                ReportingSettings(db_url=db_url, internal_token=tokens.internal, log_level="ERROR")
            )
            parts.callback(service.stop)
            service.start()
            bus = MemoryBus()
            collector = _EmbeddedCollector(
                bus,
                Settings(
                    cloud=cloud,
                    reporting_url=service.url,
                    token=tokens.ingest,
                    buffer_path=directory / "outbox.db",
                    flush_interval=FLUSH_INTERVAL,
                    prefetch=_PREFETCH,
                ),
                self._options.start_timeout,
            )
            parts.callback(collector.stop)
            yield OpenMonth(
                collector=collector,
                reporting=Access(service.url, tokens.api, tokens.internal),
                connect=bus.publisher,
                books=Books(f"sqlite:///{directory / 'engine.db'}", at(db_url)),
                service=service,
                directory=directory,
            )

    def handover(self) -> dict[str, str]:
        """Return what another process needs to open its own."""
        return {
            "kind": self.kind,
            "reason": self.reason,
            "options": json.dumps(self._options.to_mapping()),
        }

    def close(self) -> None:
        """Remove its files."""
        self._scratch.close()


class _EmbeddedCollector:
    """A collector in threads; each start is a life of its own on the same outbox."""

    def __init__(self, bus: MemoryBus, settings: Settings, start_timeout: float) -> None:
        self._bus = bus
        self._settings = settings
        self._start_timeout = start_timeout
        self._collector: Collector | None = None
        self._earlier = Counters({}, {}, 0, 0, 0, 0)

    def start(self) -> None:
        if self._collector is not None:
            raise StackError("the collector of this month runs already; stop it first")
        self._collector = Collector(
            self._settings, lambda: self._bus.subscription(self._settings.prefetch)
        )
        self._collector.start()
        self._collector.wait_until_consuming(self._start_timeout)

    def stop(self) -> None:
        if self._collector is not None:
            collector, self._collector = self._collector, None
            collector.stop()
            self._earlier = add(self._earlier, _counted(collector.counters()))

    def kill(self) -> None:
        raise StackError(
            "the embedded stack's collector shares this process and cannot be killed; "
            "use the stack local or containers"
        )

    def counters(self) -> Counters:
        if self._collector is None:
            return self._earlier
        return add(self._earlier, _counted(self._collector.counters()))


class _Reporting:
    """The Reporting API behind a listener of this process; keeps its port over a restart."""

    def __init__(self, settings: ReportingSettings) -> None:
        self._settings = settings
        self._port = 0
        self._running: tuple[Any, Listener] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        application = app.create_app(self._settings)
        listener = Listener(application, "127.0.0.1", self._port).start()
        self._port = listener.port
        self._running = (application, listener)

    def stop(self) -> None:
        if self._running is not None:
            (application, listener), self._running = self._running, None
            listener.close()
            application.state.service.close()

    def kill(self) -> None:
        raise StackError(
            "the embedded stack's Reporting API shares this process and cannot be killed; "
            "use the stack local or containers"
        )


def _counted(snapshot: Snapshot) -> Counters:
    return Counters(
        consumed=snapshot.consumed,
        skipped=snapshot.skipped,
        unparseable=snapshot.unparseable,
        delivered=snapshot.delivered,
        delivery_errors=snapshot.delivery_errors,
        buffered=snapshot.buffered,
    )
