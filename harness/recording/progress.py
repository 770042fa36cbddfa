"""How far something is: a line that moves on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from harness.service import log

#: Seconds between two plain lines.
_EVERY = 10.0


class Progress:
    """Shows a growing number on stderr."""

    def __init__(self, what: str, total: int | None = None) -> None:
        """Show numbers of `what`, such as ``recorded``, out of `total` where that is known."""
        self._what = what
        self._total = total
        self._began = self._shown = time.monotonic()
        self._task: TaskID | None = None
        console = Console(stderr=True)
        columns = (BarColumn(),) if total is not None else ()
        self._bar = Bar(
            TextColumn(what), *columns, MofNCompleteColumn(), TimeElapsedColumn(), console=console
        )
        self._terminal = console.is_terminal
        self._parts = ExitStack()

    def __enter__(self) -> Self:
        if self._terminal:
            self._parts.enter_context(self._bar)
            # What is logged meanwhile goes above the bar, and not through it.
            self._parts.enter_context(log.above(self._print))
            self._task = self._bar.add_task(self._what, total=self._total)
        return self

    def __exit__(self, *_exception: object) -> None:
        self._parts.close()

    def _print(self, text: str) -> None:
        self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def show(self, done: int) -> None:
        """Show that `done` are through."""
        if self._task is not None:
            self._bar.update(self._task, completed=done)
            return
        now = time.monotonic()
        if now - self._shown >= _EVERY:
            self._shown = now
            total = "" if self._total is None else f" of {self._total}"
            rate = done / (now - self._began)
            print(f"{self._what} {done}{total}, {rate:.0f} a second", file=sys.stderr)  # noqa: T201
