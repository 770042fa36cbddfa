"""The one fold of a resource's events to the intervals it lived through.

Reporting and engine both use it; instants are whole microseconds since 1970-01-01 UTC.
"""

from harness.timeline.category import Category, category
from harness.timeline.fold import (
    HISTORY_STARTS_WITHOUT_CREATE,
    Event,
    Interval,
    Timeline,
    fold,
    in_order,
)
from harness.timeline.value import same

__all__ = [
    "HISTORY_STARTS_WITHOUT_CREATE",
    "Category",
    "Event",
    "Interval",
    "Timeline",
    "category",
    "fold",
    "in_order",
    "same",
]
