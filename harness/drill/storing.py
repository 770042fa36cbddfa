"""Files that hold usage: readable by their owner only, whole or not there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from harness.errors import HarnessError


class ArtifactError(HarnessError):
    """A file of a drill cannot be written."""


def write_private(path: Path, content: bytes) -> None:
    """Write `content` to `path`, mode 0600, replacing what is there in one step.

    Raises:
        ArtifactError: names the path and the cause.
    """
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ArtifactError(f"writing {path}: {error.strerror}") from error


def make_private(directory: Path) -> Path:
    """Create `directory` and its parents, mode 0700, and return it.

    Raises:
        ArtifactError: names the directory and the cause.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ArtifactError(f"creating {directory}: {error.strerror}") from error
    return directory
