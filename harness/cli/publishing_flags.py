"""Flags of commands that publish: the pace, the wait for a consumer, how far a broker may be."""

from __future__ import annotations

import argparse
import math

from harness.calendar import DurationError, parse_duration
from harness.errors import UsageError


def add(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    parser.add_argument(
        "--factor",
        metavar="N",
        default="744",
        help="virtual seconds in one of the wall; 0 is as fast as it goes (default: 744)",
    )
    parser.add_argument(
        "--wait-for-collector",
        dest="wait",
        metavar="DURATION",
        default="2m",
        help="how long to wait for a consumer, 0 not at all (default: 2m)",
    )
    parser.add_argument(
        "--allow-remote-broker",
        action="store_true",
        help="publish to a broker on another machine, which books real usage (default: off)",
    )


def read_factor(text: str) -> float:
    """Return the pace.

    Raises:
        UsageError: it is negative or no number.
    """
    try:
        factor = float(text)
    except ValueError:
        factor = math.nan
    if not (math.isfinite(factor) and factor >= 0):
        raise UsageError(f"--factor: {text} must be a number, zero or positive")
    return factor


def read_wait(text: str) -> float:
    """Return the seconds to wait.

    Raises:
        UsageError: they are negative or no duration.
    """
    try:
        wait = parse_duration(text)
    except DurationError as error:
        raise UsageError(f"--wait-for-collector: {error}") from error
    if wait < 0:
        raise UsageError(f"--wait-for-collector: {text} must be zero or positive")
    return wait


def refuse_elsewhere(url: str, *, allowed: bool) -> None:
    """Refuse a broker on another machine, unless that is allowed; never shows the URL.

    Raises:
        UsageError: it is elsewhere, or no AMQP URL.
    """
    from harness.broker.address import is_local, parameters  # noqa: PLC0415 - brings pika

    try:
        local = is_local(url)
    except UsageError as error:
        raise UsageError(f"TALLY_SIM_AMQP_URL: {error}") from error
    if not local and not allowed:
        raise UsageError(
            f"TALLY_SIM_AMQP_URL names a broker on {parameters(url).host}, which is not this "
            "machine: a collector there books what is published as real usage, for good; pass "
            "--allow-remote-broker when it is one to simulate against"
        )
