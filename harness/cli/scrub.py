"""``tally-harness scrub``: make a recording that can be handed on."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from pathlib import Path

from harness.cli.record import add_compression
from harness.errors import UsageError
from harness.recording.progress import Progress
from harness.recording.recording import Recording
from harness.recording.scrub import Pseudonyms, findings, scrub
from harness.recording.scrub.check import Finding
from harness.recording.writer import RecordingWriter
from harness.service.environment import Environment, read_secret

#: Places shown at most.
_SHOWN = 40


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "--in", dest="path", metavar="RECORDING", type=Path, required=True, help="what to scrub"
    )
    parser.add_argument("--out", metavar="DIR", type=Path, help="directory of the new recording")
    parser.add_argument(
        "--key-file",
        metavar="FILE",
        type=Path,
        help="file with the key, 16 bytes or more; else TALLY_SCRUB_KEY or TALLY_SCRUB_KEY_FILE. "
        "Keep it apart: one key gives one pseudonym for one text",
    )
    parser.add_argument(
        "--allow-list",
        action="store_true",
        help="keep only the members that billing reads (default: all that can be scrubbed)",
    )
    parser.add_argument(
        "--cloud",
        metavar="NAME",
        default="",
        help="cloud the scrubbed recording is replayed as (default: a pseudonym)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit 1 when something in --in looks private",
    )
    add_compression(parser, level=19)


def run(arguments: argparse.Namespace) -> int:
    """Scrub, or check."""
    recording = Recording.open(arguments.path)
    if arguments.check:
        return _check(recording)
    if arguments.out is None:
        raise UsageError("name the new recording with --out DIR, or look into it with --check")
    pseudonyms = Pseudonyms(_key(arguments.key_file))
    writer = RecordingWriter(
        arguments.out, compression=arguments.compression, level=arguments.level
    )
    try:
        with Progress("scrubbed", recording.manifest.notifications) as progress:
            scrubbed = scrub(
                recording,
                writer,
                pseudonyms,
                allow_list=arguments.allow_list,
                cloud=arguments.cloud,
                watch=progress.show,
            )
    except BaseException:  # an interrupt, too, leaves no half of a recording behind
        writer.discard()
        raise
    print(f"{arguments.out}: {scrubbed.manifest.notifications} messages, scrubbed")
    return _check(scrubbed)


def _check(recording: Recording) -> int:
    recording.check()
    found: Counter[Finding] = Counter()
    first: dict[Finding, int] = {}
    for line, finding in findings(recording):
        found[finding] += 1
        first.setdefault(finding, line)
    for finding, count in sorted(found.items(), key=lambda item: item[0].path)[:_SHOWN]:
        where = f", first in line {first[finding]}" if first[finding] else ""
        print(f"{finding.path}: {finding.what}, {count} times{where}")
    if len(found) > _SHOWN:
        print(f"and {len(found) - _SHOWN} other places")
    if not found:
        print(f"{recording.path}: nothing in it looks private")
    return 1 if found else 0


def _key(path: Path | None) -> bytes:
    if path is not None:
        return read_secret("--key-file", path).encode()
    key = Environment(os.environ).secret("TALLY_SCRUB_KEY")
    if not key:
        raise UsageError(
            "name a key with --key-file FILE or TALLY_SCRUB_KEY_FILE; "
            "`openssl rand -hex 32 > FILE` makes one"
        )
    return key.encode()
