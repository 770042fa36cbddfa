"""``tally-harness recordings``: list, verify, show and pack recordings."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harness.cli.record import add_compression
from harness.errors import HarnessError, UsageError
from harness.recording.progress import Progress
from harness.recording.recording import EVENTS, ORACLE, Recording
from harness.recording.source import load
from harness.recording.writer import RecordingWriter

_DIRECTORY = Path("recordings")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = commands.add_parser("list", help="list the recordings of a directory")
    listing.add_argument(
        "directory",
        metavar="DIR",
        type=Path,
        nargs="?",
        default=_DIRECTORY,
        help="default: recordings",
    )
    verify = commands.add_parser(
        "verify", help="read recordings to the end against their manifests"
    )
    verify.add_argument("recordings", metavar="RECORDING", type=Path, nargs="+", help="a directory")
    show = commands.add_parser("show", help="show what a recording holds")
    show.add_argument("recording", metavar="RECORDING", type=Path, help="its directory")
    pack = commands.add_parser("pack", help="make a recording of a stream file and its oracle")
    pack.add_argument(
        "--in", dest="path", metavar="FILE", type=Path, required=True, help="stream file"
    )
    pack.add_argument(
        "--out", metavar="DIR", type=Path, required=True, help="the recording to make"
    )
    pack.add_argument("--oracle", metavar="FILE", type=Path, help="its oracle (default: none)")
    pack.add_argument("--events", metavar="FILE", type=Path, help="its events (default: none)")
    pack.add_argument(
        "--cloud", metavar="NAME", default="os-sim", help="cloud it is replayed as, default: os-sim"
    )
    add_compression(pack, level=19)


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked; `verify` exits 1 when one of the recordings is not whole."""
    if arguments.action == "list":
        return _list(arguments.directory)
    if arguments.action == "verify":
        return _verify(arguments.recordings)
    if arguments.action == "show":
        return _show(arguments.recording)
    return _pack(arguments)


def _list(directory: Path) -> int:
    found = list(_recordings(directory))
    if not found:
        state = "holds no recordings" if directory.exists() else "does not exist"
        raise UsageError(f"{directory} {state}; name a directory that holds recordings")
    table = Table("recording", "messages", "types", "from", "to", "size", "scrubbed", "oracle")
    failed = 0
    for path in found:
        try:
            recording = Recording.open(path)
        except HarnessError as error:
            failed = 1
            table.add_row(path.name, f"[red]{escape(str(error))}[/]")
            continue
        manifest = recording.manifest
        table.add_row(
            path.name,
            str(manifest.notifications),
            str(len(manifest.types)),
            manifest.first or "-",
            manifest.last or "-",
            _size(recording),
            manifest.scrub.mode if manifest.scrub else "no",
            "yes" if recording.oracle else "no",
        )
    _print(table)
    return failed


def _verify(paths: list[Path]) -> int:
    failed = 0
    for path in paths:
        try:
            recording = Recording.open(path)
            with Progress("read", recording.manifest.notifications) as progress:
                recording.check(progress.show)
        except HarnessError as error:
            failed = 1
            print(f"Error: {error}", file=sys.stderr)
        else:
            print(f"{path}: whole, {recording.manifest.notifications} messages")
    return failed


def _show(path: Path) -> int:
    recording = Recording.open(path)
    manifest = recording.manifest
    head = Table(show_header=False, box=None)
    for name, value in (
        ("recording", recording.name),
        ("written by", manifest.tool),
        ("cloud", manifest.cloud),
        ("ended", manifest.ended),
        ("span", f"{manifest.first or '-'} to {manifest.last or '-'}"),
        ("size", _size(recording)),
        ("exchanges", ", ".join(manifest.exchanges)),
        ("routing keys", ", ".join(manifest.routing_keys)),
        ("scrubbed", f"{manifest.scrub.mode}: {', '.join(manifest.scrub.rules)}")
        if manifest.scrub
        else ("scrubbed", "no"),
        ("files", ", ".join(manifest.files)),
    ):
        head.add_row(name, escape(value))
    types = Table("type", "messages")
    ranked = sorted(manifest.types.items(), key=lambda item: (-item[1], item[0]))
    for name, count in ranked:
        types.add_row(escape(name or "(no type)"), str(count))
    if manifest.unparseable:
        types.add_row("(unparseable)", str(manifest.unparseable))
    types.add_row("total", str(manifest.notifications))
    _print(head)
    _print(types)
    return 0


def _pack(arguments: argparse.Namespace) -> int:
    source = load(arguments.path)
    writer = RecordingWriter(
        arguments.out, compression=arguments.compression, level=arguments.level
    )
    try:
        for notification in source.read():
            writer.add(notification)
        for name, path in ((ORACLE, arguments.oracle), (EVENTS, arguments.events)):
            if path is not None:
                writer.attach(name, path)
    except BaseException:  # an interrupt, too, leaves no half of a recording behind
        writer.discard()
        raise
    recording = writer.finish(cloud=arguments.cloud)
    print(f"{arguments.out}: {recording.manifest.notifications} messages, {_size(recording)}")
    return 0


def _recordings(directory: Path) -> Iterator[Path]:
    if not directory.is_dir():
        return
    for path in sorted(directory.iterdir()):
        if (path / "manifest.json").exists():
            yield path


def _size(recording: Recording) -> str:
    amount = sum(stored.bytes for stored in recording.manifest.files.values())
    return f"{amount / 1024:.0f} KiB" if amount < 1 << 20 else f"{amount / (1 << 20):.1f} MiB"


def _print(table: object) -> None:

    # Off a terminal nothing is cut or wrapped: the lines go to files and other programs.
    console = Console()
    if not console.is_terminal:
        console = Console(width=max(200, shutil.get_terminal_size().columns), soft_wrap=True)
    console.print(table)
