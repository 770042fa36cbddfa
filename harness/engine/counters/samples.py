"""The counter source that reads increments from a file, exact where a metrics store is not."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from pathlib import Path

import msgspec

from harness.engine import number
from harness.engine.errors import CounterFailure
from harness.engine.instant import SECOND
from harness.engine.record import UsageRecord
from harness.timeline import Event

_GIBIBYTE = 1 << 30
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Line(msgspec.Struct, frozen=True):
    resource_id: str
    at: int | str
    metric: str
    bytes: int


class Samples:
    """Adds up increments of a byte counter over a record's interval, in gibibytes.

    An increment counts where it happens: ``start <= at < end``.
    """

    def __init__(
        self,
        increments: Iterable[tuple[str, int, int]],
        *,
        platform: str = "openstack",
        resource_type: str = "instance",
        metric: str = "egress_gb",
    ) -> None:
        """Take increments of one metric, in any order.

        Args:
            increments: (resource id, instant in microseconds, bytes).
            platform: platform of the resources.
            resource_type: their type.
            metric: the usage member they add up to.
        """
        self.platform = platform
        self.resource_type = resource_type
        self.metric = metric
        self.required = True
        self._steps: dict[str, tuple[array[int], array[int]]] = {}
        for resource_id, at, size in increments:
            instants, sizes = self._steps.setdefault(resource_id, (array("q"), array("q")))
            instants.append(at)
            sizes.append(size)
        for resource_id, (instants, sizes) in self._steps.items():
            self._steps[resource_id] = _cumulative(instants, sizes)

    def quantity(self, record: UsageRecord, events: Sequence[Event]) -> Decimal:  # noqa: ARG002 - a source that needs no history
        """Return the gibibytes of the interval, rounded once; 0 for an unknown resource."""
        steps = self._steps.get(record.resource.resource_id)
        if steps is None:
            return number.ZERO
        instants, before = steps
        first = bisect_left(instants, record.start)
        last = bisect_left(instants, record.end)
        return number.divide(before[last] - before[first], _GIBIBYTE)


def samples(
    path: Path,
    *,
    platform: str = "openstack",
    resource_type: str = "instance",
    metric: str = "egress_gb",
) -> Samples:
    """Read increments from a file of JSON lines.

    Each line holds ``resource_id``, ``at`` (RFC 3339, or Unix seconds), ``metric`` and
    ``bytes``; lines of other metrics are passed over.

    Raises:
        CounterFailure: the file cannot be read, or a line holds something else.
    """
    decoder = msgspec.json.Decoder(_Line)

    def increments() -> Iterable[tuple[str, int, int]]:
        with path.open("rb") as file:
            for count, line in enumerate(file, 1):
                try:
                    step = decoder.decode(line)
                    at = _instant(step.at)
                except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
                    raise CounterFailure(
                        f"{path}: line {count}: {error}; "
                        "a line holds resource_id, at, metric and bytes"
                    ) from error
                if step.metric == metric:
                    yield step.resource_id, at, step.bytes

    try:
        return Samples(increments(), platform=platform, resource_type=resource_type, metric=metric)
    except OSError as error:
        raise CounterFailure(f"reading the samples {path}: {error.strerror}") from error


@lru_cache(maxsize=65536)
def _instant(at: int | str) -> int:
    """Return microseconds; a month has few steps and many resources, hence the cache."""
    if isinstance(at, int):
        return at * SECOND
    moment = datetime.fromisoformat(at)
    if moment.tzinfo is None:
        raise ValueError(f'"{at}" states no zone')
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _cumulative(instants: array[int], sizes: array[int]) -> tuple[array[int], array[int]]:
    """Sort steps by instant; give, for each index, the bytes of all steps before it."""
    order = sorted(range(len(instants)), key=instants.__getitem__)
    before = array("q", [0])
    for index in order:
        before.append(before[-1] + sizes[index])
    return array("q", (instants[index] for index in order)), before
