"""Starting and stopping what a drill needs."""

from harness.stack.interface import (
    Access,
    Collector,
    Counters,
    MonthStack,
    Stack,
    StackError,
    Unavailable,
)

__all__ = ["Access", "Collector", "Counters", "MonthStack", "Stack", "StackError", "Unavailable"]
