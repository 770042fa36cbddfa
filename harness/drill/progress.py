"""Progress of drills: a bar on a terminal, a line a phase elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import IO, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from harness.drill.call import Progress as Step

#: What each phase is doing.
PHASES = {
    "start": "starting collector and Reporting API",
    "publish": "publishing",
    "drain": "waiting for the outbox to empty",
    "read": "reading what was stored",
    "bill": "metering and rating",
    "compare": "comparing",
}


class Display:
    """Shows where a drill is, on `stream`."""

    def __init__(self, stream: IO[str]) -> None:
        """Draw on a terminal, write lines elsewhere."""
        self._console = Console(file=stream, highlight=False, soft_wrap=True)
        self._bar = _bar(self._console) if self._console.is_terminal else None
        self._task = self._bar.add_task("", total=None, visible=False) if self._bar else None
        self._month = ""
        self._phase = ""
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, text: str) -> None:
        """Write a line of its own."""
        self._console.print(text, markup=False)

    def begin(self, month: str) -> None:
        """Turn to another month."""
        self._month, self._phase = month, ""
        self._began = time.monotonic()
        self._show("generating the month", 0, 0)

    def watch(self, step: Step) -> None:
        """Show a step of the present month."""
        self._show(PHASES[step.phase], step.done, step.total)

    def clear(self) -> None:
        """Take the bar away until another month begins."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, visible=False)

    def _show(self, phase: str, done: int, total: int) -> None:
        text = f"{self._month}: {phase}"
        if self._bar is None or self._task is None:
            if phase != self._phase:
                self.say(f"{text} ({time.monotonic() - self._began:.1f} s)")
        elif phase != self._phase:
            self._bar.reset(self._task, description=text, total=total or None, visible=True)
        else:
            self._bar.update(self._task, completed=done, total=total or None)
        self._phase = phase


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
