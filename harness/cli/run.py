"""``tally-harness run``: generate a month and write it as files.

Everything a call can get wrong is looked at before anything is generated or touched.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from harness.calendar import DurationError, Period, PeriodError, parse_duration, rfc3339
from harness.errors import UsageError
from harness.month import FAULTS, Kind, Month, check_cloud, check_faults, check_seed, generate
from harness.month.inputs import MOST_SEED
from harness.oracle import fold
from harness.oracle.model import Oracle
from harness.oracle.traffic import check_interval, count_samples
from harness.service import log
from harness.service.environment import Environment

_CLOUD = "os-sim"
_Value = TypeVar("_Value")
_log = logging.getLogger(__name__)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
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
        help=f"name of the simulated cloud (default: TALLY_SIM_CLOUD, then {_CLOUD})",
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


@dataclass(frozen=True, slots=True)
class Options:
    """What a call asks for, once it is checked.

    Attributes:
        log_level: one of the four.
        cloud: name of the cloud.
        period: a month that is over.
        seed: 0 to 2**64 - 1.
        metrics_interval: whole seconds.
        faults: switches, in canonical order.
        out: directory of the files.
    """

    log_level: str
    cloud: str
    period: Period
    seed: int
    metrics_interval: int
    faults: tuple[str, ...]
    out: Path


def read_options(arguments: argparse.Namespace, variables: Mapping[str, str]) -> Options:
    """Check environment and flags, in a fixed order.

    Raises:
        UsageError: names the flag or variable, the value, and the accepted form.
    """
    environment = Environment(variables)
    return Options(
        log_level=environment.choice("TALLY_LOG_LEVEL", "INFO", log.LEVELS),
        cloud=_read_cloud(arguments.cloud, environment),
        period=_read_period(arguments.period),
        seed=_named("--seed", _read_seed, arguments.seed),
        metrics_interval=_read_interval(arguments.metrics_interval),
        faults=_named("--faults", _read_faults, arguments.faults),
        out=_read_out(arguments.out),
    )


def run(arguments: argparse.Namespace) -> int:
    """Generate the month, fold its oracle, write its files."""
    options = read_options(arguments, os.environ)
    log.configure("run", options.log_level)
    with _interruptible():
        with _uncollected():
            month = generate(options.seed, options.period, options.cloud, options.faults)
            oracle = fold.fold(month, options.metrics_interval)
        _log_start(options, month, oracle)
        _write(options.out, month, oracle)
        total = len(month.stream) + len(month.held)
        _log.info("completed", extra={"fields": {"published": 0, "total": total, "pushed": 0}})
    return 0


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector from looking at what the block makes, now and later.

    A month is a million objects with hardly a cycle among them, and all of them stay: looking
    for garbage there again and again takes a third of the time.
    """
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


def _write(out: Path, month: Month, oracle: Oracle) -> None:
    from harness.drill.files import write_month  # noqa: PLC0415 - only a run that writes maps

    write_month(out, month, oracle)


def _log_start(options: Options, month: Month, oracle: Oracle) -> None:
    billable = sum(transition.kind is Kind.BOOKED for transition in month.schedule)
    fields = {
        "seed": month.seed,
        "period": str(month.period),
        "cloud": month.cloud,
        "faults": list(month.faults),
        "transitions": len(month.schedule),
        "billable": billable,
        "stream": len(month.stream),
        "held": len(month.held),
        "resources": len(oracle.resources),
        "metrics_interval": f"{options.metrics_interval}s",
        "traffic_samples": count_samples(oracle, options.metrics_interval),
        "out": str(options.out),
    }
    _log.info("starting", extra={"fields": fields})


@contextmanager
def _interruptible() -> Iterator[None]:
    """End the block quietly, what it wrote so far cleaned up, at SIGINT or SIGTERM."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        _log.info("stopped")
    finally:
        signal.signal(signal.SIGTERM, before)


def _named(flag: str, read: Callable[[str], _Value], text: str) -> _Value:
    """Read the value of a flag; what is wrong with it is said behind the flag's name."""
    try:
        return read(text)
    except UsageError as error:
        raise UsageError(f"{flag}: {error}") from error


def _read_cloud(flag: str | None, environment: Environment) -> str:
    if flag is not None:
        return _named("--cloud", check_cloud, flag)
    return _named("TALLY_SIM_CLOUD", check_cloud, environment.text("TALLY_SIM_CLOUD", _CLOUD))


def _read_period(text: str) -> Period:
    try:
        period = Period.parse(text)
    except PeriodError as error:
        raise UsageError(f"--period: {error}") from error
    if not period.has_ended():
        raise UsageError(
            f"--period: {period} runs until {rfc3339(period.end)}, and only a month that is over "
            f"can be billed; the last one is {Period.last_ended()}"
        )
    return period


def _read_seed(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,20}", text):
        raise UsageError(f'"{text[:40]}" must be a whole number from 0 to {MOST_SEED}')
    return check_seed(int(text))


def _read_interval(text: str) -> int:
    try:
        return check_interval(parse_duration(text))
    except DurationError as error:
        raise UsageError(f"--metrics-interval: {error}") from error


def _read_faults(text: str) -> tuple[str, ...]:
    return check_faults(text.split(",") if text else ())


def _read_out(out: Path | None) -> Path:
    if out is None:
        raise UsageError("pass --out DIR: the run has nowhere to write the month to")
    return out
