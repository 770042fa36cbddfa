"""``tally-harness collector``: the reference collector as a service."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "--dump",
        action="store_true",
        help="print what is on the bus as JSON lines, secrets redacted, and book nothing; "
        "needs TALLY_OSC_AMQP_URL alone",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT; 1 when it ended for any other reason."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return _dump(stop) if arguments.dump else _serve(stop)


def _serve(stop: threading.Event) -> int:
    from harness.broker.address import parameters  # noqa: PLC0415 - see the package's docstring
    from harness.broker.subscription import AmqpSubscription  # noqa: PLC0415
    from harness.collector.endpoints import create_app  # noqa: PLC0415
    from harness.collector.service import Collector  # noqa: PLC0415
    from harness.collector.settings import Settings, Source, Surface  # noqa: PLC0415
    from harness.service.environment import Environment  # noqa: PLC0415
    from harness.service.listener import Listener  # noqa: PLC0415
    from harness.service.log import configure as configure_log  # noqa: PLC0415

    environment = Environment(os.environ)
    surface = Surface.from_environment(environment)
    source = Source.from_environment(environment)
    settings = Settings.from_environment(environment)
    parameters(source.amqp_url)
    configure_log("collector", surface.log_level)
    log = logging.getLogger(__name__)

    def subscribe() -> AmqpSubscription:
        return AmqpSubscription(
            source.amqp_url,
            exchanges=source.exchanges,
            topics=source.topics,
            queue_type=source.queue_type,
            prefetch=source.prefetch,
            require_exchanges=source.require_exchanges,
        )

    collector = Collector(settings, subscribe)
    try:
        app = create_app(collector, metrics_enabled=surface.metrics_enabled)
        with Listener(app, surface.address, surface.port) as listener:
            log.info("listening", extra={"fields": {"port": listener.port}})
            collector.start()
            while not stop.wait(0.2) and not collector.ended.is_set():
                pass
    finally:
        collector.stop()
    if not stop.is_set():
        log.error("a part of the collector ended on its own")
        return 1
    log.info("stopped")
    return 0


def _dump(stop: threading.Event) -> int:
    from harness.collector.dump import dump  # noqa: PLC0415
    from harness.collector.settings import Source  # noqa: PLC0415
    from harness.service.environment import Environment  # noqa: PLC0415

    dump(Source.from_environment(Environment(os.environ)), sys.stdout, stop)
    return 0
