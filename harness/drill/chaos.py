"""Where a drill lets something go wrong on purpose: the parts of a chaos drill it calls."""

from __future__ import annotations

from typing import Protocol

from harness.stack.interface import MonthStack


class Chaos(Protocol):
    """Something that disturbs a pipeline while a month goes through it.

    Attributes:
        disturbed: a part was killed, cut off or refused, so that a message may have been handled
            more than once; the collector's counters are then judged as "at least".
    """

    disturbed: bool

    def begin(self, opened: MonthStack) -> MonthStack:
        """Take hold of a month's parts before anything is published; may return a stand-in."""
        ...

    def published(self, confirmed: int) -> None:
        """Learn how many messages the broker has confirmed so far."""
        ...

    def settle(self) -> None:
        """End every disturbance; the drill waits for the outbox to drain afterwards."""
        ...


class Quiet:
    """A day on which nothing goes wrong."""

    disturbed = False

    def begin(self, opened: MonthStack) -> MonthStack:
        """Leave the parts as they are."""
        return opened

    def published(self, confirmed: int) -> None:
        """Do nothing."""

    def settle(self) -> None:
        """Do nothing."""


def plan(names: str, seed: int) -> Chaos:
    """Return what a comma list of disturbances does to the month of `seed`; none is a quiet day.

    Raises:
        UsageError: a name that is no disturbance.
    """
    if not names:
        return Quiet()
    from harness.drill.storm import Storm, read  # noqa: PLC0415 - quiet days need none of it

    return Storm(read(names), seed)
