"""Services around a drill: started, shared, removed.

::

    stack = open_stack("auto", Options())
    with stack.month("seed-1", cloud="os-sim") as month:
        publisher = month.publisher()
        month.collector.start()
        ...
    stack.close()
"""

from harness.stack.interface import (
    KINDS,
    Access,
    Collector,
    Counters,
    MonthStack,
    Stack,
    StackError,
    Unavailable,
)
from harness.stack.open import attach, open_stack
from harness.stack.options import Options

__all__ = [
    "KINDS",
    "Access",
    "Collector",
    "Counters",
    "MonthStack",
    "Options",
    "Stack",
    "StackError",
    "Unavailable",
    "attach",
    "open_stack",
]
