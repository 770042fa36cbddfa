"""A child process that cannot outlive its parent, with its output in a file."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.stack import guard
from harness.stack.interface import StackError

_TAIL_LINES = 20


class Process:
    """A command running under a guard (`harness.stack.guard`), in sessions of their own.

    Ctrl-C at a terminal does not reach it; the end of this process, even by SIGKILL, ends it.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        log: Path,
        remove: Path | None = None,
    ) -> None:
        """Start the command.

        Args:
            name: what errors call it.
            command: the argument list.
            environment: all of its variables.
            log: file its stdout and stderr are appended to, mode 0600.
            remove: directory the guard removes when this process dies without ending it.
        """
        self.name = name
        self._log = log
        log.touch(mode=0o600)
        with log.open("ab") as output:
            self._guard = subprocess.Popen(
                [
                    *(sys.executable, "-I", "-S", guard.__file__),
                    "" if remove is None else str(remove),
                    *command,
                ],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(environment),
                start_new_session=True,
            )

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._guard.poll() is None

    @property
    def pid(self) -> int:
        """Process id of the guard, the parent of the command."""
        return self._guard.pid

    def tail(self) -> str:
        """Return the last lines of its output."""
        return tail(self._log)

    def terminate(self, seconds: float = 15.0) -> int:
        """Ask it to end; kill it when it has not after `seconds`. Return its exit status."""
        self._order(b"T")
        try:
            self._guard.wait(seconds)
        except subprocess.TimeoutExpired:
            self._order(b"K")
        return self._reap()

    def kill(self) -> None:
        """End it and all of its group at once."""
        self._order(b"K")
        self._reap()

    def wait_until(self, ready: Callable[[], bool], seconds: float) -> None:
        """Wait until `ready()` is true.

        Raises:
            StackError: it ended before, or was not ready in time; shows the tail of its output.
        """
        deadline = time.monotonic() + seconds
        while not ready():
            if not self.running:
                raise StackError(
                    f"{self.name} ended with status {self._guard.returncode} before it was ready; "
                    f"the end of its log:\n{self.tail()}"
                )
            if time.monotonic() > deadline:
                raise StackError(
                    f"{self.name} was not ready within {seconds:g} s; "
                    f"the end of its log:\n{self.tail()}"
                )
            time.sleep(0.05)

    def _order(self, letter: bytes) -> None:
        if self._guard.stdin is not None and not self._guard.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self._guard.stdin.write(letter)
                self._guard.stdin.flush()

    def _reap(self) -> int:
        status = self._guard.wait()
        if self._guard.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._guard.stdin.close()
        return status


def tail(log: Path, lines: int = _TAIL_LINES) -> str:
    """Return the last `lines` lines of a log, or a note that there is none."""
    try:
        with log.open("rb") as stream:
            stream.seek(max(0, log.stat().st_size - 65_536))
            text = stream.read().decode(errors="replace")
    except OSError as error:
        return f"(no log: {error.strerror})"
    return "\n".join(text.splitlines()[-lines:]) or "(the log is empty)"
