"""The directory of an export: private, and written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from harness.engine.errors import ExportRefused


def require_empty(path: Path) -> None:
    """Refuse a directory that holds something.

    Raises:
        ExportRefused: it does, or it cannot be read.
    """
    try:
        with os.scandir(path) as entries:
            if next(entries, None) is None:
                return
    except FileNotFoundError:
        return
    except OSError as error:
        raise ExportRefused(f"--out: reading {path}: {error.strerror}") from error
    raise ExportRefused(f"--out: {path} holds files already; name a directory that is new or empty")


class Directory:
    """Writes files that appear under their names once they are complete.

    Used as a context: when the block fails, the files written in it are removed.
    """

    def __init__(self, path: Path) -> None:
        """Create the directory with mode 0700, or take an empty one over.

        Raises:
            ExportRefused: it holds something, or cannot be created.
        """
        require_empty(path)
        self._path = path
        self._written: list[Path] = []
        self._created = not path.exists()
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.chmod(0o700)
        except OSError as error:
            raise ExportRefused(f"--out: creating {path}: {error.strerror}") from error

    @contextmanager
    def file(self, name: str) -> Iterator[IO[bytes]]:
        """Open a new file, mode 0600; at the end of the block it is synced and named.

        Raises:
            ExportRefused: it cannot be written.
        """
        temporary = self._path / f".{name[:200]}.partial"
        self._written.append(temporary)
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.rename(self._path / name)
            self._written[-1] = self._path / name
            self._sync()
        except OSError as error:
            raise ExportRefused(
                f"writing {self._path / name}: {error.strerror}; nothing was exported"
            ) from error

    def _sync(self) -> None:
        descriptor = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            return
        for path in self._written:
            path.unlink(missing_ok=True)
        if self._created:
            with suppress(OSError):  # somebody else put something there meanwhile
                self._path.rmdir()
