"""``GET /metrics``: the inventory in the text format Prometheus scrapes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from harness.oracle.sample import Sample

_HELP = "What the simulated cloud holds at the virtual instant of the scrape."
_FORMAT = "text/plain; version=0.0.4; charset=utf-8"

#: Scrapes answered at once, and seconds one may take.
_MOST_SCRAPES = 3
_PATIENCE = 10.0


class InventoryCollector(Collector):
    """Gives a scrape the gauges of one instant."""

    def __init__(self, samples: Callable[[], list[Sample]]) -> None:
        """Ask `samples` at every scrape."""
        self._samples = samples

    def collect(self) -> Iterator[Metric]:
        """Yield a family per series, in the order the inventory has them."""
        families: dict[str, GaugeMetricFamily] = {}
        for sample in self._samples():
            family = families.get(sample.name)
            if family is None:
                family = GaugeMetricFamily(sample.name, _HELP, labels=list(sample.labels))
                families[sample.name] = family
            family.add_metric(list(sample.labels.values()), sample.value)
        yield from families.values()

    def describe(self) -> Iterator[Metric]:
        """Name no series ahead of a scrape."""
        return iter(())


def metrics_routes(samples: Callable[[], list[Sample]]) -> list[BaseRoute]:
    """Return the route of ``/metrics``, with a registry of its own."""
    registry = CollectorRegistry()
    registry.register(InventoryCollector(samples))
    scrapes = 0

    async def metrics(_: Request) -> Response:
        nonlocal scrapes
        if scrapes >= _MOST_SCRAPES:
            return PlainTextResponse("three scrapes are being answered; come back later", 503)
        scrapes += 1
        try:
            async with asyncio.timeout(_PATIENCE):
                body = await run_in_threadpool(generate_latest, registry)
        except TimeoutError:
            return PlainTextResponse(f"the scrape took longer than {_PATIENCE:g} s", 503)
        finally:
            scrapes -= 1
        return Response(body, headers={"Content-Type": _FORMAT})

    return [Route("/metrics", metrics)]
