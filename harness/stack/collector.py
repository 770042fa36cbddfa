"""The collector of a month as a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import requests
from prometheus_client.parser import text_string_to_metric_families

from harness.oslo import EXCHANGES
from harness.stack.interface import Counters, StackError
from harness.stack.log import listening_port
from harness.stack.process import Process

#: Seconds between two posts of a drill's collector: it shall not wait for the default of five.
FLUSH_INTERVAL = 0.1
_NOTHING = Counters({}, {}, 0, 0, 0, 0)


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment without settings of services, and with `variables`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TALLY_")}
    return kept | {"PYTHONUNBUFFERED": "1"} | dict(variables)


class CollectorProcess:
    """``tally-harness collector``, started, stopped and killed as often as a drill likes.

    Its outbox and its counters outlive each of its lives.
    """

    def __init__(
        self,
        *,
        amqp_url: str,
        quorum: bool,
        cloud: str,
        reporting_url: str,
        token: str,
        directory: Path,
        start_timeout: float,
    ) -> None:
        """Prepare a collector; nothing runs before `start`.

        Args:
            amqp_url: of the month's vhost.
            quorum: whether the broker is of version 4 or later.
            cloud: becomes every event's cloud.
            reporting_url: base URL of the Reporting API.
            token: ingest token.
            directory: where outbox, counters and log go.
            start_timeout: seconds until it has to consume.
        """
        self.log = directory / "collector.log"
        self._counted = directory / "collector-counters.json"
        self._start_timeout = start_timeout
        self._make = partial(
            CollectorProcess,
            amqp_url=amqp_url,
            quorum=quorum,
            cloud=cloud,
            reporting_url=reporting_url,
            token=token,
            start_timeout=start_timeout,
        )
        self._variables = {
            "TALLY_OSC_AMQP_URL": amqp_url,
            "TALLY_OSC_EXCHANGES": ",".join(EXCHANGES),
            "TALLY_OSC_QUEUE_TYPE": "quorum" if quorum else "classic",
            "TALLY_OSC_CLOUD": cloud,
            "TALLY_OSC_REPORTING_URL": reporting_url,
            "TALLY_OSC_REPORTING_INSECURE": "true",
            "TALLY_OSC_TOKEN": token,
            "TALLY_OSC_BUFFER_PATH": str(directory / "outbox.db"),
            "TALLY_OSC_COUNTERS_PATH": str(self._counted),
            "TALLY_OSC_FLUSH_INTERVAL_S": str(FLUSH_INTERVAL),
            "TALLY_OSC_HTTP_PORT": "0",
        }
        self._process: Process | None = None
        self._port = 0
        self._earlier = _NOTHING

    def start(self, **variables: str) -> None:
        """Start it and wait until it consumes; `variables` go on top of the stack's.

        Raises:
            StackError: it ended or was not ready in time; shows the tail of its log.
        """
        if self._process is not None:
            raise StackError("the collector of this month runs already; stop it first")
        self._counted.unlink(missing_ok=True)
        begin = self.log.stat().st_size if self.log.exists() else 0
        process = Process(
            "the collector",
            [sys.executable, "-m", "harness", "collector"],
            environment=environment(self._variables | variables),
            log=self.log,
        )
        self._process, self._port = process, 0

        def ready() -> bool:
            self._port = self._port or listening_port(self.log, begin)
            return bool(self._port) and _status(f"http://127.0.0.1:{self._port}/readyz") == 200

        try:
            process.wait_until(ready, self._start_timeout)
        except StackError:
            process.kill()
            self._process = None
            raise

    def twin(self, directory: Path) -> CollectorProcess:
        """Prepare a second collector of the same queue, its files in a directory to be made."""
        directory.mkdir(mode=0o700)
        return self._make(directory=directory)

    def stop(self) -> None:
        """End it cleanly; harmless when it does not run."""
        if self._process is not None:
            seen = self._scrape()
            self._process.terminate()
            self._bury(seen)

    def kill(self) -> None:
        """End it the hard way; harmless when it does not run."""
        if self._process is not None:
            seen = self._scrape()
            self._process.kill()
            self._bury(seen)

    @property
    def metrics_url(self) -> str:
        """Address of its ``/metrics`` while it runs."""
        return f"http://127.0.0.1:{self._port}/metrics"

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.running

    def counters(self) -> Counters:
        """Return its counters, summed over its lives.

        Raises:
            StackError: it ended without being told to; shows the tail of its log.
        """
        if self._process is None:
            return self._earlier
        seen = self._scrape()
        if seen is None:
            if not self._process.running:
                raise StackError(
                    "the collector ended without being told to; the end of its log:\n"
                    + self._process.tail()
                )
            raise StackError(
                "the collector does not answer at /metrics; the end of its log:\n"
                + self._process.tail()
            )
        return add(self._earlier, seen)

    def _scrape(self) -> Counters | None:
        try:
            answer = requests.get(self.metrics_url, timeout=15)
        except requests.RequestException:
            return None
        return read_metrics(answer.text) if answer.status_code == 200 else None

    def _bury(self, seen: Counters | None) -> None:
        """Keep the counters of a life that has ended: the latest word of it there is."""
        self._process = None
        last = self._last_word()
        if seen is not None and last is not None:
            last = Counters(
                consumed=_most(seen.consumed, last.consumed),
                skipped=_most(seen.skipped, last.skipped),
                unparseable=max(seen.unparseable, last.unparseable),
                delivered=max(seen.delivered, last.delivered),
                delivery_errors=max(seen.delivery_errors, last.delivery_errors),
                buffered=seen.buffered,
            )
        self._earlier = add(self._earlier, last or seen or _NOTHING)

    def _last_word(self) -> Counters | None:
        with contextlib.suppress(FileNotFoundError):
            counted = json.loads(self._counted.read_bytes())
            return Counters(
                consumed=counted["consumed"],
                skipped=counted["skipped"],
                unparseable=counted["unparseable"],
                delivered=counted["delivered"],
                delivery_errors=counted["delivery_errors"],
                buffered=0,
            )
        return None


def read_metrics(text: str) -> Counters:
    """Read a collector's counters out of its ``/metrics``."""
    single: Counter[str] = Counter()
    typed: dict[str, Counter[str]] = {"consumed": Counter(), "skipped": Counter()}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            name = sample.name.removeprefix("tally_collector_").removesuffix("_total")
            if name in typed:
                typed[name][sample.labels["event_type"]] += int(sample.value)
            elif name in {"unparseable", "delivered", "delivery_errors", "buffer_depth"}:
                single[name] += int(sample.value)
    return Counters(
        consumed=dict(typed["consumed"]),
        skipped=dict(typed["skipped"]),
        unparseable=single["unparseable"],
        delivered=single["delivered"],
        delivery_errors=single["delivery_errors"],
        buffered=single["buffer_depth"],
    )


def add(earlier: Counters, now: Counters) -> Counters:
    """Sum the counters of two lives; what is buffered is what is buffered now."""
    return Counters(
        consumed=dict(Counter(earlier.consumed) + Counter(now.consumed)),
        skipped=dict(Counter(earlier.skipped) + Counter(now.skipped)),
        unparseable=earlier.unparseable + now.unparseable,
        delivered=earlier.delivered + now.delivered,
        delivery_errors=earlier.delivery_errors + now.delivery_errors,
        buffered=now.buffered,
    )


def _most(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return dict(Counter(one) | Counter(other))


def _status(url: str) -> int:
    try:
        return requests.get(url, timeout=15).status_code
    except requests.RequestException:
        return 0
