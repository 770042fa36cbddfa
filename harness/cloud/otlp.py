"""OTLP metrics over HTTP in their JSON mapping.

Written here because an SDK stamps points with the time of their collection, and those of a month
carry virtual instants. Values travel as decimal texts, so that large byte counts stay exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from harness.errors import HarnessError
from harness.oracle.sample import Sample

#: Most points of one request.
MOST_POINTS = 5000

#: AGGREGATION_TEMPORALITY_CUMULATIVE
_CUMULATIVE = 2


class MixedSeries(HarnessError):
    """A name that carries gauge and counter samples in one batch."""


def encode(samples: Sequence[Sample], attributes: Mapping[str, str]) -> bytes:
    """Return one request's document.

    Args:
        samples: at most `MOST_POINTS`; each name becomes one metric, the first to come first.
        attributes: added to each point unless its labels set them.

    Raises:
        MixedSeries: a name comes as both kinds.
    """
    metrics: dict[str, dict[str, Any]] = {}
    kinds: dict[str, bool] = {}
    for sample in samples:
        if kinds.setdefault(sample.name, sample.cumulative) is not sample.cumulative:
            raise MixedSeries(
                f"{sample.name} comes as a gauge and as a counter within one batch of metrics"
            )
        metric = metrics.setdefault(sample.name, _metric(sample))
        data = metric["sum" if sample.cumulative else "gauge"]
        data["dataPoints"].append(_point(sample, attributes))
    scope = {"metrics": list(metrics.values())}
    return msgspec.json.encode({"resourceMetrics": [{"scopeMetrics": [scope]}]})


def _metric(sample: Sample) -> dict[str, Any]:
    if not sample.cumulative:
        return {"name": sample.name, "gauge": {"dataPoints": []}}
    return {
        "name": sample.name,
        "sum": {"aggregationTemporality": _CUMULATIVE, "isMonotonic": True, "dataPoints": []},
    }


def _point(sample: Sample, attributes: Mapping[str, str]) -> dict[str, Any]:
    labels = {**attributes, **sample.labels}
    return {
        "attributes": [
            {"key": key, "value": {"stringValue": value}} for key, value in sorted(labels.items())
        ],
        "timeUnixNano": f"{sample.instant}000000000",
        "asInt": str(sample.value),
    }
