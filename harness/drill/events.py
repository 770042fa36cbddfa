"""``events.jsonl``: what the collector has to make of a month.

Month and collector meet only here and on the bus. The rendered bodies go through the collector's
own reading and mapping; the oracle has no part in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.calendar import rfc3339
from harness.collector.outcome import Kind as OutcomeKind
from harness.collector.outcome import judge
from harness.errors import HarnessError
from harness.month import Kind, Month
from harness.month.render import body


class UnmappedTransition(HarnessError):
    """A billable transition the collector books nothing for."""


def events(month: Month) -> Iterator[bytes]:
    """Yield the canonical event of every billable transition of the schedule, in its order.

    What is held back is among them, copies and twins are not.

    Raises:
        UnmappedTransition: the collector books nothing for one of them.
    """
    for transition in month.schedule:
        if transition.kind is not Kind.BOOKED:
            continue
        outcome = judge(body(transition), month.cloud)
        if outcome.kind is not OutcomeKind.CONSUMED:
            raise UnmappedTransition(
                f"transition {transition.event_type} at {rfc3339(transition.instant)} is billable, "
                f"but to the collector it is {outcome.kind.value}; "
                "every billable type needs a row in the mapping's table"
            )
        yield outcome.event
