"""The plugin's options as one table: flags, ini keys, environment names and help derive from it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness.drill.options import MONTHS, STACK, Option

if TYPE_CHECKING:
    import pytest


#: Every option of the plugin, in the order of help and README.
def _factor(text: str) -> object:
    from pytest_tally.recordings import factor

    return factor(text)


TABLE: tuple[Option, ...] = (
    *MONTHS,
    Option(
        "recording",
        "PATH",
        "recording to replay, or a directory of them; may be given more than once",
        "none, nothing is replayed",
        repeatable=True,
    ),
    Option(
        "factor",
        "N",
        "virtual seconds in one of the wall while a recording is replayed",
        "0, as fast as it goes",
        _factor,
        value="0",
    ),
    Option(
        "artifacts",
        "DIR",
        "keep oracle, export, counters and verdict of each month here",
        "kept nowhere",
    ),
    *STACK,
)


def add(parser: pytest.Parser) -> None:
    """Register the group of options and their ini keys."""
    group = parser.getgroup("tally", "tally: drill months of an OpenStack cloud")
    for option in TABLE:
        text = f"{option.help} (default: {option.default})"
        settings: dict[str, Any] = {"dest": option.dest, "default": None, "help": text}
        if option.metavar:
            settings |= {"metavar": option.metavar, "type": _checked(option)}
            if option.repeatable:
                settings["action"] = "append"
        else:
            settings |= {"action": "store_const", "const": "true"}
        group.addoption(option.flag, **settings)
        parser.addini(option.dest, text, type="string", default="")


def given(config: pytest.Config, option: Option) -> tuple[str, str]:
    """Return the text an option was given and where, both empty when it was not.

    Command line before environment before ini; where is the flag, the variable or the ini key.
    """
    stated = config.getoption(option.dest, None)
    if stated:
        return ("\n".join(stated) if option.repeatable else stated), option.flag
    if text := os.environ.get(option.environment, ""):
        return text, option.environment
    if text := config.getini(option.dest):
        return text, option.dest
    return "", ""


def _checked(option: Option) -> Callable[[str], str]:
    """Return a converter that refuses a wrong text and hands on a right one as it stands."""

    def convert(text: str) -> str:
        from harness.errors import UsageError

        if option.check is not None:
            try:
                option.check(text)
            except UsageError as error:
                raise argparse.ArgumentTypeError(str(error)) from error
        return text

    return convert
