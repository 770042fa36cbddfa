"""An installed pipeline, reached by URL."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import requests

from harness.broker import address
from harness.broker.publisher import AmqpPublisher
from harness.errors import UsageError
from harness.oslo import EXCHANGES
from harness.service.environment import Environment, check_token, read_secret
from harness.stack.books import Books, at
from harness.stack.collector import read_metrics
from harness.stack.interface import Access, Counters, StackError
from harness.stack.month import OpenMonth
from harness.stack.options import Options

_ALONE = (
    "takes one month per run and no xdist: a foreign pipeline's data cannot be kept apart; "
    "run without -n"
)


class ExternalStack:
    """Starts nothing and cleans nothing up; see `harness.stack.Stack`.

    It takes one month: what is published joins whatever the pipeline already holds.
    """

    kind = "external"
    reason = ""

    def __init__(self, options: Options) -> None:
        """Check what it was told; reaches nothing yet.

        Tokens come from files of the options, or from ``TALLY_API_TOKEN`` and
        ``TALLY_INTERNAL_TOKEN`` (or those names with ``_FILE``).

        Raises:
            UsageError: an address is missing or unusable, or the broker is not on this machine
                and that was not allowed.
        """
        if not options.amqp_url:
            raise UsageError(
                "the stack external needs the broker's address: --amqp-url "
                "amqp://user:password@host:port/vhost (pytest: --tally-amqp-url)"
            )
        if not address.is_local(options.amqp_url) and not options.allow_remote_broker:
            raise UsageError(
                f"the broker {address.redact(options.amqp_url)} is not on this machine: what is "
                "published there is booked as real usage; if that is what you want, add "
                "--allow-remote-broker (pytest: --tally-allow-remote-broker)"
            )
        _check_url(options.reporting_url)
        if options.engine_db_url and not options.reporting_db_url:
            raise UsageError(
                "an engine database needs the Reporting API's, too: --reporting-db-url "
                "(pytest: --tally-reporting-db-url)"
            )
        if options.engine_db_url and options.export:
            raise UsageError("give an engine database or an export, not both")
        self._options = options
        self._api_token = _token("TALLY_API_TOKEN", options.api_token_file)
        self._internal_token = _token("TALLY_INTERNAL_TOKEN", options.internal_token_file)
        self._taken = ""

    @classmethod
    def start(cls, options: Options, *, reason: str = "") -> Self:
        """Check what it was told; `reason` stays empty, for nobody takes it unasked."""
        del reason
        return cls(options)

    @classmethod
    def attach(cls, handed: Mapping[str, str]) -> Self:
        """Refuse, as `handover` does."""
        raise UsageError(f"a stack of the kind {handed['kind']} {_ALONE}")

    def describe(self) -> str:
        """Return one line for a header."""
        reporting = self._options.reporting_url or "no Reporting API"
        return f"{address.redact(self._options.amqp_url)}, {reporting}"

    @contextmanager
    def month(self, name: str, *, cloud: str) -> Iterator[OpenMonth]:
        """Open the pipeline for its one month; `cloud` is what it was installed for.

        Raises:
            UsageError: a second month.
        """
        if self._taken:
            raise UsageError(
                f"the stack external takes one month per run, and {self._taken} was it: a foreign "
                f"pipeline's data cannot be kept apart; run {name} by itself"
            )
        self._taken = name
        options = self._options
        del cloud
        reporting = None
        if options.reporting_url and self._api_token:
            reporting = Access(
                options.reporting_url.rstrip("/"), self._api_token, self._internal_token
            )
        books = None
        if options.engine_db_url:
            books = Books(options.engine_db_url, at(options.reporting_db_url))
        yield OpenMonth(
            collector=_InstalledCollector(options.collector_metrics_url),
            reporting=reporting,
            connect=partial(_connect, options.amqp_url),
            books=books,
            export=options.export,
            amqp_url=options.amqp_url,
        )

    def handover(self) -> dict[str, str]:
        """Refuse: one run, one process."""
        raise UsageError(f"the stack external {_ALONE}")

    def close(self) -> None:
        """Leave everything as it is."""


def _connect(url: str, exchanges: Sequence[str] = EXCHANGES) -> AmqpPublisher:
    """Connect to a broker whose exchanges an installed collector is bound to.

    Raises:
        StackError: exchanges did not exist; what is published before a queue is bound is dropped.
    """
    publisher = AmqpPublisher(url, exchanges)
    if publisher.declared:
        publisher.close()
        raise StackError(
            f"the exchanges {', '.join(publisher.declared)} did not exist and were declared just "
            "now, so nothing was published: let the collector bind its queue to them (it looks "
            "again within a minute; TALLY_OSC_EXCHANGES has to name them), then run this again"
        )
    return publisher


class _InstalledCollector:
    """A collector that somebody else runs."""

    def __init__(self, metrics_url: str) -> None:
        self._url = metrics_url

    def start(self) -> None:
        """Leave it as it is; see that its counters can be read where an address was given."""
        self.counters()

    def stop(self) -> None:
        """Leave it as it is."""

    def kill(self) -> None:
        raise StackError("the collector of the stack external is not ours to kill")

    def counters(self) -> Counters | None:
        if not self._url:
            return None
        try:
            answer = requests.get(self._url, timeout=15)
        except requests.RequestException as error:
            raise StackError(f"reading the collector's counters: {error}") from error
        if answer.status_code != 200:
            raise StackError(
                f"reading the collector's counters: {self._url}: status {answer.status_code}; "
                "give the address of its /metrics, or none"
            )
        return read_metrics(answer.text)


def _check_url(url: str) -> None:
    """Refuse what is no plain address; the text never shows the value, which may hold a password.

    Raises:
        UsageError: userinfo, a query, a fragment, another scheme, or no URL at all.
    """
    refusal = (
        "--reporting-url: not a usable address; write http://host:port without user, password, "
        "query or fragment, and give the token with --api-token-file"
    )
    if not url:
        return
    try:
        given = urlsplit(url)
        usable = given.scheme in {"http", "https"} and bool(given.hostname) and given.port != 0
    except ValueError:
        raise UsageError(refusal) from None
    if not usable or any(mark in url for mark in "@?#"):
        raise UsageError(refusal)


def _token(name: str, path: Path | None) -> str:
    if path is not None:
        value = read_secret(f"the file of {name}", path)
        check_token(f"the file of {name}", value)
        return value
    return Environment(os.environ).token(name)
