"""What a counter source is, and the kind that counts events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from harness.engine import number
from harness.engine.errors import CounterFailure
from harness.engine.record import UsageRecord
from harness.timeline import Event


class IdentityNotQueryable(CounterFailure):
    """An identity holds a character that must not stand in a query."""


class CounterSource(Protocol):
    """Fills in one usage member of one resource type."""

    @property
    def platform(self) -> str:
        """Platform whose resources it knows."""
        ...

    @property
    def resource_type(self) -> str:
        """Resource type it knows."""
        ...

    @property
    def metric(self) -> str:
        """The usage member it fills in."""
        ...

    @property
    def required(self) -> bool:
        """Whether a failure fails the run."""
        ...

    def quantity(self, record: UsageRecord, events: Sequence[Event]) -> Decimal:
        """Return what the record consumed, at four places.

        Args:
            record: what was used.
            events: all events of the resource before the end of the period, in order.

        Raises:
            IdentityNotQueryable: the source cannot be asked about this resource.
            CounterFailure: the source did not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class EventCount:
    """Counts the resource's events of one type whose instants lie in the record's interval."""

    platform: str
    resource_type: str
    metric: str
    event_type: str
    required: bool = True

    def quantity(self, record: UsageRecord, events: Sequence[Event]) -> Decimal:
        """Return how many events of the type the interval holds."""
        return number.to_four(
            Decimal(
                sum(
                    event.event_type == self.event_type
                    and record.start <= event.timestamp < record.end
                    for event in events
                )
            )
        )
