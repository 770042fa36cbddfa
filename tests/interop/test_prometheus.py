"""The `metricsql` counter source against a real Prometheus."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from harness.engine import CounterFailure, MetricsQuery
from harness.engine.record import Resource, UsageRecord
from harness.stack.ports import free_ports

SECOND = 1_000_000
START = 1782864000  # 2026-07-01
HOUR, DAY = 3600, 86400
GIB = 1 << 30
NAME = "ceilometer_network_outgoing_bytes_total"
QUERY = (
    f'sum(increase({NAME}{{cloud="{{cloud}}",resource_id="{{resource_id}}"}}[{{window}}])) / 2^30'
)


def exposition() -> Iterator[str]:
    """Two instances over two days, a sample a minute: one sends a GiB an hour, one twice that."""
    yield f"# TYPE {NAME.removesuffix('_total')} counter"
    for name, pace in (("steady", 1), ("swift", 2)):
        for port in ("a", "b"):
            for minute in range(2 * 24 * 60 + 1):
                at = START + minute * 60
                value = pace * GIB * minute // 120
                yield f'{NAME}{{cloud="os-sim",resource_id="{name}",port="{port}"}} {value} {at}'
    yield "# EOF"


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Prometheus that holds the samples."""
    programs = shutil.which("prometheus"), shutil.which("promtool")
    if None in programs:
        if "local" in os.environ.get("TALLY_REQUIRE_STACKS", "").split(","):
            pytest.fail("prometheus and promtool are not installed")
        pytest.skip("prometheus and promtool are not installed (Debian: apt install prometheus)")
    place: Path = tmp_path_factory.mktemp("prometheus")
    (place / "samples.txt").write_text("\n".join(exposition()) + "\n")
    (place / "prometheus.yml").write_text("{}\n")
    subprocess.run(
        [
            programs[1],
            "tsdb",
            "create-blocks-from",
            "openmetrics",
            place / "samples.txt",
            place / "data",
        ],
        check=True,
        capture_output=True,
    )
    (port,) = free_ports(1)
    arguments = [
        programs[0],
        f"--config.file={place}/prometheus.yml",
        f"--storage.tsdb.path={place}/data",
        "--storage.tsdb.retention.time=100y",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    url = f"http://127.0.0.1:{port}"
    with (
        (place / "log").open("wb") as log,
        subprocess.Popen(arguments, stdout=log, stderr=log) as process,
    ):
        try:
            for _ in range(300):
                if process.poll() is not None:
                    pytest.fail((place / "log").read_text()[-2000:])
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


@pytest.fixture
def ask(prometheus: str) -> Iterator[object]:
    """Ask the store by a query about an instance over an interval, in seconds of the month."""
    opened: list[MetricsQuery] = []

    def asked(name: str, start: int, end: int, query: str = QUERY, project: str = "p") -> str:
        source = MetricsQuery(
            "openstack", "instance", "egress_gb", query=query, url=prometheus + "/"
        )
        opened.append(source)
        resource = Resource("os-sim", "openstack", "instance", name)
        first, last = (START + start) * SECOND, (START + end) * SECOND
        return str(
            source.quantity(
                UsageRecord(resource, project, "active", first, last, end - start, {}), ()
            )
        )

    yield asked
    for source in opened:
        source._session.close()


def test_increase_over_the_window_at_the_end(ask):
    assert ask("steady", HOUR, 25 * HOUR) == "24.0000"
    assert ask("swift", HOUR, 25 * HOUR) == "48.0000"
    assert ask("swift", HOUR, HOUR + 90 * 60) == "3.0000"


def test_another_window_and_another_end(ask):
    assert ask("steady", 0, DAY) == "24.0000"
    assert ask("steady", DAY, DAY + 12 * HOUR) == "12.0000"


def test_no_series_is_zero(ask):
    assert ask("unknown", 0, DAY) == "0.0000"
    assert ask("steady", 20 * DAY, 21 * DAY) == "0.0000"


def test_a_scalar_is_taken(ask):
    assert ask("steady", 0, DAY, "scalar(vector(1.23455))") == "1.2346"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (f'increase({NAME}{{resource_id="{{resource_id}}"}}[{{window}}])', "2 series"),
        ("sum(", "400.*parse error"),
        ("vector(0) / 0", "gives NaN"),
        ("vector(1) / 0", r"gives \+Inf"),
        (f"{NAME}[5m]", "gives a matrix"),
    ],
)
def test_answers_that_are_no_number_fail(ask, query, words):
    with pytest.raises(CounterFailure, match=words):
        ask("steady", 0, DAY, query)


def test_cloud_resource_and_project_are_bound(ask):
    query = 'count({cloud="{cloud}",resource_id="{resource_id}",port="{project_id}"})'
    assert ask("steady", 0, HOUR, query, project="a") == "1.0000"
    assert ask("steady", 0, HOUR, query, project="c") == "0.0000"
