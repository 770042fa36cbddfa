"""OTLP metrics over HTTP in their JSON mapping.

Written here rather than by an SDK: an SDK stamps a point when it collects it, and every point of a
month belongs to a virtual instant far from the wall clock's. Values travel as decimal texts, which
keeps byte counts exact beyond 2^53.
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
        samples: at most `MOST_POINTS`; one metric per name, in order of first appearance.
        attributes: added to each point unless its labels set them.

    Raises:
        MixedSeries: a name comes as both kinds.
    """
    metrics: dict[str, dict[str, Any]] = {}
    kinds: dict[str, bool] = {}
    for sample in samples:
        if kinds.setdefault(sample.name, sample.cumulative) is not sample.cumulative:
            raise MixedSeries(
                f"the metric {sample.name} carries a gauge sample and a counter sample in one batch"
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
