"""Endpoints: what monitoring sees."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from harness.collector.counters import Snapshot
from harness.collector.endpoints import create_app
from harness.service.listener import Listener


@pytest.fixture
def collector():
    return SimpleNamespace(
        counters=lambda: Snapshot(
            consumed={"volume.create.end": 3},
            skipped={'odd"\n\\type': 2, "": 1},
            unparseable=4,
            delivered=5,
            delivery_errors=6,
            buffered=7,
            oldest_buffered_seconds=float("nan"),
        ),
        ready=lambda: True,
        healthy=lambda: True,
    )


@pytest.fixture
def serve(collector):
    started = []

    def start(**options):
        listener = Listener(create_app(collector, **options), "127.0.0.1", 0).start()
        started.append(listener)
        return f"http://127.0.0.1:{listener.port}"

    yield start
    for listener in started:
        listener.close()


def test_metrics(serve):
    answer = requests.get(f"{serve()}/metrics", timeout=5)
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    samples = {
        (sample.name, sample.labels.get("event_type")): sample.value
        for family in families.values()
        for sample in family.samples
    }
    oldest = samples.pop(("tally_collector_oldest_buffered_seconds", None))
    assert oldest != oldest
    assert samples == {
        ("tally_collector_buffer_depth", None): 7,
        ("tally_collector_consumed_total", "volume.create.end"): 3,
        ("tally_collector_skipped_total", 'odd"\n\\type'): 2,
        ("tally_collector_skipped_total", ""): 1,
        ("tally_collector_unparseable_total", None): 4,
        ("tally_collector_delivered_total", None): 5,
        ("tally_collector_delivery_errors_total", None): 6,
    }
    kinds = {family.name: family.type for family in families.values()}
    assert kinds["tally_collector_buffer_depth"] == "gauge"
    assert kinds["tally_collector_oldest_buffered_seconds"] == "gauge"
    assert kinds["tally_collector_consumed"] == "counter"


def test_metrics_can_be_switched_off(serve):
    url = serve(metrics_enabled=False)
    assert requests.get(f"{url}/metrics", timeout=5).status_code == 404
    assert requests.get(f"{url}/readyz", timeout=5).text == "ok"


@pytest.mark.parametrize(("route", "state"), [("readyz", "ready"), ("healthz", "healthy")])
def test_states(serve, collector, route, state):
    url = serve()
    answer = requests.get(f"{url}/{route}", timeout=5)
    assert (answer.status_code, answer.text) == (200, "ok")
    setattr(collector, state, lambda: False)
    answer = requests.get(f"{url}/{route}", timeout=5)
    assert answer.status_code == 503
    assert answer.text != "ok"


def test_at_most_three_scrapes_at_once(serve, collector, monkeypatch):
    monkeypatch.setattr("harness.collector.endpoints._SCRAPE_SECONDS", 60.0)
    held = threading.Event()
    inside = threading.Semaphore(0)
    counters = collector.counters

    def hold():
        inside.release()
        assert held.wait(60)
        return counters()

    collector.counters = hold
    url = serve()
    with ThreadPoolExecutor(3) as pool:
        scrapes = [pool.submit(requests.get, f"{url}/metrics", timeout=60) for _ in range(3)]
        for _ in scrapes:
            assert inside.acquire(timeout=60)
        assert requests.get(f"{url}/metrics", timeout=10).status_code == 503
        assert requests.get(f"{url}/readyz", timeout=5).text == "ok"
        held.set()
        assert [scrape.result().status_code for scrape in scrapes] == [200] * 3
    assert requests.get(f"{url}/metrics", timeout=5).status_code == 200


def test_a_scrape_that_takes_too_long(serve, collector, monkeypatch):
    monkeypatch.setattr("harness.collector.endpoints._SCRAPE_SECONDS", 0.1)
    held = threading.Event()
    counters = collector.counters
    collector.counters = lambda: held.wait(10) and counters()
    url = serve()
    try:
        assert requests.get(f"{url}/metrics", timeout=5).status_code == 503
    finally:
        held.set()


def test_other_routes(serve):
    assert requests.get(f"{serve()}/", timeout=5).status_code == 404
