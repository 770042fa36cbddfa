"""Looking at a pipeline from outside: counters, stored events, dead letters, statistics."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from harness.calendar import Period
from harness.drill.accounting import Sight, counted
from harness.drill.reporting import NotPermitted, ReportingClient
from harness.drill.wording import differences
from harness.errors import HarnessError
from harness.stack.interface import Counters, MonthStack

#: Parts of a verdict, as `Verdict.not_judged` names them.
COLLECTOR, STORED, DEAD_LETTERS, DUPLICATES = (
    "collector counters",
    "stored events",
    "dead letters",
    "duplicates",
)
#: Events of a month may lie this long before it: an instance that was there already.
_EARLIEST = 31 * 86400
_GLANCE = 0.02
#: Without counters, a store nothing was added to for this long counts as complete.
_REST = 10.0

T = TypeVar("T")


class DrillStalled(HarnessError):
    """The pipeline stopped making progress before it had handled the month."""


class Observer:
    """Sees what one month's parts show of themselves.

    Attributes:
        not_judged: parts that could not be seen at the last look.
    """

    def __init__(self, opened: MonthStack, cloud: str) -> None:
        """Connect to the Reporting API, where there is one to be read."""
        self.not_judged: tuple[str, ...] = ()
        self._collector = opened.collector
        self._client = (
            None if opened.reporting is None else ReportingClient(opened.reporting, cloud)
        )

    def close(self) -> None:
        """End the connection."""
        if self._client is not None:
            self._client.close()

    def look(self) -> Sight:
        """See everything that can be seen now.

        Raises:
            ReportingError: the Reporting API did not answer.
        """
        missing: list[str] = []
        counters = self._collector.counters()
        if counters is None:
            missing.append(COLLECTOR)

        def ask(question: Callable[[ReportingClient], T], part: str) -> T | None:
            if self._client is not None:
                try:
                    return question(self._client)
                except NotPermitted:
                    pass
            missing.append(part)
            return None

        sight = Sight(
            counters=counters,
            events=ask(ReportingClient.events, STORED),
            dead_letters=ask(ReportingClient.dead_letters, DEAD_LETTERS),
            tally=ask(ReportingClient.tally, DUPLICATES),
        )
        self.not_judged = tuple(missing)
        return sight

    def statistics(self, sight: Sight, period: Period) -> list[str]:
        """Say where the statistics route does not sum up the events of `sight`."""
        if self._client is None or sight.events is None:
            return []
        stored: Counter[str] = Counter()
        for (_, event_type), number in counted(sight.events).items():
            stored[event_type] += number
        sums = self._client.statistics(period.start - _EARLIEST, period.end)
        return differences("statistics of", stored, sums)

    def wait(
        self, before: Sight, published: int, patience: float, progress: Callable[[int], None]
    ) -> None:
        """Wait until every published message was handled and every event handed on.

        Args:
            before: as it was before the first publication.
            published: messages the broker confirmed since.
            patience: seconds without any progress that are too many.
            progress: called with the number of messages handled so far.

        Raises:
            DrillStalled: nothing moved for `patience` seconds; says what was left to do.
        """
        earlier = before.counters.handled if before.counters else 0
        last: Counters | int | None = None
        since = time.monotonic()
        while True:
            now = self._state()
            if now != last:
                last, since = now, time.monotonic()
            idle = time.monotonic() - since
            if isinstance(now, Counters):
                handled = now.handled - earlier
                progress(min(handled, published))
                if handled >= published and not now.buffered:
                    return
                if idle > patience:
                    raise DrillStalled(
                        f"the collector handled {handled} of {published} messages, "
                        f"{now.buffered} events wait in its outbox, {now.delivery_errors} "
                        f"deliveries failed, and nothing moved for {patience:.0f} s; look at the "
                        "logs of the collector and the Reporting API"
                    )
            elif idle > min(_REST, patience):
                return
            time.sleep(_GLANCE if isinstance(now, Counters) else 1.0)

    def _state(self) -> Counters | int:
        """Return the collector's counters, or how much is stored where it has none to read."""
        counters = self._collector.counters()
        if counters is not None:
            return counters
        try:
            return 0 if self._client is None else len(self._client.events())
        except NotPermitted:
            return 0
