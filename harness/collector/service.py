"""The collector: a consumer and a sender with the outbox between them."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from harness.broker import BrokerError, Delivery, Subscription
from harness.collector.counters import Counters, Snapshot
from harness.collector.outbox import Outbox, OutboxError
from harness.collector.outcome import Kind, Outcome, judge
from harness.collector.sender import Sender
from harness.collector.settings import Settings

_log = logging.getLogger(__name__)

_TICK = 0.25  # how long a thread sleeps without looking whether to stop
_RESUME_BELOW = 0.9
_DELAY_FIRST, _DELAY_MAX = 1.0, 60.0
_JOIN_TIMEOUT = 40.0  # a post under way takes at most 30 s


def _pass(_point: str) -> None:
    """Do nothing at a checkpoint."""


class Collector:
    """Takes messages off a bus and events to a Reporting API, in threads of its own.

    A message is acknowledged after its event is on disk, and an event deleted after it was
    delivered, so a crash anywhere makes duplicates, which the Reporting API absorbs, and no loss.

    Attributes:
        ended: set when a thread of a started collector ended, wanted or not.
    """

    def __init__(
        self,
        settings: Settings,
        subscribe: Callable[[], Subscription],
        *,
        now: Callable[[], float] = time.time,
        checkpoint: Callable[[str], None] = _pass,
    ) -> None:
        """Open the outbox; nothing runs before `start`.

        Args:
            settings: what it is told.
            subscribe: opens a session with the bus; called again after a BrokerError.
            now: wall clock, Unix seconds.
            checkpoint: for tests that crash it: called with ``committed`` between an outbox commit
                and the acknowledgement, with ``posted`` between an answer and the deletion.

        Raises:
            OutboxError: the outbox cannot be opened.
        """
        self._settings = settings
        self._subscribe = subscribe
        self._checkpoint = checkpoint
        self._counters = Counters(settings.counters_path)
        self._outbox = Outbox(settings.buffer_path, now=now)
        self._stop = threading.Event()
        self._consuming = threading.Event()
        self._last_error = ""
        self._write_failing_since: float | None = None
        self._silent_since: float | None = None
        self.ended = threading.Event()
        sender = Sender(
            self._outbox,
            self._counters,
            settings.reporting_url,
            settings.token,
            batch_max=settings.batch_max,
            flush_interval=settings.flush_interval,
            stop=self._stop,
            checkpoint=checkpoint,
        )
        self._threads = [
            threading.Thread(target=self._guard, args=(work,), name=name, daemon=True)
            for name, work in (
                ("collector-consumer", self._consume),
                ("collector-sender", sender.run),
                ("collector-summary", self._summarise),
            )
        ]

    def start(self) -> None:
        """Start consuming and sending; returns at once."""
        for thread in self._threads:
            thread.start()

    def wait_until_consuming(self, timeout: float) -> None:
        """Wait until the first session stands.

        Raises:
            BrokerError: it does not after `timeout` seconds; names the last failure.
        """
        if not self._consuming.wait(timeout):
            raise BrokerError(
                f"the collector does not consume after {timeout:g} s"
                + (f": {self._last_error}" if self._last_error else "")
            )

    def stop(self) -> None:
        """End cleanly: the group in hand is booked and acknowledged, a post under way finished."""
        self._stop.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(_JOIN_TIMEOUT)
        self._outbox.close()

    def counters(self) -> Snapshot:
        """Return the counters at this instant.

        An event that is counted as consumed is then buffered or delivered: messages are read
        first, the outbox next, deliveries last, in the order an event passes them.
        """
        taken = self._counters.snapshot()
        depth = self._outbox.depth
        seen = self._counters.snapshot(
            buffered=depth,
            oldest_buffered_seconds=self._outbox.oldest_seconds(),
            connected=self._consuming.is_set(),
        )
        return replace(
            seen, consumed=taken.consumed, skipped=taken.skipped, unparseable=taken.unparseable
        )

    def ready(self) -> bool:
        """Tell whether a session with the bus stands and the outbox answers within 2 s."""
        return self._consuming.is_set() and self._outbox.answers()

    def healthy(self) -> bool:
        """Tell whether the outbox has been usable at some time within the threshold."""
        moment = time.monotonic()
        if self._outbox.answers():
            self._silent_since = None
        elif self._silent_since is None:
            self._silent_since = moment
        return not any(
            since is not None and moment - since >= self._settings.unhealthy_threshold
            for since in (self._silent_since, self._write_failing_since)
        )

    def _guard(self, work: Callable[[], None]) -> None:
        try:
            work()
        finally:
            self.ended.set()

    # The consumer

    def _consume(self) -> None:
        delay = _DELAY_FIRST
        while not self._stop.is_set():
            try:
                subscription = self._subscribe()
                self._consuming.set()
                delay = _DELAY_FIRST
                try:
                    self._take(subscription)
                finally:
                    self._consuming.clear()
                    with suppress(BrokerError):
                        subscription.close()
            except BrokerError as error:
                self._last_error = str(error)
                _log.warning(
                    "no session with the broker, trying again",
                    extra={"fields": {"error": str(error), "delay_seconds": delay}},
                )
                self._stop.wait(delay + random.random())  # noqa: S311 - jitter, no secret
                delay = min(_DELAY_MAX, 2 * delay)

    def _take(self, subscription: Subscription) -> None:
        while not self._stop.is_set():
            if self._outbox.depth >= self._settings.buffer_max_events:
                self._hold(subscription)
                continue
            deliveries = subscription.receive(self._settings.prefetch, _TICK)
            if deliveries:
                self._book(subscription, deliveries)

    def _book(self, subscription: Subscription, deliveries: Sequence[Delivery]) -> None:
        """Bring each message of a group to its end: acknowledged, or given back."""
        cloud = self._settings.cloud
        outcomes = [judge(delivery.body, cloud) for delivery in deliveries]
        events = [outcome.event for outcome in outcomes if outcome.kind is Kind.CONSUMED]
        room = max(0, self._settings.buffer_max_events - self._outbox.depth)
        booked = self._write(events[:room])
        ended: list[tuple[Delivery, Outcome]] = []
        returned: list[Delivery] = []
        for delivery, outcome in zip(deliveries, outcomes, strict=True):
            if outcome.kind is Kind.CONSUMED:
                if not booked:
                    returned.append(delivery)
                    continue
                booked -= 1
            ended.append((delivery, outcome))
        self._checkpoint("committed")
        # Counted first: an acknowledgement that the broker saw is then never missing.
        self._counters.count(outcome for _, outcome in ended)
        subscription.ack([delivery for delivery, _ in ended])
        if returned:
            subscription.requeue(returned)
            if len(events) <= room:
                self._stop.wait(self._settings.requeue_delay)

    def _write(self, events: Sequence[bytes]) -> int:
        """Write events and return how many are on disk: all of them, or those ahead of a failure.

        What does not fit at once is tried one by one, so that a full disk cannot stop a group for
        good that would pass in pieces.
        """
        if not events:
            return 0
        written = 0
        try:
            try:
                self._outbox.insert(events)
                written = len(events)
            except OutboxError:
                if len(events) == 1:
                    raise
                for event in events:
                    self._outbox.insert([event])
                    written += 1
        except OutboxError as error:
            if self._write_failing_since is None:
                self._write_failing_since = time.monotonic()
            _log.error(
                "the outbox took no events, they go back to the broker",
                extra={"fields": {"error": str(error), "requeued": len(events) - written}},
            )
        else:
            self._write_failing_since = None
        return written

    def _hold(self, subscription: Subscription) -> None:
        """Leave messages with the broker until the outbox has drained below its bound."""
        bound = self._settings.buffer_max_events
        _log.warning(
            "the outbox is full, leaving messages with the broker",
            extra={"fields": {"buffered": self._outbox.depth, "bound": bound}},
        )
        subscription.pause()
        while not self._stop.is_set() and self._outbox.depth >= _RESUME_BELOW * bound:
            end = time.monotonic() + self._settings.pause_interval
            while not self._stop.is_set() and (left := end - time.monotonic()) > 0:
                # Nothing comes, but the session's heartbeats are answered.
                subscription.requeue(subscription.receive(1, min(_TICK, left)))
        if not self._stop.is_set():
            subscription.resume()

    # The summary

    def _summarise(self) -> None:
        while not self._stop.wait(self._settings.summary_interval):
            seen = self.counters()
            _log.info(
                "summary",
                extra={
                    "fields": {
                        "interval_seconds": self._settings.summary_interval,
                        "connected": seen.connected,
                        "consumed": sum(seen.consumed.values()),
                        "skipped": sum(seen.skipped.values()),
                        "unparseable": seen.unparseable,
                        "delivered": seen.delivered,
                        "delivery_errors": seen.delivery_errors,
                        "buffered": seen.buffered,
                        "oldest_buffered_seconds": round(seen.oldest_buffered_seconds, 3),
                    }
                },
            )
