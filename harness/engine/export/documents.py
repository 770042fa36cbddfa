"""JSON: a document per statement or credit note, and ``run.json`` that lists them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec
import sqlalchemy as sa

from harness.engine.export.directory import Directory
from harness.engine.instant import bounds, spell
from harness.engine.runs import Run
from harness.engine.schema import project_statements
from harness.engine.statement import escape

_LONGEST_NAME = 200
_ENCODE = msgspec.json.Encoder(decimal_format="number").encode


def write_documents(connection: sa.Connection, run: Run, directory: Directory) -> int:
    """Write the documents of a run; ``run.json`` comes last, so it tells of a whole export.

    Amounts are numbers with two decimals, quantities with four.

    Returns:
        how many statements or credit notes there are.
    """
    columns = project_statements.c
    query = (
        sa.select(columns.key, columns.cloud, columns.project_id, columns.total, columns.currency)
        .where(columns.run_id == run.id)
        .order_by(columns.key)
    )
    listed = list(connection.execute(query))
    prefix = "statement" if run.corrects_run_id is None else "credit-note"
    names = file_names(prefix, [row.key for row in listed])
    for row in listed:
        document = connection.execute(
            sa.select(columns.document).where(columns.run_id == run.id, columns.key == row.key)
        ).scalar_one()
        _write(directory, names[row.key], document.encode())
    entries = [
        {
            "file": names[row.key],
            "cloud": row.cloud,
            "project_id": row.project_id,
            "total": row.total,
            "currency": row.currency,
        }
        for row in listed
    ]
    _write(directory, "run.json", _ENCODE(_summary(run, entries)))
    return len(listed)


def file_names(prefix: str, keys: Iterable[str]) -> dict[str, str]:
    """Return the file name of each statement key.

    The key is escaped once more, so its slash becomes ``%2F`` and a percent sign ``%25``. The
    SHA-256 of the key stands in for names longer than 200 bytes or alike but for case.
    """
    plain = {key: f"{prefix}-{escape(key)}.json" for key in keys}
    folded = Counter(name.casefold() for name in plain.values())
    return {
        key: name
        if len(name) <= _LONGEST_NAME and folded[name.casefold()] == 1
        else f"{prefix}-{hashlib.sha256(key.encode()).hexdigest()}.json"
        for key, name in plain.items()
    }


def _summary(run: Run, statements: list[dict[str, Any]]) -> dict[str, Any]:
    start, end = bounds(run.period)
    return {
        "run_id": run.id,
        "kind": run.kind,
        "corrects_run_id": run.corrects_run_id,
        "period_from": spell(start),
        "period_to": spell(end),
        "status": run.status,
        "pricing_version": run.pricing_version,
        "clouds": run.clouds,
        "started_at": spell(run.started_at),
        "completed_at": None if run.completed_at is None else spell(run.completed_at),
        "stats": run.stats,
        "statements": statements,
    }


def _write(directory: Directory, name: str, document: bytes) -> None:
    with directory.file(name) as file:
        file.write(msgspec.json.format(document, indent=2) + b"\n")
