"""``tally-harness record``: keep what a bus carries."""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
from pathlib import Path

from harness.calendar import DurationError, parse_duration
from harness.errors import UsageError
from harness.recording import files
from harness.recording.progress import Progress
from harness.recording.record import TOPICS, Limits, Recorder
from harness.recording.recording import ORACLE
from harness.recording.writer import RecordingWriter
from harness.service.environment import Environment

_COMPRESSIONS = ("zstd", "gzip", "none")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "--amqp-url",
        metavar="URL",
        help="broker to record; better TALLY_AMQP_URL or TALLY_AMQP_URL_FILE, which no list of "
        "processes shows",
    )
    parser.add_argument(
        "--out", metavar="DIR", type=Path, required=True, help="directory of the new recording"
    )
    parser.add_argument(
        "--exchange",
        dest="exchanges",
        metavar="NAME",
        action="append",
        default=[],
        help="exchange to record, repeatable; it has to exist (default: the usual ones that do)",
    )
    parser.add_argument(
        "--topic",
        dest="topics",
        metavar="KEY",
        action="append",
        default=[],
        help="routing key to bind, repeatable, * and # allowed (default: notifications.info)",
    )
    parser.add_argument(
        "--cloud",
        metavar="NAME",
        default="os-sim",
        help="cloud the recording is replayed as (default: os-sim)",
    )
    parser.add_argument(
        "--limit", metavar="N", help="end after so many messages (default: no limit)"
    )
    parser.add_argument(
        "--for", dest="time", metavar="DURATION", help="end after a time, as in 24h (default: none)"
    )
    parser.add_argument(
        "--idle", metavar="DURATION", help="end when nothing arrived for a time (default: never)"
    )
    parser.add_argument(
        "--oracle",
        metavar="FILE",
        type=Path,
        help="put the oracle of the month that is published into the recording",
    )
    add_compression(parser, level=3)


def add_compression(parser: argparse.ArgumentParser, level: int) -> None:
    """Declare how the files of a new recording are compressed."""
    parser.add_argument(
        "--compression",
        choices=_COMPRESSIONS,
        default="zstd",
        help="of the recording's files (default: zstd)",
    )
    parser.add_argument(
        "--level",
        metavar="N",
        type=int,
        choices=range(1, 23),
        default=level,
        help=f"how hard zstd tries, 1 to 22 (default: {level})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Record until a limit is reached, the bus is idle, or a signal arrives."""
    url = arguments.amqp_url or Environment(os.environ).secret("TALLY_AMQP_URL")
    if not url:
        raise UsageError("name the broker to record with --amqp-url or TALLY_AMQP_URL")
    limits = _limits(arguments)
    # Read now: a file that is torn or gone must not be found out once the bus was recorded.
    oracle = None if arguments.oracle is None else files.document(arguments.oracle)
    stopped: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda signum, _frame: stopped.append(signum))
    recorder = Recorder(
        url, exchanges=arguments.exchanges, topics=tuple(arguments.topics) or TOPICS
    )
    try:
        writer = RecordingWriter(
            arguments.out, compression=arguments.compression, level=arguments.level
        )
        print(
            f"recording {', '.join(recorder.exchanges)} into {arguments.out}; Ctrl-C ends it",
            file=sys.stderr,
            flush=True,
        )
        with Progress("recorded", limits.messages) as progress:
            ended = recorder.record(
                writer,
                limits,
                stopped=lambda: bool(stopped),
                watch=lambda: progress.show(writer.survey.notifications),
            )
    finally:
        recorder.close()
    if oracle is not None:
        writer.attach(ORACLE, oracle)
    recording = writer.finish(cloud=arguments.cloud, ended=ended)
    print(
        f"{arguments.out}: {recording.manifest.notifications} messages of "
        f"{len(recording.manifest.types)} types, ended: {ended}"
    )
    return 1 if ended.startswith("connection lost") else 0


def _limits(arguments: argparse.Namespace) -> Limits:
    def seconds(flag: str, text: str | None) -> float | None:
        if text is None:
            return None
        try:
            value = parse_duration(text)
        except DurationError as error:
            raise UsageError(f"{flag}: {error}") from error
        if not (value > 0 and math.isfinite(value)):
            raise UsageError(f"{flag}: {text} must be positive")
        return value

    messages = arguments.limit
    if messages is not None and not (
        messages.isascii() and messages.isdigit() and int(messages) > 0
    ):
        raise UsageError(f'--limit: "{messages}" must be a whole number, 1 or more')
    return Limits(
        None if messages is None else int(messages),
        seconds("--for", arguments.time),
        seconds("--idle", arguments.idle),
    )
