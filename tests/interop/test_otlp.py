"""What a run pushes, read with opentelemetry-proto and added up against the oracle."""

import json
from collections import defaultdict

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from harness.broker.clock import VirtualClock
from harness.broker.memory import MemoryBus
from harness.calendar import Period
from harness.calendar.profile import weight
from harness.cli.run_options import Publishing
from harness.cli.run_publishing import publish
from harness.cloud.push import Endpoint, Push, PushError, Target
from harness.month import generate
from harness.oracle.fold import fold
from harness.oracle.inventory import Inventory
from harness.oracle.traffic import LEVELS, count_samples
from harness.oslo import EXCHANGES
from harness.prng import traffic
from harness.service.listener import Listener
from harness.service.signals import Signals

#: Six hours: the library takes about a millisecond to read a point.
STEP = 21600


@pytest.fixture(scope="module")
def month():
    return generate(1, Period(2026, 7), "os-sim")


@pytest.fixture(scope="module")
def oracle(month):
    return fold(month, STEP)


class Collecting:
    """An endpoint that keeps every document, or refuses."""

    def __init__(self, status=200):
        self.status = status
        self.bodies = []

    async def take(self, request):
        self.bodies.append(await request.body())
        return Response(b"{}", self.status, media_type="application/json")

    def points(self):
        """Yield (metric name, its data, point) of every document, as the protobuf has them."""
        for body in self.bodies:
            document = json_format.Parse(body, ExportMetricsServiceRequest())
            for resource in document.resource_metrics:
                for scope in resource.scope_metrics:
                    for metric in scope.metrics:
                        data = getattr(metric, metric.WhichOneof("data"))
                        for point in data.data_points:
                            yield metric, data, point


@pytest.fixture
def serving():
    listeners = []

    def start(collecting):
        app = Starlette(routes=[Route("/v1/metrics", collecting.take, methods=["POST"])])
        listeners.append(Listener(app, "127.0.0.1", 0).start())
        return Target(f"http://127.0.0.1:{listeners[-1].port}/v1/metrics", "tally", "secret")

    yield start
    for listener in listeners:
        listener.close()


def labels(point):
    return {entry.key: entry.value.string_value for entry in point.attributes}


@pytest.mark.slow
def test_a_months_documents_parse_and_add_up_to_the_oracle(month, oracle, serving):
    collecting = Collecting()
    endpoint = Endpoint(serving(collecting), {"platform": "openstack", "cloud": "os-sim"})
    push = Push(month, oracle, VirtualClock(oracle.start, 0), endpoint, STEP)
    push.start()
    push.join()
    assert push.error is None

    first, last, steps = {}, {}, defaultdict(int)
    gauges, total = defaultdict(list), 0
    for metric, data, point in collecting.points():
        total += 1
        stated = labels(point)
        assert [entry.key for entry in point.attributes] == sorted(stated)
        assert (stated["platform"], stated["cloud"]) == ("openstack", "os-sim")
        assert not metric.unit
        at = point.time_unix_nano // 10**9
        assert point.time_unix_nano % 10**9 == 0
        assert oracle.start <= at < oracle.end
        if metric.name.startswith("ceilometer_"):
            assert data.is_monotonic
            assert (
                data.aggregation_temporality
                == AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
            )
            key = metric.name, stated["resource_id"]
            first.setdefault(key, point.as_int)
            assert point.as_int >= last.get(key, (0, 0))[1]
            last[key] = at, point.as_int
            steps[key] += 1
        else:
            gauges[at].append((metric.name, point.as_int))
    assert total == push.pushed
    assert sum(steps.values()) == count_samples(oracle, STEP)
    assert set(first.values()) == {0}

    # The last step's bytes stand in the document and in no sample.
    rows = defaultdict(lambda: [0, 0])
    for row in oracle.traffic:
        rows[row.resource_id][0] += row.egress_bytes
        rows[row.resource_id][1] += row.ingress_bytes
    stream = traffic(oracle.seed)
    for resource in oracle.resources:
        if resource.resource_type != "instance":
            continue
        jitter = 50 + stream.below(101)
        names = ("outgoing", "incoming")
        for place, (name, level) in enumerate(zip(names, LEVELS[resource.workload], strict=True)):
            key = f"ceilometer_network_{name}_bytes_total", resource.resource_id
            if key not in last:
                assert rows[resource.resource_id][place] == 0
                continue
            at, value = last[key]
            active = any(i.start <= at < i.end and i.state == "active" for i in resource.intervals)
            final = level * weight(at) * STEP * jitter // 3_600_000 if active else 0
            assert rows[resource.resource_id][place] == value + final

    inventory = Inventory(month, oracle)
    assert sorted(gauges) == list(range(oracle.start, oracle.end, STEP))
    for at in sorted(gauges)[:: len(gauges) // 9]:
        wanted = sorted((sample.name, sample.value) for sample in inventory.at(at))
        assert sorted(gauges[at]) == wanted


def settings(target):
    return Publishing("", 0, 0, "127.0.0.1", 0, metrics=True, target=target)


def test_a_failing_endpoint_ends_the_pushing_and_not_the_month(month, oracle, serving, caplog):
    caplog.set_level("INFO")
    collecting = Collecting(status=403)
    bus = MemoryBus(EXCHANGES)
    subscription = bus.subscription()
    with pytest.raises(PushError, match="unexpected status 403"), Signals() as signals:
        publish(
            settings(serving(collecting)),
            month,
            oracle,
            metrics_interval=STEP,
            publisher=bus.publisher(),
            signals=signals,
        )
    assert len(collecting.bodies) == 1
    assert bus.depth() == 15741
    subscription.close()
    (completed,) = [r.fields for r in caplog.records if r.getMessage() == "completed"]
    assert (completed["published"], completed["pushed"]) == (15741, 0)
    (stopped,) = [r.fields for r in caplog.records if r.getMessage() == "pushing stopped"]
    assert "secret" not in json.dumps(stopped)
