"""``tally-harness drill``: months through a stack, a report on stdout, progress on stderr."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from harness.drill.options import MONTHS, STACK, Option
from harness.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of months and stacks, and what the command line has of its own."""
    for option in (*MONTHS, *STACK):
        _add(parser, option)
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="keep oracle.json, export/, counters.json and verdict.json of each month in "
        "DIR/seed-N (default: kept nowhere)",
    )
    parser.add_argument(
        "--chaos",
        metavar="A,B",
        default="",
        help="what to disturb while a month is published, such as kill-collector=5,reporting-500; "
        "a wrong name is answered with all there are (default: nothing)",
    )
    parser.add_argument(
        "--chaos-seed",
        metavar="N",
        default="",
        help="where disturbances strike (default: the seed of each month)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Drill month after month; return 0 when each came out as documented, else 1."""
    from harness.drill import prepare  # noqa: PLC0415 - heavy
    from harness.drill import run as drill  # noqa: PLC0415 - heavy
    from harness.drill.chaos import plan  # noqa: PLC0415 - heavy
    from harness.drill.grammar import last_period  # noqa: PLC0415 - heavy
    from harness.drill.progress import Display  # noqa: PLC0415 - heavy
    from harness.stack import Options, open_stack  # noqa: PLC0415 - heavy

    read = {option.name: _read(arguments, option) for option in (*MONTHS, *STACK)}
    if not read["seed"]:
        raise UsageError("--seed: must be set; write a number, a range 1..5 or a list 1,3,7")
    if read["stack"] == "external" and len(read["seed"]) > 1:
        raise UsageError(
            "--seed: the stack external takes one month per run, because the data of a foreign "
            "pipeline cannot be kept apart; name one seed"
        )
    options = Options.from_mapping(
        {option.stack: _text(arguments, option) for option in STACK if _text(arguments, option)}
    )
    struck = arguments.chaos_seed
    if struck and not (struck.isascii() and struck.isdigit()):
        raise UsageError(f'--chaos-seed: "{struck}" must be a whole number')
    if len(struck) > 20:
        raise UsageError("--chaos-seed: at most 20 digits")
    chaos = [plan(arguments.chaos, int(struck or seed)) for seed in read["seed"]]
    out = Path(arguments.out) if arguments.out else None
    passed = []
    with _terminated_like_interrupted(), Display(sys.stderr) as display:
        display.say(f"starting the stack {read['stack']}")
        with closing(open_stack(read["stack"], options)) as stack:
            why = f" ({stack.reason})" if stack.reason else ""
            display.say(f"{stack.kind}{why}: {stack.describe()}")
            for seed, disturbance in zip(read["seed"], chaos, strict=True):
                display.begin(f"seed {seed}")
                subject = prepare(
                    seed,
                    read["period"] or last_period(),
                    cloud=read["cloud"],
                    faults=read["faults"] or (),
                )
                verdict = drill(
                    subject,
                    stack,
                    out=out / f"seed-{seed}" if out else None,
                    watch=display.watch,
                    chaos=disturbance,
                )
                display.clear()
                passed.append(verdict.passed)
                print(*verdict.lines(), "", sep="\n", flush=True)
    print(f"{sum(passed)} of {len(passed)} months passed")
    return 0 if all(passed) else 1


def _add(parser: argparse.ArgumentParser, option: Option) -> None:
    text = f"{option.help} ({option.environment}; default: {option.default})".replace("%", "%%")
    settings: dict[str, Any] = {"dest": option.dest, "help": text, "default": ""}
    if option.metavar:
        parser.add_argument(f"--{option.name}", metavar=option.metavar, **settings)
    else:
        parser.add_argument(f"--{option.name}", action="store_const", const="true", **settings)


def _text(arguments: argparse.Namespace, option: Option) -> str:
    """Return what an option was given: on the command line, in the environment, or its default."""
    import os  # noqa: PLC0415 - one use

    stated: str = getattr(arguments, option.dest)
    return stated or os.environ.get(option.environment, "") or option.value


def _read(arguments: argparse.Namespace, option: Option) -> Any:
    text = _text(arguments, option)
    if not text or option.check is None:
        return text
    try:
        return option.check(text)
    except UsageError as error:
        where = f"--{option.name}" if getattr(arguments, option.dest) else option.environment
        raise UsageError(f"{where}: {error}") from error


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Take SIGTERM like Ctrl-C, so that it leaves nothing running either."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
