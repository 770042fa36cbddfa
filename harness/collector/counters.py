"""What a collector counted since it was started."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import msgspec

from harness.collector.outcome import Kind, Outcome

#: Distinct ``event_type`` labels of one process, consumed and skipped together.
LABELS_MAX = 100
#: What further types are counted under.
OTHER = "other"

_LABEL_LENGTH_MAX = 256
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Counters at one instant.

    Attributes:
        consumed: oslo type to count of messages booked.
        skipped: oslo type to count of messages nobody bills.
        unparseable: bodies that are no notification.
        delivered: events the Reporting API accepted.
        delivery_errors: posts that failed, and events dropped as oversize.
        buffered: events in the outbox.
        oldest_buffered_seconds: age of the oldest of them; 0 when empty, NaN when unreadable.
        connected: whether a session with the broker stands.
    """

    consumed: Mapping[str, int]
    skipped: Mapping[str, int]
    unparseable: int
    delivered: int
    delivery_errors: int
    buffered: int = 0
    oldest_buffered_seconds: float = 0.0
    connected: bool = False


class Counters:
    """Counts outcomes and deliveries; any thread may use it.

    With a file, every change is in it when the call returns, so that a harness can sum the lives
    of a collector it kills: JSON members ``consumed``, ``skipped``, ``unparseable``,
    ``delivered``, ``delivery_errors``. A failure to write it is passed over.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._labels: set[str] = set()
        self._consumed: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._unparseable = 0
        self._delivered = 0
        self._delivery_errors = 0

    def count(self, outcomes: Iterable[Outcome]) -> None:
        """Count messages that ended."""
        with self._lock:
            for outcome in outcomes:
                if outcome.kind is Kind.UNPARSEABLE:
                    self._unparseable += 1
                elif outcome.kind is Kind.CONSUMED:
                    self._consumed[self._label(outcome.event_type)] += 1
                else:
                    self._skipped[self._label(outcome.event_type)] += 1
            self._keep()

    def deliver(self, events: int) -> None:
        """Count events the Reporting API accepted."""
        with self._lock:
            self._delivered += events
            self._keep()

    def fail(self) -> None:
        """Count a post that failed or an event dropped as oversize."""
        with self._lock:
            self._delivery_errors += 1
            self._keep()

    def snapshot(
        self, *, buffered: int = 0, oldest_buffered_seconds: float = 0.0, connected: bool = False
    ) -> Snapshot:
        """Return the counters, with what the caller knows of the outbox and the broker."""
        with self._lock:
            return Snapshot(
                consumed=MappingProxyType(dict(self._consumed)),
                skipped=MappingProxyType(dict(self._skipped)),
                unparseable=self._unparseable,
                delivered=self._delivered,
                delivery_errors=self._delivery_errors,
                buffered=buffered,
                oldest_buffered_seconds=oldest_buffered_seconds,
                connected=connected,
            )

    def _keep(self) -> None:
        if self._path is None:
            return
        content = msgspec.json.encode(
            {
                "consumed": self._consumed,
                "skipped": self._skipped,
                "unparseable": self._unparseable,
                "delivered": self._delivered,
                "delivery_errors": self._delivery_errors,
            }
        )
        # Replaced in one step; not synced, because what dies is the process and not the machine.
        with suppress(OSError):
            written = self._path.with_name(f"{self._path.name}.new")
            written.write_bytes(content)
            written.replace(self._path)

    def _label(self, event_type: str) -> str:
        if event_type in self._labels:
            return event_type
        if len(self._labels) >= LABELS_MAX or len(event_type) > _LABEL_LENGTH_MAX:
            return OTHER
        if _SURROGATE.search(event_type):  # cannot be exposed as UTF-8
            return OTHER
        self._labels.add(event_type)
        return event_type
