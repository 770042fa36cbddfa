"""What the instances of a month move over the network.

Traffic lies on a grid of equal steps counted from the start of the month. A step accrues
``level * weight * seconds * jitter // 3 600 000`` bytes in each direction, the weight being that
of the working week at the step's start. The interval a step starts in gets all of it.

The rows of the document are sums over steps; since a month knows three weights only, a row is
found by counting the steps of each weight instead of walking them.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from harness import prng
from harness.calendar import rfc3339
from harness.calendar.instant import DAY, HOUR
from harness.calendar.profile import weight
from harness.errors import HarnessError, UsageError
from harness.oracle.model import Oracle, Resource, TrafficRow
from harness.oracle.sample import Sample

#: Seconds between two steps where nobody says otherwise.
METRICS_INTERVAL = 300

OUTGOING = "ceilometer_network_outgoing_bytes_total"
INCOMING = "ceilometer_network_incoming_bytes_total"

#: Workload to the egress and ingress bytes of a full office hour.
LEVELS = {
    "classic": (2 << 30, 512 << 20),
    "gardener": (8 << 30, 4 << 30),
    "ci": (256 << 20, 512 << 20),
}

#: Weight of an office hour, seconds of an hour, and the jitter's denominator.
_DIVISOR = 10 * HOUR * 100


class TrafficError(HarnessError):
    """An instance of a workload no level is stated for."""


class MetricsIntervalError(UsageError):
    """A metrics interval that is no whole number of seconds from 30 s to 24 h."""


def check_interval(seconds: float) -> int:
    """Return a metrics interval in whole seconds.

    Raises:
        MetricsIntervalError: it is fractional, or not within 30 s … 24 h.
    """
    if seconds != int(seconds) or not 30 <= seconds <= DAY:
        raise MetricsIntervalError(
            f"--metrics-interval: {seconds:g}s must be whole seconds, from 30s to 24h; the usual "
            "one is 300s"
        )
    return int(seconds)


@dataclass(frozen=True, slots=True)
class Series:
    """One instance's steps.

    Attributes:
        resource: the instance.
        egress: bytes of one step at weight 1, 3 and 10.
        ingress: the same for the other direction.
        first: number of the first step, counted from the start of the month.
        last: number behind the last one.
    """

    resource: Resource
    egress: dict[int, int]
    ingress: dict[int, int]
    first: int
    last: int


class Grid:
    """The steps of a month, counted by weight."""

    def __init__(self, start: int, end: int, step: int) -> None:
        """Lay steps of `step` seconds over the month ``[start, end)``."""
        self._start = start
        self._step = step
        self._weights: list[int] = []
        self._before: list[dict[int, int]] = []
        counted = {1: 0, 3: 0, 10: 0}
        for hour in range((end - start) // HOUR):
            weighs = weight(start + hour * HOUR)
            self._weights.append(weighs)
            self._before.append(dict(counted))
            counted[weighs] += _behind((hour + 1) * HOUR, step) - _behind(hour * HOUR, step)
        self._all = counted

    def before(self, instant: int) -> dict[int, int]:
        """Return how many of the steps that start before `instant` carry each weight."""
        number = _behind(max(instant - self._start, 0), self._step)
        hour = number * self._step // HOUR
        if hour >= len(self._weights):
            return self._all
        counted = dict(self._before[hour])
        counted[self._weights[hour]] += number - _behind(hour * HOUR, self._step)
        return counted


def place(
    resources: Sequence[Resource], seed: int, start: int, end: int, step: int
) -> tuple[TrafficRow, ...]:
    """Return the rows of the document: one per interval of every instance, zeros included.

    Raises:
        TrafficError: an instance runs a workload without a level.
        MetricsIntervalError: the step is not within 30 s … 24 h.
    """
    grid = Grid(start, end, check_interval(step))
    rows = []
    for series in _series(resources, seed, start, step):
        for interval in series.resource.intervals:
            egress = ingress = 0
            if interval.state == "active":
                low = grid.before(interval.start)
                for weighs, count in grid.before(interval.end).items():
                    steps = count - low[weighs]
                    egress += steps * series.egress[weighs]
                    ingress += steps * series.ingress[weighs]
            rows.append(
                TrafficRow(
                    series.resource.resource_id, interval.start, interval.end, egress, ingress
                )
            )
    return tuple(rows)


def samples(oracle: Oracle, step: int = METRICS_INTERVAL) -> Iterator[Sample]:
    """Yield every counter sample of the month, by instant, name and resource id.

    A sample is the sum of the steps before it: a series begins at 0, and of the bytes of the last
    step only the document knows.
    """
    waiting = [
        _Counter(series, oracle.cloud)
        for series in _series(oracle.resources, oracle.seed, oracle.start, step)
        if series.first < series.last
    ]
    waiting.sort(key=lambda counter: (counter.first, counter.resource_id), reverse=True)
    running: list[_Counter] = []
    number = 0
    while waiting or running:
        if not running:
            number = waiting[-1].first
        while waiting and waiting[-1].first == number:
            bisect.insort(running, waiting.pop(), key=attrgetter("resource_id"))
        instant = oracle.start + number * step
        weighs = weight(instant)
        for counter in running:
            counter.enter(instant)
            yield Sample(instant, INCOMING, counter.labels, counter.ingress, cumulative=True)
        for counter in running:
            yield Sample(instant, OUTGOING, counter.labels, counter.egress, cumulative=True)
            counter.accrue(weighs)
        number += 1
        running = [counter for counter in running if counter.last > number]


def count_samples(oracle: Oracle, step: int = METRICS_INTERVAL) -> int:
    """Return how many samples the month has, without making them."""
    return 2 * sum(
        max(series.last - series.first, 0)
        for series in _series(oracle.resources, oracle.seed, oracle.start, step)
    )


def increments(oracle: Oracle, step: int = METRICS_INTERVAL) -> Iterator[bytes]:
    """Yield what each step adds to an instance's egress, as the engine's counter source reads it.

    Each is a JSON line with ``resource_id``, ``at`` (start of the step), ``metric``
    (``egress_gb``) and ``bytes``. Steps that add nothing are left out. The sum over an interval
    equals the document's row of it.
    """
    stamps: dict[int, tuple[str, int]] = {}
    for series in _series(oracle.resources, oracle.seed, oracle.start, step):
        head = f'{{"resource_id":"{series.resource.resource_id}","at":"'
        tails = {
            weighs: f'","metric":"egress_gb","bytes":{added}}}\n'
            for weighs, added in series.egress.items()
        }
        for interval in series.resource.intervals:
            if interval.state != "active":
                continue
            for number in range(
                _behind(interval.start - oracle.start, step),
                _behind(interval.end - oracle.start, step),
            ):
                if number not in stamps:
                    instant = oracle.start + number * step
                    stamps[number] = rfc3339(instant), weight(instant)
                at, weighs = stamps[number]
                yield (head + at + tails[weighs]).encode()


class _Counter:
    """The two running sums of one instance, and the interval its present step lies in."""

    __slots__ = (
        "_active",
        "_index",
        "_intervals",
        "_series",
        "egress",
        "first",
        "ingress",
        "labels",
        "last",
        "resource_id",
    )

    def __init__(self, series: Series, cloud: str) -> None:
        self._series = series
        self._intervals = series.resource.intervals
        self._index = 0
        self._active = False
        self.resource_id = series.resource.resource_id
        self.first = series.first
        self.last = series.last
        self.egress = 0
        self.ingress = 0
        self.labels = {
            "platform": "openstack",
            "cloud": cloud,
            "resource_type": "instance",
            "resource_id": self.resource_id,
            "project_id": self._intervals[0].project_id,
        }

    def enter(self, instant: int) -> None:
        """Move on to the step at `instant`; a gap keeps the project of the interval before it."""
        while self._intervals[self._index].end <= instant:
            self._index += 1
        interval = self._intervals[self._index]
        if interval.start > instant:
            self._active = False
            return
        self._active = interval.state == "active"
        if interval.project_id != self.labels["project_id"]:
            self.labels = self.labels | {"project_id": interval.project_id}

    def accrue(self, weighs: int) -> None:
        """Add what the present step moves."""
        if self._active:
            self.egress += self._series.egress[weighs]
            self.ingress += self._series.ingress[weighs]


def _series(resources: Iterable[Resource], seed: int, start: int, step: int) -> Iterator[Series]:
    """Draw each instance's jitter, in document order, and lay its steps."""
    stream = prng.traffic(seed)
    for resource in resources:
        if resource.resource_type != "instance":
            continue
        try:
            levels = LEVELS[resource.workload]
        except KeyError:
            raise TrafficError(
                f'instance {resource.resource_id} runs the workload "{resource.workload}", and '
                f"how much that moves is known for {', '.join(LEVELS)} only"
            ) from None
        jitter = 50 + stream.below(101)
        egress, ingress = (
            {weighs: level * weighs * step * jitter // _DIVISOR for weighs in (1, 3, 10)}
            for level in levels
        )
        yield Series(
            resource,
            egress,
            ingress,
            _behind(max(resource.intervals[0].start - start, 0), step),
            _behind(resource.intervals[-1].end - start, step),
        )


def _behind(seconds: int, step: int) -> int:
    """Return the number of the first step that starts `seconds` into the month or later."""
    return -(-seconds // step)
