"""``tally-harness replay``: publish a recording or a stream file at the pace of a virtual clock."""

from __future__ import annotations

import argparse
import logging
import os
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from harness.broker.address import wait_for_consumer
from harness.broker.clock import VirtualClock
from harness.broker.publisher import AmqpPublisher
from harness.calendar import Period, PeriodError
from harness.cli import publishing_flags
from harness.cli.publishing_flags import read_factor, read_wait, refuse_elsewhere
from harness.cloud.app import control_app
from harness.cloud.publication import Publication
from harness.drill.shifting import shift_oracle
from harness.errors import UsageError
from harness.oracle import document
from harness.oslo import Notification
from harness.oslo.envelope import rfc3339
from harness.recording.instants import NANO
from harness.recording.pace import Pace
from harness.recording.progress import Progress
from harness.recording.recording import ORACLE
from harness.recording.shift import FreshIds, Shift
from harness.recording.source import Source, load
from harness.recording.survey import Survey
from harness.service import log
from harness.service.environment import Environment
from harness.service.listener import Listener
from harness.service.signals import Signals, Stopped

_log = logging.getLogger(__name__)
_Step = Callable[[Iterable[Notification]], Iterator[Notification]]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.epilog = (
        "environment: TALLY_SIM_AMQP_URL (or _FILE), TALLY_SIM_HTTP_ADDR, TALLY_SIM_HTTP_PORT, "
        f"TALLY_LOG_LEVEL; {parser.epilog}"
    )
    parser.add_argument(
        "--in",
        dest="path",
        metavar="RECORDING|FILE",
        type=Path,
        required=True,
        help="a recording's directory, or a stream file (.jsonl, .jsonl.gz, .jsonl.zst)",
    )
    publishing_flags.add(parser)
    parser.add_argument(
        "--shift-to",
        metavar="YYYY-MM",
        help="move every instant into another month (default: as recorded)",
    )
    parser.add_argument(
        "--drop-outside",
        action="store_true",
        help="with --shift-to: leave out what a shorter month has no day for (default: refuse it)",
    )
    parser.add_argument(
        "--oracle-out",
        metavar="FILE",
        type=Path,
        help="with --shift-to: where the shifted oracle of a recording that has one is written",
    )
    parser.add_argument(
        "--fresh-ids",
        action="store_true",
        help="give every message another id, so that it is no duplicate (default: off)",
    )


@dataclass(frozen=True, slots=True)
class Options:
    """What a call asks for, once it is checked.

    Attributes:
        url: of the broker; never shown.
        factor: pace of the clock.
        wait: seconds to wait for a consumer.
        shift_to: month to move to; None for as recorded.
        address: where the control endpoint listens.
        port: likewise; 0 lets the system choose.
        level: of the log.
    """

    url: str = field(repr=False)
    factor: float
    wait: float
    shift_to: Period | None
    address: str
    port: int
    level: str


def run(arguments: argparse.Namespace) -> int:
    """Read and check all of it, then publish; a signal ends it cleanly, with status 0."""
    options = _read_options(arguments)
    log.configure("replay", options.level)
    with Signals() as signals:
        try:
            return _replay(arguments, options, signals)
        except Stopped:
            _log.info("stopped", extra={"fields": {"published": 0}})
            return 0


def _replay(arguments: argparse.Namespace, options: Options, signals: Signals) -> int:
    with ExitStack() as stack:
        # Dialled first: a broker that is not there is told at once, not after reading a month.
        publisher = stack.enter_context(AmqpPublisher(options.url, ()))
        source = load(arguments.path)
        steps = _steps(arguments, options, source)
        survey = _survey(source, steps)
        span = (survey.opening or 0) // NANO, (survey.closing or 0) // NANO
        publisher.declare(source.exchanges)
        _log.info("starting", extra={"fields": _starting(arguments, options, survey)})
        wait_for_consumer(options.url, options.wait)
        clock = VirtualClock(span[0], options.factor)
        signals.gently(clock.interrupt)
        publication = Publication(survey.notifications, 0)
        app = control_app(clock, publication, span)
        listener = stack.enter_context(Listener(app, options.address, options.port))
        _log.info("listening", extra={"fields": {"port": listener.port}})
        progress = stack.enter_context(Progress("published", survey.notifications))
        pace = Pace(clock)

        def confirmed(count: int) -> None:
            publication.confirm(count)
            progress.show(count)

        publisher.publish(pace(_through(steps, source)), confirmed=confirmed)
        fields = {
            "published": publication.published,
            "total": publication.total,
            "lag_seconds": round(pace.lag, 3),
        }
        _log.info("stopped" if pace.interrupted else "completed", extra={"fields": fields})
    return 0


def _through(steps: Sequence[_Step], source: Source) -> Iterator[Notification]:
    stream = source.read()
    for step in steps:
        stream = step(stream)
    return stream


def _survey(source: Source, steps: Sequence[_Step]) -> Survey:
    """Count what will be published, so that whatever is refused is refused before that."""
    if not steps:
        return source.survey
    survey = Survey()
    for notification in _through(steps, source):
        survey.add(notification)
    return survey


def _steps(arguments: argparse.Namespace, options: Options, source: Source) -> Sequence[_Step]:
    """Return what happens to the stream on its way."""
    steps: list[_Step] = []
    if options.shift_to is not None:
        month = source.survey.month
        if month is None:
            raise UsageError(f"--shift-to: {arguments.path} carries no instant to move")
        _shift_oracle(arguments, options.shift_to, source)
        drop = arguments.drop_outside
        steps.append(Shift(Period.parse(month), options.shift_to, drop_outside=drop))
    if arguments.fresh_ids:
        steps.append(FreshIds(secrets.token_bytes(32)))
    return steps


def _shift_oracle(arguments: argparse.Namespace, target: Period, source: Source) -> None:
    """Write the oracle of the shifted month; a recording that has one is not shifted without."""
    if source.recording is None or source.recording.oracle is None:
        return
    if arguments.oracle_out is None:
        raise UsageError(
            f"--shift-to: {arguments.path} has an oracle, which has to move along; "
            "say where to with --oracle-out FILE"
        )
    with tempfile.TemporaryDirectory(prefix="tally-replay-") as scratch:
        extracted = source.recording.extract(ORACLE, Path(scratch))
        oracle = shift_oracle(document.read(extracted or Path()), target)
    document.write(oracle, arguments.oracle_out)


def _starting(arguments: argparse.Namespace, options: Options, survey: Survey) -> dict[str, object]:
    return {
        "in": str(arguments.path),
        "factor": options.factor,
        "transitions": survey.notifications,
        "from": rfc3339(survey.opening or 0),
        "to": rfc3339(survey.closing or 0),
    }


def _read_options(arguments: argparse.Namespace) -> Options:
    environment = Environment(os.environ)
    level = environment.choice("TALLY_LOG_LEVEL", "INFO", log.LEVELS)
    url = environment.secret("TALLY_SIM_AMQP_URL")
    if not url:
        raise UsageError(
            "TALLY_SIM_AMQP_URL is not set: name the broker to replay to, as amqp://localhost"
        )
    options = Options(
        url=url,
        factor=read_factor(arguments.factor),
        wait=read_wait(arguments.wait),
        shift_to=_period(arguments.shift_to),
        address=environment.text("TALLY_SIM_HTTP_ADDR", "127.0.0.1"),
        port=environment.integer("TALLY_SIM_HTTP_PORT", 8080, least=0, most=65535),
        level=level,
    )
    if options.shift_to is None and (arguments.drop_outside or arguments.oracle_out):
        raise UsageError("--drop-outside and --oracle-out go with --shift-to YYYY-MM")
    refuse_elsewhere(url, allowed=arguments.allow_remote_broker)
    return options


def _period(text: str | None) -> Period | None:
    try:
        return None if text is None else Period.parse(text)
    except PeriodError as error:
        raise UsageError(f"--shift-to: {error}") from error
