"""``tally-harness map``: what would the collector make of this?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from harness.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "--in",
        dest="path",
        metavar="FILE",
        type=Path,
        required=True,
        help="a stream file, bare envelopes one a line, or one envelope as a JSON document; "
        "also compressed by gzip or zstd",
    )
    parser.add_argument(
        "--cloud", metavar="NAME", required=True, help="the cloud the events are booked in"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print events as JSON lines on stdout and the counters as a table on stderr."""
    from harness.collector.survey import survey  # noqa: PLC0415 - see the package's docstring

    if not arguments.cloud:
        raise UsageError('--cloud: "" must name a cloud, such as os-sim')
    report = survey(_messages(arguments.path), arguments.cloud, sys.stdout.buffer)
    sys.stdout.flush()
    print(report, file=sys.stderr)
    return 0


def _messages(path: Path) -> Iterator[tuple[int, bytes]]:
    from harness.collector.survey import bodies  # noqa: PLC0415 - likewise
    from harness.recording.files import unpacked  # noqa: PLC0415 - likewise

    with unpacked(path) as file:
        yield from bodies(file)
