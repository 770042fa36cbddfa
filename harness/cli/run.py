"""``tally-harness run``: generate a month, write it as files, publish it.

Everything a call can get wrong is looked at before anything is generated or touched.
"""

from __future__ import annotations

import argparse
import logging
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from harness.cli import publishing_flags
from harness.cli.run_options import CLOUD, Options, read_options
from harness.month import FAULTS, Kind, Month, generate
from harness.oracle.fold import fold
from harness.oracle.model import Oracle
from harness.oracle.traffic import count_samples
from harness.service import log
from harness.service.signals import Signals, Stopped

_log = logging.getLogger(__name__)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.epilog = (
        "environment: TALLY_SIM_AMQP_URL (publish, beside or instead of --out), TALLY_SIM_CLOUD, "
        "TALLY_SIM_HTTP_ADDR, TALLY_SIM_HTTP_PORT, TALLY_METRICS_ENABLED; TALLY_SIM_OTLP_URL, "
        "_USER, _PASSWORD, _INSECURE (push metrics); TALLY_SIM_REPORTING_URL, "
        "TALLY_SIM_REPORTING_INSECURE, TALLY_SIM_API_TOKEN, TALLY_SIM_GARDEN_CLOUD (register); "
        f"TALLY_LOG_LEVEL; secrets also as NAME_FILE. {parser.epilog}"
    )
    parser.add_argument(
        "--period", metavar="YYYY-MM", required=True, help="the month; it has to be over"
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        default="1",
        help="shape of the month, 0 to 2^64-1 (default: 1)",
    )
    parser.add_argument(
        "--cloud",
        metavar="NAME",
        help=f"name of the simulated cloud (default: TALLY_SIM_CLOUD, then {CLOUD})",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        help="write notifications.jsonl, events.jsonl, oracle.json and, when something is held "
        "back, held-back.jsonl there, after removing what is left of an earlier run",
    )
    parser.add_argument(
        "--faults",
        metavar="NAME[,NAME...]",
        default="",
        help=f"fault switches to turn on: {', '.join(FAULTS)} (default: none)",
    )
    parser.add_argument(
        "--metrics-interval",
        metavar="DURATION",
        default="300s",
        help="grid of the traffic, whole seconds from 30s to 24h (default: 300s)",
    )
    publishing_flags.add(parser)
    parser.add_argument(
        "--register-projects",
        dest="register",
        nargs="?",
        const="true",
        default="false",
        choices=("true", "false"),
        help="register the month's projects at TALLY_SIM_REPORTING_URL first (default: false)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Do what the call asks for; a signal ends it cleanly, with status 0."""
    with Signals() as signals:
        try:
            options = read_options(arguments, os.environ)
            log.configure("run", options.log_level)
            with ExitStack() as stack:
                return _run(options, signals, stack)
        except Stopped:
            _log.info("stopped", extra={"fields": {"published": 0, "pushed": 0}})
            return 0


def _run(options: Options, signals: Signals, stack: ExitStack) -> int:
    publisher: Any = None
    if options.publishing is not None:
        from harness.broker.publisher import AmqpPublisher  # noqa: PLC0415 - not for files

        # Dialled first: a broker that is not there is told at once, not after a month was made.
        publisher = stack.enter_context(AmqpPublisher(options.publishing.url))
    month = generate(options.seed, options.period, options.cloud, options.faults)
    oracle = fold(month, options.metrics_interval)
    _log.info("starting", extra={"fields": _starting(options, month, oracle)})
    if options.registry is not None:
        from harness.cloud.registration import Registration  # noqa: PLC0415 - where it is asked for

        Registration(options.registry, month).run()
    if options.out is not None:
        from harness.drill.files import write_month  # noqa: PLC0415 - only a run that writes maps

        write_month(options.out, month, oracle)
    if options.publishing is None:
        total = len(month.stream) + len(month.held)
        _log.info("completed", extra={"fields": {"published": 0, "total": total, "pushed": 0}})
        return 0
    from harness.cli.run_publishing import publish  # noqa: PLC0415 - not for files

    return publish(
        options.publishing,
        month,
        oracle,
        metrics_interval=options.metrics_interval,
        publisher=publisher,
        signals=signals,
    )


def _starting(options: Options, month: Month, oracle: Oracle) -> dict[str, object]:
    return {
        "seed": month.seed,
        "period": str(month.period),
        "cloud": month.cloud,
        "factor": options.factor,
        "faults": list(month.faults),
        "register": options.registry is not None,
        "transitions": len(month.schedule),
        "billable": sum(transition.kind is Kind.BOOKED for transition in month.schedule),
        "stream": len(month.stream),
        "held": len(month.held),
        "resources": len(oracle.resources),
        "metrics_interval": f"{options.metrics_interval}s",
        "traffic_samples": count_samples(oracle, options.metrics_interval),
        "otlp": bool(options.publishing and options.publishing.target),
        "broker": options.publishing is not None,
        "out": str(options.out or ""),
    }
