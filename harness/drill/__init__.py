r"""Drills: a month goes through a stack, and a verdict comes out.

::

    from harness.drill import prepare, run
    from harness.stack import open_stack

    subject = prepare(1, Period.parse("2026-07"))
    verdict = run(subject, stack)
    print("\\n".join(verdict.lines()))

Names are imported when they are asked for, so that a plugin nobody uses costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.drill.accounting import Accounting, Counts
    from harness.drill.call import DrillStalled, Progress, run, take
    from harness.drill.chaos import Chaos
    from harness.drill.expectation import Expectation
    from harness.drill.held_back import HeldBack, run_held_back
    from harness.drill.subject import Subject, prepare, released
    from harness.drill.verdict import Verdict

_HOME = {
    "Accounting": "accounting",
    "Chaos": "chaos",
    "Counts": "accounting",
    "DrillStalled": "call",
    "Expectation": "expectation",
    "HeldBack": "held_back",
    "Progress": "call",
    "Subject": "subject",
    "Verdict": "verdict",
    "prepare": "subject",
    "released": "subject",
    "run": "call",
    "run_held_back": "held_back",
    "take": "call",
}

__all__ = [
    "Accounting",
    "Chaos",
    "Counts",
    "DrillStalled",
    "Expectation",
    "HeldBack",
    "Progress",
    "Subject",
    "Verdict",
    "prepare",
    "released",
    "run",
    "run_held_back",
    "take",
]


def __getattr__(name: str) -> Any:
    try:
        module = _HOME[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    return getattr(importlib.import_module(f"harness.drill.{module}"), name)
