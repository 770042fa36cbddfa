"""How far a publication is: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from harness.broker.clock import VirtualClock
from harness.cloud.publication import Publication
from harness.service import log

#: Seconds between two looks on a terminal, and between two plain lines.
_LOOK = 0.25
_LINE = 10.0


class Progress:
    """Shows the virtual date, how much is published, how fast, and what is held, on stderr."""

    def __init__(self, clock: VirtualClock, publication: Publication) -> None:
        """Watch `clock` and `publication` once entered."""
        self._clock = clock
        self._publication = publication
        self._console = Console(stderr=True)
        self._ended = threading.Event()
        self._began = 0.0
        self._thread = threading.Thread(target=self._watch, name="progress", daemon=True)

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._ended.set()
        self._thread.join()

    def line(self) -> str:
        """Return where the publication stands, in words."""
        publication = self._publication
        return (
            f"{self._date()}  {publication.published} of {publication.total} published, "
            f"{self._rate()}, {self._held()}"
        )

    def _watch(self) -> None:
        if self._console.is_terminal:
            self._draw()
            return
        while not self._ended.wait(_LINE):
            print(self.line(), file=sys.stderr)

    def _draw(self) -> None:
        columns = (
            TextColumn("{task.fields[date]}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}, {task.fields[held]}"),
        )
        with (
            Bar(*columns, console=self._console, redirect_stdout=False) as bar,
            log.above(self._print),
        ):
            task = bar.add_task("", total=self._publication.total, date="", rate="", held="")
            while True:
                last = self._ended.wait(_LOOK)
                bar.update(
                    task,
                    completed=self._publication.published,
                    date=self._date(),
                    rate=self._rate(),
                    held=self._held(),
                )
                if last:
                    return

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _date(self) -> str:
        moment = time.gmtime(min(self._clock.now(), 253402300799))
        return time.strftime("%Y-%m-%d %H:%M", moment)

    def _rate(self) -> str:
        passed = max(time.monotonic() - self._began, 1e-9)
        return f"{self._publication.published / passed:.0f} a second"

    def _held(self) -> str:
        held = self._publication.held
        if self._publication.holding:
            return f"{held} held, release them with POST /release"
        return f"{held} held"
