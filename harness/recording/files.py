"""Files of a recording: plain, gzip or zstd, read by the line, written with their digest."""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Self, cast

from harness.recording.errors import RecordingError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

#: Suffixes a file may carry, and what they stand for.
COMPRESSIONS = {"": "none", ".gz": "gzip", ".zst": "zstd"}
_MAGICS = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}
#: A line of more bytes is not read. A broker carries bodies of 128 MiB; in base64 that is less.
LINE_MAX = 192 << 20
#: A document beside the stream of more bytes, decompressed, is not read.
DOCUMENT_MAX = 256 << 20

_CHUNK = 1 << 18
#: What zstd may ask of memory to read a file: 128 MiB.
_WINDOW_MAX = {int(zstd.DecompressionParameter.window_log_max): 27}


def find(directory: Path, name: str) -> Path | None:
    """Return the file `name` of a recording, compressed or not; None when there is none.

    Raises:
        RecordingError: there are two.
    """
    found = [path for suffix in COMPRESSIONS if (path := directory / f"{name}{suffix}").exists()]
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        raise RecordingError(f"{directory} holds {names}; keep the one its manifest names")
    return found[0] if found else None


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressed by its suffix.

    Raises:
        RecordingError: it cannot be read, or its compressed form is torn; also while reading it
            inside the ``with`` block.
    """
    try:
        with path.open("rb") as raw, _decompressed(raw, path.suffix) as file:
            yield file
    except (OSError, EOFError, zlib.error, zstd.ZstdError) as error:
        cause = getattr(error, "strerror", None) or error
        raise RecordingError(f"reading {path}: {cause}") from error


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file of any name for reading, decompressed by what its first bytes are.

    Raises:
        RecordingError: as `opened`.
    """
    try:
        with path.open("rb") as raw:
            start = raw.peek(4)
            suffix = next((s for magic, s in _MAGICS.items() if start.startswith(magic)), "")
            with _decompressed(raw, suffix) as file:
                yield file
    except (OSError, EOFError, zlib.error, zstd.ZstdError) as error:
        cause = getattr(error, "strerror", None) or error
        raise RecordingError(f"reading {path}: {cause}") from error


def _decompressed(raw: IO[bytes], suffix: str) -> IO[bytes]:
    if suffix == ".gz":
        return cast(IO[bytes], gzip.GzipFile(fileobj=raw, mode="rb"))
    if suffix == ".zst":
        return cast(IO[bytes], zstd.ZstdFile(raw, "r", options=_WINDOW_MAX))
    return raw


def lines(path: Path, most: int = LINE_MAX) -> Iterator[bytes]:
    """Yield the lines of a file without their ends, one at a time.

    Raises:
        RecordingError: it cannot be read, or a line is longer than `most` bytes.
    """
    number = 0
    with opened(path) as file:
        while line := file.readline(most + 2):
            number += 1
            line = line.removesuffix(b"\n")
            if len(line) > most:
                raise RecordingError(f"{path}: line {number} is longer than {most} bytes")
            yield line


def chunks(path: Path, most: int = DOCUMENT_MAX) -> Iterator[bytes]:
    """Yield the content of a file decompressed.

    Raises:
        RecordingError: it cannot be read, or has more than `most` bytes.
    """
    size = 0
    with opened(path) as file:
        while chunk := file.read(_CHUNK):
            size += len(chunk)
            if size > most:
                raise RecordingError(
                    f"{path} is longer than {most} bytes once decompressed, the most of a "
                    "document that is read; no month's comes near it"
                )
            yield chunk


def document(path: Path, most: int = DOCUMENT_MAX) -> bytes:
    """Return the content of a file decompressed; raises like `chunks`."""
    return b"".join(chunks(path, most))


def digest(path: Path) -> str:
    """Return the SHA-256 of a file as it lies there, in hex; constant memory."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise RecordingError(f"reading {path}: {error.strerror}") from error


class FileWriter:
    """Writes a file that only its owner may read, compressed by its suffix.

    The file must not exist. `close` makes it durable.
    """

    def __init__(self, path: Path, level: int = 3) -> None:
        """Create the file.

        Args:
            path: ends in ``.zst``, ``.gz``, or neither.
            level: how hard zstd tries, 1 to 22.

        Raises:
            RecordingError: it exists, or cannot be created.
        """
        self.path = path
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise RecordingError(f"writing {path}: {error.strerror}") from error
        self._raw = os.fdopen(descriptor, "wb")
        self._file: Any = self._raw
        if path.suffix == ".gz":
            # no name and no time in the header: the same content gives the same file
            self._file = gzip.GzipFile("", "wb", 6, self._raw, mtime=0)
        elif path.suffix == ".zst":
            parameter = zstd.CompressionParameter
            options = {int(parameter.compression_level): level, int(parameter.checksum_flag): 1}
            self._file = zstd.ZstdFile(self._raw, "w", options=options)

    def write(self, data: bytes) -> None:
        """Append `data`."""
        try:
            self._file.write(data)
        except OSError as error:
            raise RecordingError(f"writing {self.path}: {error.strerror}") from error

    def close(self) -> None:
        """Finish the file and wait until it is on the disk; closing twice is harmless."""
        if self._raw.closed:
            return
        try:
            if self._file is not self._raw:
                self._file.close()
            self._raw.flush()
            os.fsync(self._raw.fileno())
        except OSError as error:
            raise RecordingError(f"writing {self.path}: {error.strerror}") from error
        finally:
            self._raw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()
