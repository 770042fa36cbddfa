"""Debian's Prometheus scrapes a month while it runs, and promtool reads what it exposes."""

import shutil
import socket
import subprocess
import time

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from harness.broker.clock import VirtualClock
from harness.calendar import Period
from harness.calendar.instant import DAY
from harness.cloud.app import run_app
from harness.cloud.publication import Publication
from harness.month import generate
from harness.oracle.fold import fold
from harness.oracle.inventory import Inventory
from harness.service.listener import Listener

TOTALS = {
    "openstack_nova_total_vms": "instance",
    "openstack_cinder_volumes": "volume",
    "openstack_neutron_floating_ips": "floating_ip",
    "openstack_glance_images": "image",
    "openstack_loadbalancer_total_loadbalancers": "loadbalancer",
}


@pytest.fixture(scope="module")
def month():
    return generate(1, Period(2026, 7), "os-sim")


@pytest.fixture(scope="module")
def oracle(month):
    return fold(month)


class Noting(VirtualClock):
    """A clock that keeps the instants it was asked for."""

    def __init__(self, base, factor):
        super().__init__(base, factor)
        self.instants = []

    def now(self):
        self.instants.append(super().now())
        return self.instants[-1]


def serve(month, oracle, clock):
    return Listener(run_app(month, oracle, clock, Publication(1, 0)), "127.0.0.1", 0)


def count(oracle, kind, at):
    at = min(at, oracle.end)
    return sum(
        any(i.start <= at < i.end or at == oracle.end == i.end for i in resource.intervals)
        for resource in oracle.resources
        if resource.resource_type == kind
    )


@pytest.fixture
def prometheus(tmp_path):
    """Starts a Prometheus that scrapes a port twice a second; gives its base URL."""
    if shutil.which("prometheus") is None:
        pytest.skip("no prometheus here: apt-get install prometheus")
    processes = []

    def start(port):
        config = tmp_path / "prometheus.yml"
        config.write_text(
            "global: {scrape_interval: 500ms, scrape_timeout: 450ms}\n"
            "scrape_configs:\n- job_name: sim\n  static_configs:\n"
            f"  - targets: ['127.0.0.1:{port}']\n"
            "    labels: {platform: openstack, cloud: os-sim}\n"
        )
        with socket.create_server(("127.0.0.1", 0)) as free:
            own = free.getsockname()[1]
        call = [
            "prometheus",
            f"--config.file={config}",
            f"--storage.tsdb.path={tmp_path}/data",
            f"--web.listen-address=127.0.0.1:{own}",
        ]
        processes.append(
            subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        )
        return f"http://127.0.0.1:{own}"

    yield start
    for process in processes:
        process.terminate()
        process.wait(30)


def scraped(base, series):
    """The values a Prometheus holds of a series, in order of scrapes."""
    answer = requests.get(f"{base}/api/v1/query", params={"query": f"{series}[1h]"}, timeout=10)
    results = answer.json()["data"]["result"]
    assert len(results) < 2
    return [int(float(value)) for result in results for _, value in result["values"]]


def test_every_scrape_of_a_running_month_equals_the_oracle(month, oracle, prometheus):
    clock = Noting(oracle.start, 3 * DAY)
    with serve(month, oracle, clock) as listener:
        base = prometheus(listener.port)
        end = time.monotonic() + 90
        while len(clock.instants) < 12:
            assert time.monotonic() < end, "Prometheus does not scrape"
            time.sleep(0.2)
    time.sleep(1)  # what was scraped last is stored
    for series, kind in TOTALS.items():
        values = scraped(base, series)
        wanted = [count(oracle, kind, at) for at in clock.instants]
        assert len(values) >= 10
        assert values == wanted[: len(values)]
    assert len(set(scraped(base, "openstack_nova_total_vms"))) > 3
    assert set(scraped(base, 'openstack_identity_projects{cloud="os-sim"}')) == {6}


def test_promtool_finds_nothing_but_a_unit_the_name_abbreviates(month, oracle):
    if shutil.which("promtool") is None:
        pytest.skip("no promtool here: apt-get install prometheus")
    clock = VirtualClock(oracle.start + 14 * DAY, 0)
    with serve(month, oracle, clock) as listener:
        answer = requests.get(f"http://127.0.0.1:{listener.port}/metrics", timeout=20)
    result = subprocess.run(
        ["promtool", "check", "metrics"], input=answer.content, capture_output=True, check=False
    )
    found = (result.stdout + result.stderr).decode().splitlines()
    assert found == ["openstack_cinder_volume_gb metric names should not contain abbreviated units"]


def test_the_exposition_holds_the_inventory_and_nothing_else(month, oracle):
    clock = VirtualClock(oracle.start + 14 * DAY, 0)
    with serve(month, oracle, clock) as listener:
        answer = requests.get(f"http://127.0.0.1:{listener.port}/metrics", timeout=20)
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    exposed = [
        (sample.name, sorted(sample.labels.items()), sample.value, sample.timestamp)
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
        if family.type == "gauge"
    ]
    wanted = [
        (sample.name, sorted(sample.labels.items()), float(sample.value), None)
        for sample in Inventory(month, oracle).at(clock.now())
    ]
    assert sorted(exposed) == sorted(wanted)
