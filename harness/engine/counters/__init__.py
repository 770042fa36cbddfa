"""Consumption figures that events do not carry: bytes sent, pulls served."""

from harness.engine.counters.counting import (
    COUNTER_IDENTITY_NOT_QUERYABLE,
    COUNTER_SOURCE_FAILED,
    Counting,
)
from harness.engine.counters.file import read_sources
from harness.engine.counters.metricsql import MetricsQuery
from harness.engine.counters.samples import Samples, samples
from harness.engine.counters.source import CounterSource, EventCount

__all__ = [
    "COUNTER_IDENTITY_NOT_QUERYABLE",
    "COUNTER_SOURCE_FAILED",
    "CounterSource",
    "Counting",
    "EventCount",
    "MetricsQuery",
    "Samples",
    "read_sources",
    "samples",
]
