"""One point of a metric series."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Sample(NamedTuple):
    """A value of a series at an instant.

    Attributes:
        instant: Unix seconds.
        name: of the series.
        labels: label name to value; shared between samples, so never written to.
        value: a count of things, bytes, megabytes or gigabytes, as the name says.
        cumulative: a counter's running sum rather than a gauge.
    """

    instant: int
    name: str
    labels: Mapping[str, str]
    value: int
    cumulative: bool = False
