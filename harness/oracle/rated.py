"""Reading ``rated.csv``, the engine's export, row by row and free of the engine's code."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import msgspec

from harness.errors import HarnessError

#: The columns a comparison needs, in the order in which their absence is reported.
COLUMNS = (
    "cloud",
    "platform",
    "resource_type",
    "resource_id",
    "project_id",
    "state",
    "from_ts",
    "to_ts",
    "dimension",
    "quantity",
    "period_from",
    "period_to",
)

#: Unix seconds; a decimal only where an export states a fraction of a second.
Instant = int | Decimal

_DECIMAL = re.compile(
    r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,2})?"
)
#: Unix seconds of the first and the last instant that can be written.
_FIRST, _LAST = -62135596800, 253402300799
_AWARE = Annotated[datetime, msgspec.Meta(tz=True)]


class RatedError(HarnessError):
    """A ``rated.csv`` that cannot be read; names the file, the line and the fault."""


@dataclass(frozen=True, slots=True)
class RatedRow:
    """What a comparison reads of one rated record."""

    cloud: str
    platform: str
    resource_type: str
    resource_id: str
    project_id: str
    state: str
    start: Instant
    end: Instant
    dimension: str
    quantity: Decimal
    period_start: Instant
    period_end: Instant


def read(path: Path) -> list[RatedRow]:
    """Read every row; columns are found by name, further ones are ignored.

    Raises:
        RatedError: unreadable, no CSV, a column lacking or stated twice, a malformed instant or
            quantity.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(_rows(path, csv.reader(file, strict=True)))
    except OSError as error:
        raise RatedError(f"reading {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RatedError(f"reading {path}: {error}") from error


def _rows(path: Path, reader: Iterator[list[str]]) -> Iterator[RatedRow]:
    header = _header(path, reader)
    places = [header.index(name) for name in COLUMNS]
    instants: dict[str, Instant] = {}
    line = 1
    while (fields := _next(path, line + 1, reader)) is not None:
        line += 1
        if len(fields) != len(header):
            raise RatedError(
                f"{path}: line {line}: {len(fields)} fields under a header of {len(header)}"
            )
        stated = dict(zip(COLUMNS, (fields[place] for place in places), strict=True))
        for name in ("from_ts", "to_ts", "period_from", "period_to"):
            text = stated[name]
            if text not in instants:
                instants[text] = _instant(f"{path}: line {line}: {name}", text)
        if not _DECIMAL.fullmatch(stated["quantity"]):
            raise RatedError(
                f'{path}: line {line}: quantity "{stated["quantity"]}" is no decimal number'
            )
        yield RatedRow(
            cloud=stated["cloud"],
            platform=stated["platform"],
            resource_type=stated["resource_type"],
            resource_id=stated["resource_id"],
            project_id=stated["project_id"],
            state=stated["state"],
            start=instants[stated["from_ts"]],
            end=instants[stated["to_ts"]],
            dimension=stated["dimension"],
            quantity=Decimal(stated["quantity"]),
            period_start=instants[stated["period_from"]],
            period_end=instants[stated["period_to"]],
        )


def _header(path: Path, reader: Iterator[list[str]]) -> list[str]:
    """Return the names of all columns, each of them once and those that are needed among them."""
    header = _next(path, 1, reader)
    if header is None:
        raise RatedError(f"{path} holds no header; an export begins with its column names")
    for name in header:
        if header.count(name) > 1:
            raise RatedError(f'{path}: the header states the column "{name}" twice')
    for name in COLUMNS:
        if name not in header:
            raise RatedError(f'{path}: the header lacks the column "{name}"')
    return header


def _next(path: Path, line: int, reader: Iterator[list[str]]) -> list[str] | None:
    """Return the next record that is no empty line; None at the end."""
    try:
        return next((fields for fields in reader if fields), None)
    except csv.Error as error:
        raise RatedError(f"{path}: line {line}: {error}") from error


def _instant(where: str, text: str) -> Instant:
    try:
        moment = msgspec.convert(text, _AWARE)
    except msgspec.ValidationError as error:
        raise RatedError(
            f'{where} "{text}": {error}; an instant reads 2026-07-01T00:00:00Z'
        ) from None
    seconds = int(moment.replace(microsecond=0).timestamp())
    if not _FIRST <= seconds <= _LAST:
        raise RatedError(f'{where} "{text}": outside of the years 1 to 9999 in UTC')
    return seconds + Decimal(moment.microsecond).scaleb(-6) if moment.microsecond else seconds


def spell(instant: Instant) -> str:
    """Write an instant as ``YYYY-MM-DDTHH:MM:SSZ``, a fraction of a second kept."""
    whole = int(instant // 1)
    text = datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    if instant == whole:
        return f"{text}Z"
    return f"{text}{str(instant - whole).removeprefix('0').rstrip('0')}Z"


def spell_bounds(start: Instant, end: Instant) -> str:
    """Write ``[start, end)``."""
    return f"[{spell(start)}, {spell(end)})"
