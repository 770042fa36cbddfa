"""What the engine refuses or fails at.

::

    EngineError
    ├── DatabaseError          a database cannot be reached, or lacks a table
    ├── InvariantsViolated     the metered month contradicts the events; the run failed
    ├── CounterFailure         a counter source did not answer
    ├── PeriodBusy             another run of the period is in progress
    ├── RunRefused             the run or the period is not in the state the step needs
    ├── PricingRefused         no model for the period, or an import that contradicts another one
    └── ExportRefused          the run is not exportable, or the directory not empty
"""

from __future__ import annotations

from harness.errors import HarnessError


class EngineError(HarnessError):
    """Root of the engine's exceptions."""


class DatabaseError(EngineError):
    """A database cannot be reached or lacks a table. Never shows a password."""


class InvariantsViolated(EngineError):
    """Usage records that contradict the events they came from; the whole run failed."""


class CounterFailure(EngineError):
    """A counter source did not answer, or answered something that is no number."""


class PeriodBusy(EngineError):
    """Another run of the period is in progress."""


class RunRefused(EngineError):
    """The run or the period is not in the state the step needs."""


class PricingRefused(EngineError):
    """No pricing model is valid, or an import contradicts what is there."""


class ExportRefused(EngineError):
    """The run is not exportable, or the directory is not empty."""
