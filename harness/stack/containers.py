"""RabbitMQ and the Reporting API as containers; collector and engine as processes beside them."""

from __future__ import annotations

import json
import secrets
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Self

from harness.broker.publisher import AmqpPublisher
from harness.errors import UsageError
from harness.stack import databases
from harness.stack.address import BrokerAddress
from harness.stack.books import Books
from harness.stack.container import BrokerContainer, ReportingContainer
from harness.stack.docker import Engine
from harness.stack.local import collecting
from harness.stack.month import OpenMonth
from harness.stack.options import Options
from harness.stack.reporting import prepare
from harness.stack.scratch import Scratch


class ContainerStack:
    """A RabbitMQ container, and a container of the Reporting API for each month.

    See `harness.stack.Stack`. The databases are made here, copied into the container, and read
    back as a snapshot when a month is billed, so that it works on a remote engine, too.
    """

    kind = "containers"

    def __init__(
        self,
        options: Options,
        engine: Engine,
        address: BrokerAddress,
        *,
        reason: str = "",
        parts: ExitStack | None = None,
    ) -> None:
        """Use a broker that runs; `start` and `attach` build one."""
        self.reason = reason
        self._options = options
        self._engine = engine
        self._address = address
        self._scratch = Scratch()
        self._parts = parts or ExitStack()

    @classmethod
    def start(cls, options: Options, *, reason: str = "") -> Self:
        """Start the broker.

        Raises:
            Unavailable: no engine answers, or an image is neither here nor to be had.
            StackError: the broker did not become ready; shows the tail of its log.
            UsageError: a database address, which this kind has no use for.
        """
        if options.reporting_db_url:
            raise UsageError("a database address goes with local and external, not with containers")
        with ExitStack() as parts:
            engine = parts.enter_context(Engine(keep=options.keep))
            engine.sweep()
            engine.require(options.rabbitmq_image, "--tally-rabbitmq-image")
            engine.require(options.reporting_image, "--tally-reporting-image")
            address = BrokerContainer.find(engine) if options.reuse else None
            if address is None:
                broker = BrokerContainer(
                    engine, options.rabbitmq_image, start_timeout=options.start_timeout
                )
                if not options.keep:
                    parts.callback(broker.remove)
                try:
                    address = broker.start()
                except BaseException:
                    broker.remove()
                    raise
            return cls(options, engine, address, reason=reason, parts=parts.pop_all())

    def handover(self) -> dict[str, str]:
        """Return what another process needs to use the broker, as text; holds its password."""
        return {
            "kind": self.kind,
            "reason": self.reason,
            "options": json.dumps(self._options.to_mapping()),
            "broker": json.dumps(self._address.to_mapping()),
        }

    @classmethod
    def attach(cls, handed: Mapping[str, str]) -> Self:
        """Use the broker another process started; `close` does not end it."""
        options = Options.from_mapping(json.loads(handed["options"]))
        with ExitStack() as parts:
            return cls(
                options,
                parts.enter_context(Engine(keep=options.keep)),
                BrokerAddress.from_mapping(json.loads(handed["broker"])),
                reason=handed["reason"],
                parts=parts.pop_all(),
            )

    def describe(self) -> str:
        """Return one line for a header; with ``keep`` also how to reach and remove what stays."""
        version = ".".join(map(str, self._address.api().version()))
        line = (
            f"RabbitMQ {version} ({self._options.rabbitmq_image}) at "
            f"{self._address.host}:{self._address.port}, {self._options.reporting_image}"
        )
        if not self._options.keep:
            return line
        return (
            f"{line}; it stays, with its management at {self._address.management}: list it with "
            f"docker ps --filter label={Engine.KEPT}, remove it with "
            f"docker rm -fv $(docker ps -aq --filter label={Engine.KEPT})"
        )

    @contextmanager
    def month(self, name: str, *, cloud: str) -> Iterator[OpenMonth]:
        """Open a month's part; see `harness.stack.Stack`."""
        directory = self._scratch.room(name)
        with ExitStack() as parts:
            parts.callback(shutil.rmtree, directory, ignore_errors=True)
            reporting_url, engine_url = parts.enter_context(databases.on_disk(directory))
            tokens = prepare(reporting_url, cloud)
            database = _consolidate(directory / "reporting.db")
            service = ReportingContainer(
                self._engine,
                self._options.reporting_image,
                database,
                tokens,
                start_timeout=self._options.start_timeout,
            )
            if not self._options.keep:
                parts.callback(service.remove)
            try:
                service.create()
            except BaseException:
                service.remove()
                raise
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

            @contextmanager
            def snapshot() -> Iterator[str]:
                copy = directory / f"snapshot-{secrets.token_hex(4)}.db"
                copy.touch(mode=0o600)
                try:
                    copy.write_bytes(service.snapshot())
                    yield f"sqlite:///{copy}"
                finally:
                    for path in directory.glob(f"{copy.name}*"):
                        path.unlink()

            yield OpenMonth(
                collector=collector,
                reporting=service.access,
                connect=partial(AmqpPublisher, amqp_url),
                books=Books(engine_url, snapshot),
                amqp_url=amqp_url,
                service=service,
                directory=directory,
            )

    def close(self) -> None:
        """Remove containers and files, unless they were to be kept."""
        self._scratch.close()
        self._parts.close()


def _consolidate(path: Path) -> bytes:
    """Return a SQLite database as the one file it is without its write-ahead log."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()
