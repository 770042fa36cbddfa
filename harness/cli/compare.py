"""``tally-harness compare``: an engine's export against the oracle of its month."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from harness.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags, all three required."""
    parser.add_argument(
        "--oracle", metavar="FILE", default="", help="oracle.json of the month (required)"
    )
    parser.add_argument(
        "--export", metavar="DIR", default="", help="directory that holds rated.csv (required)"
    )
    parser.add_argument(
        "--pricing",
        metavar="MODEL",
        default="",
        help="the pricing model the run rated with: a packaged version such as 2026-03, or a YAML "
        "file (required)",
    )


_NOT_JUDGED = (
    "not judged: amounts, currency, and counters such as egress_gb; a drill judges them, too"
)


def run(arguments: argparse.Namespace) -> int:
    """Print the report; return 0 when the export matches, else 1."""
    for flag in ("oracle", "export", "pricing"):
        if not getattr(arguments, flag):
            raise UsageError(f"--{flag}: must be set")
    from harness import pricing  # noqa: PLC0415 - loaded when called
    from harness.oracle import document  # noqa: PLC0415
    from harness.oracle.compare import compare  # noqa: PLC0415

    oracle = document.read(Path(arguments.oracle))
    model = pricing.read(arguments.pricing)
    comparison = compare(oracle, Path(arguments.export), model)
    *lines, verdict = comparison.lines()
    print(*lines, _NOT_JUDGED, verdict, sep="\n")
    if comparison.matches:
        return 0
    if sys.stdout is not None:  # closed by the caller
        sys.stdout.flush()
    print(f"Error: {len(comparison.differences)} resources differ from the oracle", file=sys.stderr)
    return 1
