"""``tally-harness collector``: the reference collector as a service."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading

_VARIABLES = """
environment; NAME[_FILE] may stand in a file that NAME_FILE names:
  TALLY_OSC_AMQP_URL[_FILE]         broker, amqp://… (required)
  TALLY_OSC_CLOUD                   cloud of every event (required)
  TALLY_OSC_REPORTING_URL           Reporting API, https://… (required)
  TALLY_OSC_REPORTING_INSECURE      true allows http:// (default false)
  TALLY_OSC_TOKEN[_FILE]            ingest token (required)
  TALLY_OSC_BUFFER_PATH             file of the outbox (required)
  TALLY_OSC_COUNTERS_PATH           file that holds the counters even after a SIGKILL (default none)
  TALLY_OSC_EXCHANGES               topic exchanges (default nova,neutron,openstack,glance)
  TALLY_OSC_TOPICS                  routing keys (default notifications.info)
  TALLY_OSC_REQUIRE_EXCHANGES       true ends it where an exchange is missing (default false)
  TALLY_OSC_QUEUE_TYPE              quorum, or classic below RabbitMQ 4 (default quorum)
  TALLY_OSC_PREFETCH                messages taken unacknowledged (default 100)
  TALLY_OSC_BATCH_MAX               events in a post (default 500)
  TALLY_OSC_FLUSH_INTERVAL_S        seconds a smaller batch waits (default 5)
  TALLY_OSC_BUFFER_MAX_EVENTS       bound of the outbox (default 1000000)
  TALLY_OSC_UNHEALTHY_THRESHOLD_S   seconds of failing until /healthz says so (default 600)
  TALLY_OSC_SUMMARY_INTERVAL_S      seconds between two summary lines of the log (default 60)
  TALLY_OSC_HTTP_ADDR, _HTTP_PORT   where /metrics, /readyz and /healthz listen
                                    (default 127.0.0.1, 8080; port 0: the system chooses)
  TALLY_METRICS_ENABLED             false takes /metrics away (default true)
  TALLY_LOG_LEVEL                   DEBUG, INFO, WARN or ERROR (default INFO)

SIGTERM and SIGINT end it with status 0 once what it took is on disk.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.epilog = _VARIABLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
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
