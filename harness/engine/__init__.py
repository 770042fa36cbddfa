"""The reference engine: meters, rates, states, corrects and exports a billing period.

It reads the Reporting API's database at one snapshot per run and writes a database of its own.
"""

from harness.engine.counters import (
    CounterSource,
    EventCount,
    MetricsQuery,
    Samples,
    read_sources,
    samples,
)
from harness.engine.engine import ATTRIBUTING, FORMATS, Engine, Exported, Late, Outcome
from harness.engine.errors import (
    CounterFailure,
    DatabaseError,
    EngineError,
    ExportRefused,
    InvariantsViolated,
    PeriodBusy,
    PricingRefused,
    RunRefused,
)

__all__ = [
    "ATTRIBUTING",
    "FORMATS",
    "CounterFailure",
    "CounterSource",
    "DatabaseError",
    "Engine",
    "EngineError",
    "EventCount",
    "ExportRefused",
    "Exported",
    "InvariantsViolated",
    "Late",
    "MetricsQuery",
    "Outcome",
    "PeriodBusy",
    "PricingRefused",
    "RunRefused",
    "Samples",
    "read_sources",
    "samples",
]
