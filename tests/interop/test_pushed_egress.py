"""From the push into a store and back: the engine's egress out of what a month pushed.

Debian's Prometheus takes no OTLP, so the pushed documents become OpenMetrics text that promtool
loads, sample by sample at their virtual instants.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest
import requests
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from harness.broker.clock import VirtualClock
from harness.calendar import Period
from harness.calendar.instant import HOUR
from harness.cloud.push import Endpoint, Target, batches
from harness.engine import MetricsQuery
from harness.engine.record import Resource, UsageRecord
from harness.month import generate
from harness.oracle import Oracle
from harness.oracle.fold import fold
from harness.oracle.traffic import METRICS_INTERVAL, OUTGOING
from harness.service.listener import Listener
from harness.stack.ports import free_ports

SECOND = 1_000_000
INSTANCE = "079faae9-9d39-426f-a963-769cb12aa629"
#: Counter source of Tally's own configuration, as it queries a real cloud.
QUERY = f'sum(increase({OUTGOING}{{cloud="{{cloud}}",resource_id="{{resource_id}}"}}[{{window}}])) / 2^30'


@pytest.fixture(scope="module")
def oracle() -> Oracle:
    return fold(generate(1, Period(2026, 7), "os-sim"))


@pytest.fixture(scope="module")
def pushed(oracle: Oracle) -> list[bytes]:
    """What an endpoint received of the instance's counters over the month."""
    bodies: list[bytes] = []

    async def take(request: Request) -> Response:
        bodies.append(await request.body())
        return Response(b"{}")

    clock = VirtualClock(oracle.start, 0)
    one = [r for r in oracle.resources if r.resource_id == INSTANCE]
    app = Starlette(routes=[Route("/v1/metrics", take, methods=["POST"])])
    with Listener(app, "127.0.0.1", 0) as listener:
        target = Target(f"http://127.0.0.1:{listener.port}/v1/metrics", "tally", "secret")
        endpoint = Endpoint(target, {"platform": "openstack", "cloud": "os-sim"})
        for _, batch in batches(oracle, lambda _: [], clock, METRICS_INTERVAL):
            endpoint.push([s for s in batch if s.labels["resource_id"] == INSTANCE])
    assert one
    return bodies


def openmetrics(bodies: list[bytes]) -> Iterator[str]:
    yield f"# TYPE {OUTGOING.removesuffix('_total')} counter"
    for body in bodies:
        for resource in msgspec.json.decode(body)["resourceMetrics"]:
            for metric in resource["scopeMetrics"][0]["metrics"]:
                if metric["name"] != OUTGOING:
                    continue
                for point in metric["sum"]["dataPoints"]:
                    labels = ",".join(
                        f'{a["key"]}="{a["value"]["stringValue"]}"' for a in point["attributes"]
                    )
                    yield f"{OUTGOING}{{{labels}}} {point['asInt']} {point['timeUnixNano'][:-9]}"
    yield "# EOF"


@pytest.fixture(scope="module")
def store(pushed: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Prometheus that holds what was pushed."""
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        if "local" in os.environ.get("TALLY_REQUIRE_STACKS", "").split(","):
            pytest.fail("prometheus and promtool are not installed")
        pytest.skip("prometheus and promtool are not installed (Debian: apt install prometheus)")
    place: Path = tmp_path_factory.mktemp("store")
    (place / "samples.txt").write_text("\n".join(openmetrics(pushed)) + "\n")
    (place / "prometheus.yml").write_text("{}\n")
    load = ["promtool", "tsdb", "create-blocks-from", "--max-block-duration=744h", "openmetrics"]
    subprocess.run([*load, place / "samples.txt", place / "data"], check=True, capture_output=True)
    (port,) = free_ports(1)
    call = [
        "prometheus",
        f"--config.file={place}/prometheus.yml",
        f"--storage.tsdb.path={place}/data",
        "--storage.tsdb.retention.time=100y",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + 60
            while time.monotonic() < end:
                try:
                    if requests.get(f"{url}/-/ready", timeout=5).ok:
                        break
                except requests.ConnectionError:
                    pass
                time.sleep(0.1)
            yield url
        finally:
            process.terminate()
            process.wait(30)


def test_the_engine_reads_the_egress_a_month_pushed(oracle: Oracle, store: str) -> None:
    source = MetricsQuery("openstack", "instance", "egress_gb", query=QUERY, url=f"{store}/")
    resource = Resource("os-sim", "openstack", "instance", INSTANCE)
    rows = [row for row in oracle.traffic if row.resource_id == INSTANCE]
    intervals = [
        interval for r in oracle.resources if r.resource_id == INSTANCE for interval in r.intervals
    ]
    read = 0
    for row, interval in zip(rows, intervals, strict=True):
        span = row.end - row.start
        record = UsageRecord(
            resource,
            interval.project_id,
            interval.state,
            row.start * SECOND,
            row.end * SECOND,
            span,
            {},
        )
        quantity = Decimal(source.quantity(record, ()))
        wanted = Decimal(row.egress_bytes) / 2**30
        if interval.state != "active":
            # The step before belongs to the interval before; it shows as an increase of this one.
            assert quantity < Decimal("0.3")
        elif span > 6 * HOUR:
            # An increase is extrapolated to the window's bounds, by up to a step at either end.
            assert abs(quantity - wanted) < wanted / 20 + Decimal("0.5")
            read += 1
    assert read == 6
    source._session.close()
