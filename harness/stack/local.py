"""Processes of this project beside a private broker; the engine in the drill's own process."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Self

from harness.broker.publisher import AmqpPublisher
from harness.errors import UsageError
from harness.stack import databases
from harness.stack.address import BrokerAddress
from harness.stack.books import Books, at
from harness.stack.collector import CollectorProcess
from harness.stack.month import OpenMonth
from harness.stack.options import Options
from harness.stack.postgresql import PrivatePostgres
from harness.stack.rabbitmq import PrivateBroker
from harness.stack.reporting import ReportingProcess, Tokens, prepare
from harness.stack.scratch import Scratch


@contextmanager
def vhost(broker: BrokerAddress, name: str) -> Iterator[str]:
    """Make a vhost of a month, unique to its directory's name, and delete it at the end."""
    api = broker.api()
    api.create_vhost(name)
    try:
        yield broker.url(name)
    finally:
        api.delete_vhost(name)


@contextmanager
def collecting(
    broker: BrokerAddress,
    directory: Path,
    *,
    cloud: str,
    reporting_url: str,
    tokens: Tokens,
    options: Options,
) -> Iterator[tuple[str, CollectorProcess]]:
    """Give a month its vhost and its collector: the vhost's address, and a collector to start."""
    with vhost(broker, directory.name) as amqp_url:
        collector = CollectorProcess(
            amqp_url=amqp_url,
            quorum=broker.api().version() >= (4,),
            cloud=cloud,
            reporting_url=reporting_url,
            token=tokens.ingest,
            directory=directory,
            start_timeout=options.start_timeout,
        )
        try:
            yield amqp_url, collector
        finally:
            collector.kill()


class LocalStack:
    """A private RabbitMQ, and a process for each service of a month; see `harness.stack.Stack`.

    Attributes:
        broker: the private broker, for drills that disturb it; None where another process started
            it and handed it over.
    """

    kind = "local"

    def __init__(
        self,
        options: Options,
        address: BrokerAddress,
        *,
        server_url: str = "",
        broker: PrivateBroker | None = None,
        reason: str = "",
        parts: ExitStack | None = None,
    ) -> None:
        """Use services that run; `start` and `attach` build one.

        Args:
            options: what it was told.
            address: of the broker.
            server_url: of a PostgreSQL server; empty for SQLite.
            broker: the broker, where it is ours.
            reason: why no better kind was taken.
            parts: what `close` ends.
        """
        self.reason = reason
        self.broker = broker
        self._options = options
        self._address = address
        self._server_url = server_url
        self._scratch = Scratch()
        self._parts = parts or ExitStack()

    @classmethod
    def start(cls, options: Options, *, reason: str = "") -> Self:
        """Start the shared services.

        Raises:
            Unavailable: RabbitMQ, or a PostgreSQL that was asked for, is not installed.
            StackError: a service did not start.
        """
        with ExitStack() as parts:
            server_url = options.reporting_db_url
            if server_url == "private":
                server_url = parts.enter_context(PrivatePostgres()).url()
            elif server_url and not server_url.startswith(("postgresql:", "postgres:")):
                raise UsageError(
                    "the database of the stack local must be postgresql://…, or "
                    '"private" for a server of its own; leave it out for SQLite'
                )
            broker = parts.enter_context(PrivateBroker(start_timeout=options.start_timeout))
            return cls(
                options,
                broker.address,
                server_url=server_url,
                broker=broker,
                reason=reason,
                parts=parts.pop_all(),
            )

    def handover(self) -> dict[str, str]:
        """Return what another process needs to use the services, as text; holds passwords."""
        return {
            "kind": self.kind,
            "reason": self.reason,
            "options": json.dumps(self._options.to_mapping()),
            "broker": json.dumps(self._address.to_mapping()),
            "server_url": self._server_url,
        }

    @classmethod
    def attach(cls, handed: Mapping[str, str]) -> Self:
        """Use the services another process started; `close` ends none of them."""
        return cls(
            Options.from_mapping(json.loads(handed["options"])),
            BrokerAddress.from_mapping(json.loads(handed["broker"])),
            server_url=handed["server_url"],
            reason=handed["reason"],
        )

    def describe(self) -> str:
        """Return one line for a header."""
        version = ".".join(map(str, self._address.api().version()))
        database = "PostgreSQL" if self._server_url else "SQLite"
        return f"RabbitMQ {version} at {self._address.host}:{self._address.port}, {database}"

    @contextmanager
    def month(self, name: str, *, cloud: str) -> Iterator[OpenMonth]:
        """Open a month's part; see `harness.stack.Stack`."""
        directory = self._scratch.room(name)
        with ExitStack() as parts:
            parts.callback(shutil.rmtree, directory, ignore_errors=True)
            reporting_url, engine_url = parts.enter_context(
                databases.on_server(self._server_url, name)
                if self._server_url
                else databases.on_disk(directory)
            )
            tokens = prepare(reporting_url, cloud)
            service = ReportingProcess(
                reporting_url,
                tokens,
                directory=directory,
                start_timeout=self._options.start_timeout,
            )
            parts.callback(service.kill)
            service.start()
            amqp_url, collector = parts.enter_context(
                collecting(
                    self._address,
                    directory,
                    cloud=cloud,
                    reporting_url=service.access.url,
                    tokens=tokens,
                    options=self._options,
                )
            )
            yield OpenMonth(
                collector=collector,
                reporting=service.access,
                connect=partial(AmqpPublisher, amqp_url),
                books=Books(engine_url, at(reporting_url)),
                amqp_url=amqp_url,
                service=service,
                directory=directory,
                broker=self.broker,
            )

    def close(self) -> None:
        """End the services that are ours, and remove all files."""
        self._scratch.close()
        self._parts.close()
