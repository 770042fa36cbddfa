"""A temporary directory that the next run removes when its owner was killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

from harness.stack.interface import StackError

_PREFIX = "tally-stack-"
_OWNER = "owner"


class Scratch:
    """A directory of this process's own below the system's temporary one.

    Its owner holds a lock inside it for as long as it lives; `sweep` takes away directories whose
    lock nobody holds.

    Attributes:
        path: the directory, mode 0700.
    """

    def __init__(self) -> None:
        """Make the directory.

        Raises:
            StackError: nowhere to make one; names the variable that says where.
        """
        try:
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        except OSError as error:
            raise StackError(
                f"no temporary directory can be made: {error}; "
                "set TMPDIR to a directory this user may write to"
            ) from error
        self._lock = (self.path / f"{_OWNER}.new").open("w", encoding="utf-8")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._lock.write(f"{os.getpid()}\n")
        self._lock.flush()
        # Under its final name the lock is held from the start, so no sweep can come in between.
        (self.path / f"{_OWNER}.new").rename(self.path / _OWNER)

    def room(self, name: str) -> Path:
        """Make a directory for a month; its name in the file system is safe and unique."""
        safe = "".join(letter if letter.isalnum() else "-" for letter in name)[:40]
        return Path(tempfile.mkdtemp(prefix=f"{safe}-", dir=self.path))

    def close(self) -> None:
        """Remove the directory; closing twice is harmless."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_exception: object) -> None:
        self.close()


def sweep() -> list[Path]:
    """Remove what killed owners left in the temporary directory, and return what that was."""
    swept = []
    with contextlib.suppress(OSError):
        for path in sorted(Path(tempfile.gettempdir()).glob(f"{_PREFIX}*")):
            if _abandoned(path):
                shutil.rmtree(path, ignore_errors=True)
                swept.append(path)
    return swept


def _abandoned(path: Path) -> bool:
    try:
        with (path / _OWNER).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # held by its owner, another user's, or not locked yet
        return False
    return True
