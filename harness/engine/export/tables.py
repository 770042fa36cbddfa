"""CSV: rated records, and the deltas of a correction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import sqlalchemy as sa

from harness.engine import ledger
from harness.engine.export.directory import Directory
from harness.engine.instant import bounds, spell
from harness.engine.runs import Run
from harness.engine.schema import rated_records

RATED = (
    "run_id,kind,corrects_run_id,period_from,period_to,cloud,platform,resource_type,resource_id,"
    "project_id,state,from_ts,to_ts,dimension,quantity,amount,currency"
)
DELTAS = (
    "run_id,corrects_run_id,period_from,period_to,cloud,platform,resource_type,resource_id,"
    "project_id,dimension,old_amount,new_amount,delta,currency"
)

_BATCH = 2000
_SPECIAL = re.compile('[",\r\n]')
#: What makes a spreadsheet read a cell as a formula, or hide its first character.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def guard(text: str) -> str:
    """Put an apostrophe before a text a spreadsheet would compute."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def quote(cell: str) -> str:
    """Quote a cell by RFC 4180; the csv module leaves a lone carriage return bare."""
    return '"' + cell.replace('"', '""') + '"' if _SPECIAL.search(cell) else cell


def write_tables(
    connection: sa.Connection, run: Run, directory: Directory
) -> tuple[int, int | None]:
    """Write ``rated.csv`` and, for a correction, ``deltas.csv``.

    Returns:
        how many rated records there are, and how many deltas; None for a regular run.
    """
    rated = _write(directory, "rated.csv", RATED, _rated(connection, run))
    if run.corrects_run_id is None:
        return rated, None
    return rated, _write(directory, "deltas.csv", DELTAS, _deltas(connection, run))


def _write(directory: Directory, name: str, header: str, rows: Iterable[Sequence[str]]) -> int:
    count = 0
    with directory.file(name) as file:
        file.write(f"{header}\n".encode())
        for row in rows:
            file.write(f"{','.join(map(quote, row))}\n".encode())
            count += 1
    return count


def _rated(connection: sa.Connection, run: Run) -> Iterator[Sequence[str]]:
    """Yield the rows of ``rated.csv`` by resource, start and dimension."""
    columns = rated_records.c
    query = (
        sa.select(
            columns.cloud,
            columns.platform,
            columns.resource_type,
            columns.resource_id,
            columns.project_id,
            columns.state,
            columns.from_ts,
            columns.to_ts,
            columns.dimension,
            columns.quantity,
            columns.amount,
            columns.currency,
        )
        .where(columns.run_id == run.id)
        .order_by(
            columns.cloud,
            columns.platform,
            columns.resource_type,
            columns.resource_id,
            columns.from_ts,
            columns.dimension,
        )
    )
    start, end = bounds(run.period)
    head = (run.id, run.kind, run.corrects_run_id or "", spell(start), spell(end))
    for row in connection.execute(query, execution_options={"yield_per": _BATCH}):
        yield (
            *head,
            *map(guard, row[:6]),
            spell(row.from_ts),
            spell(row.to_ts),
            guard(row.dimension),
            f"{row.quantity:.4f}",
            f"{row.amount:.2f}",
            row.currency,
        )


def _deltas(connection: sa.Connection, run: Run) -> Iterator[Sequence[str]]:
    """Yield the rows of ``deltas.csv`` by their key."""
    start, end = bounds(run.period)
    head = (run.id, run.corrects_run_id or "", spell(start), spell(end))
    for delta in ledger.deltas(connection, run.id):
        yield (
            *head,
            *map(guard, delta[:6]),
            f"{delta.old:.2f}",
            f"{delta.new:.2f}",
            f"{delta.delta:.2f}",
            delta.currency,
        )
