"""SIGINT and SIGTERM end a command cleanly, wherever it is."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import TracebackType
from typing import Self


class Stopped(BaseException):
    """A signal ended the work; no failure, and nothing a handler of failures should catch."""


class Signals:
    """While entered, a signal ends the work.

    It raises `Stopped` where the main thread is, unless `gently` named another way; a second
    signal then raises after all.

    Attributes:
        arrived: whether a signal came.
    """

    def __init__(self) -> None:
        """Change nothing yet."""
        self.arrived = False
        self._way: Callable[[], None] | None = None

    def gently(self, way: Callable[[], None]) -> None:
        """Have the next signal call `way` instead of raising."""
        self._way = way

    def __enter__(self) -> Self:
        self._before = {
            number: signal.signal(number, self._arrive)
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _arrive(self, _number: int, _frame: object) -> None:
        self.arrived = True
        way, self._way = self._way, None
        if way is None:
            raise Stopped
        way()
