"""Watches one child for a parent that may be killed at any moment.

Run as a script by `harness.stack.process`, isolated and without ``site``, so that it starts in a
few hundredths of a second: ``guard.py DIRECTORY COMMAND …``. It holds the reading end of a pipe:

* ``T`` asks the child to end (SIGTERM);
* ``K`` kills the child's process group (SIGKILL);
* the end of the pipe means that the parent is gone, whatever ended it: the group is killed, and
  DIRECTORY is removed unless it is the empty text.

It exits with the child's status, signals as 128 + number, when nothing is left of the child: what
it started in other process groups or sessions is adopted (where the kernel is Linux) and killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading

_PR_SET_CHILD_SUBREAPER = 36  # prctl(2)


def main(directory: str, command: list[str]) -> int:
    """Run `command` in a process group of its own until it ends or the pipe does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)
    orphaned = threading.Event()

    def terminate(*_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            child.send_signal(signal.SIGTERM)

    def kill() -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)

    def watch() -> None:
        while order := os.read(0, 1):
            (terminate if order == b"T" else kill)()
        orphaned.set()
        kill()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, terminate)
    threading.Thread(target=watch, daemon=True).start()
    status = child.wait()
    kill()
    _sweep()
    if directory and orphaned.is_set():
        shutil.rmtree(directory, ignore_errors=True)
    return 128 - status if status < 0 else status


def _sweep() -> None:
    """Kill and reap whatever this process has adopted, and what that leaves to it in turn."""
    while children := _children():
        for pid in children:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _children() -> list[int]:
    found: list[int] = []
    # A thread may end, or there be no such file system, while the list is made.
    with contextlib.suppress(FileNotFoundError):
        for task in os.listdir("/proc/self/task"):  # noqa: PTH208 -- pathlib takes 10 ms to import
            with open(f"/proc/self/task/{task}/children") as children:  # noqa: PTH123
                found += map(int, children.read().split())
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
