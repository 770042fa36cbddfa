"""``/healthz``, ``/readyz`` and ``/metrics`` of a collector."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from harness.collector.service import Collector

_SCRAPES_MAX = 3
_SCRAPE_SECONDS = 10.0
_UNAVAILABLE = 503


class Exposition:
    """A collector's counters as Prometheus metrics."""

    def __init__(self, collector: Collector) -> None:
        """Expose `collector`."""
        self._collector = collector

    def collect(self) -> Iterable[Metric]:
        """Yield every series of one instant."""
        seen = self._collector.counters()
        yield GaugeMetricFamily(
            "tally_collector_buffer_depth", "Events in the outbox.", value=seen.buffered
        )
        for name, text, counts in (
            ("consumed", "Notifications booked, by oslo type.", seen.consumed),
            ("skipped", "Notifications nobody bills, by oslo type.", seen.skipped),
        ):
            family = CounterMetricFamily(f"tally_collector_{name}", text, labels=["event_type"])
            for event_type, count in sorted(counts.items()):
                family.add_metric([event_type], count)
            yield family
        for name, text, count in (
            ("unparseable", "Bodies that are no notification.", seen.unparseable),
            ("delivered", "Events the Reporting API accepted.", seen.delivered),
            ("delivery_errors", "Posts that failed, events dropped.", seen.delivery_errors),
        ):
            yield CounterMetricFamily(f"tally_collector_{name}", text, value=count)
        yield GaugeMetricFamily(
            "tally_collector_oldest_buffered_seconds",
            "Age of the oldest event in the outbox; 0 when empty, NaN when unreadable.",
            value=seen.oldest_buffered_seconds,
        )


def create_app(collector: Collector, *, metrics_enabled: bool = True) -> Starlette:
    """Return the ASGI app.

    Args:
        collector: what it tells about.
        metrics_enabled: whether ``/metrics`` answers, else 404.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Exposition(collector))
    scrapes = 0

    async def metrics(_request: Request) -> Response:
        nonlocal scrapes
        if scrapes >= _SCRAPES_MAX:
            return PlainTextResponse(
                f"at most {_SCRAPES_MAX} scrapes at once", status_code=_UNAVAILABLE
            )
        scrapes += 1
        work = asyncio.create_task(asyncio.to_thread(generate_latest, registry))
        work.add_done_callback(lambda _: leave())
        try:
            content = await asyncio.wait_for(asyncio.shield(work), _SCRAPE_SECONDS)
        except TimeoutError:
            return PlainTextResponse(
                f"the scrape took longer than {_SCRAPE_SECONDS:g} s", status_code=_UNAVAILABLE
            )
        return Response(content, media_type=CONTENT_TYPE_LATEST)

    def leave() -> None:
        nonlocal scrapes
        scrapes -= 1

    def readyz(_request: Request) -> Response:
        if collector.ready():
            return PlainTextResponse("ok")
        return PlainTextResponse(
            "no session with the broker, or no answer from the outbox", status_code=_UNAVAILABLE
        )

    def healthz(_request: Request) -> Response:
        if collector.healthy():
            return PlainTextResponse("ok")
        return PlainTextResponse(
            "the outbox has been out of order for longer than allowed", status_code=_UNAVAILABLE
        )

    routes = [Route("/readyz", readyz), Route("/healthz", healthz)]
    if metrics_enabled:
        routes.append(Route("/metrics", metrics))
    return Starlette(routes=routes)
