"""The root command: finds the subcommand, and turns exceptions into exit statuses."""

from __future__ import annotations

import argparse
import errno
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from harness.errors import HarnessError, UsageError
from harness.service.signals import Signals, Stopped

#: Subcommand to its one-line help; the module of the same name in this package holds
#: ``configure(parser)`` and ``run(arguments) -> int``.
COMMANDS = {
    "collector": "Run the reference collector",
    "compare": "Judge an exported month by its oracle",
    "drill": "Take simulated months through a stack to a verdict",
    "engine": "Meter, rate, correct and export with the reference engine",
    "map": "Show what the collector makes of notifications",
    "record": "Record a bus",
    "recordings": "List, verify and show recordings",
    "replay": "Publish a recording or a stream file",
    "reporting": "Serve or administer the reference Reporting API",
    "run": "Simulate a month: write its notifications, publish them, or both",
    "scrub": "Take private details out of a recording",
}

#: Those that a signal ends with status 0, also while they are still being imported.
_STOPPABLE = ("replay", "run")

_EPILOG = "exit status: 0 match or done, 1 differences or failure, 2 usage error, 130 interrupted"
#: Those whose ordinary end may be a signal.
_STOPPED = (*_STOPPABLE, "record")
_STOPPED_EPILOG = "exit status: 0 done, or stopped by SIGINT or SIGTERM; 1 failure, 2 usage error"


class _Version(argparse.Action):
    """Look the version up when somebody asks: a twentieth of a second, otherwise spent by all."""

    def __init__(self, **options: Any) -> None:
        super().__init__(nargs=0, **options)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib import metadata  # noqa: PLC0415 - see above

        print(parser.prog, metadata.version("tally-harness"))
        parser.exit()


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``tally-harness`` with `argv` (default: the process's) and return its exit status."""
    if argv is None:
        # The process is ours. Modules and months stay until its end, and looking for garbage after
        # every 700 new objects, the interpreter's own pace, is a tenth of a command's work.
        gc.set_threshold(50_000, 20, 20)
    arguments = list(sys.argv[1:] if argv is None else argv)
    called = next((word for word in arguments if not word.startswith("-")), None)
    if called not in _STOPPABLE:
        return _call(arguments, called)
    with Signals():
        try:
            return _call(arguments, called)
        except Stopped:
            return 0


def _call(arguments: Sequence[str], called: str | None) -> int:
    parser = argparse.ArgumentParser(
        prog="tally-harness",
        description="Simulate months of a cloud, and judge the pipeline that bills them.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=text,
            description=f"{text}.",
            epilog=_STOPPED_EPILOG if name in _STOPPED else _EPILOG,
            allow_abbrev=False,
        )
        if name == called:
            module = importlib.import_module(f"harness.cli.{name}")
            module.configure(command)
            command.set_defaults(run=module.run)
    return _carry_out(parser.parse_args(arguments))


def _carry_out(chosen: argparse.Namespace) -> int:
    try:
        status = int(chosen.run(chosen))
        _flush()
    except UsageError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    except HarnessError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except OSError as error:
        # What no room words better: a full disk under the report, a directory not to be written.
        print(f"Error: {error}", file=sys.stderr)
        if error.errno == errno.ENOSPC:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or the interpreter fails at its exit
        return 1
    else:
        return status


def _flush() -> None:
    """Have a full disk show here, not while the interpreter ends."""
    if sys.stdout is not None:  # closed by the caller
        sys.stdout.flush()
