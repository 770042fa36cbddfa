"""What a run books: usage records, rated records, deltas, statements."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec
import sqlalchemy as sa

from harness.engine import number
from harness.engine.attribution import Owner
from harness.engine.errors import EngineError
from harness.engine.rating import Rater
from harness.engine.record import RatedRecord, UsageRecord
from harness.engine.schema import (
    correction_deltas,
    project_statements,
    rated_records,
    usage_records,
)
from harness.engine.statement import Booked, Delta, Statement

_BATCH = 2000
_MOST = 10**12
_ENCODE = msgspec.json.Encoder(decimal_format="number").encode
_DECODE = msgspec.json.Decoder(float_hook=number.exact).decode


class Writer:
    """Books records in batches."""

    def __init__(self, connection: sa.Connection, run_id: str, currency: str) -> None:
        """Write for one run, within the transaction of `connection`."""
        self._connection = connection
        self._run_id = run_id
        self._currency = currency
        self._usage: list[dict[str, Any]] = []
        self._rated: list[dict[str, Any]] = []

    def add(self, records: Sequence[UsageRecord], rated: Sequence[RatedRecord]) -> None:
        """Book the records of one resource.

        Raises:
            EngineError: an amount has more than 14 digits.
        """
        for record in records:
            row = self._row(record)
            row["seconds"] = record.seconds
            row["usage"] = _ENCODE(record.usage).decode()
            self._usage.append(row)
        for entry in rated:
            if not -_MOST < entry.amount < _MOST:
                raise EngineError(
                    f"{'/'.join(entry.record.resource)}: {entry.dimension} costs "
                    f"{entry.amount:.3E}, and an amount has at most 14 digits; check its size"
                )
            row = self._row(entry.record)
            row["dimension"] = entry.dimension
            row["quantity"] = entry.quantity
            row["amount"] = entry.amount
            row["currency"] = self._currency
            self._rated.append(row)
        if len(self._rated) + len(self._usage) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Send what is held back."""
        if self._usage:
            self._connection.execute(sa.insert(usage_records), self._usage)
        if self._rated:
            self._connection.execute(sa.insert(rated_records), self._rated)
        self._usage, self._rated = [], []

    def _row(self, record: UsageRecord) -> dict[str, Any]:
        resource = record.resource
        return {
            "run_id": self._run_id,
            "cloud": resource.cloud,
            "platform": resource.platform,
            "resource_type": resource.resource_type,
            "resource_id": resource.resource_id,
            "project_id": record.project_id,
            "state": record.state,
            "from_ts": record.start,
            "to_ts": record.end,
        }


def owners(connection: sa.Connection, run_id: str, table: sa.Table) -> list[Owner]:
    """Return the projects the rated records or the deltas of a run name."""
    columns = table.c
    query = (
        sa.select(columns.cloud, columns.project_id, sa.func.min(columns.platform))
        .where(columns.run_id == run_id)
        .group_by(columns.cloud, columns.project_id)
    )
    return [Owner(*row) for row in connection.execute(query)]


def booked(connection: sa.Connection, run_id: str, owner: Owner, rater: Rater) -> Iterator[Booked]:
    """Yield a project's rated records in the order statements show them."""
    rated, usage = rated_records.c, usage_records.c
    joined = sa.and_(
        rated.run_id == usage.run_id,
        rated.cloud == usage.cloud,
        rated.resource_type == usage.resource_type,
        rated.resource_id == usage.resource_id,
        rated.from_ts == usage.from_ts,
    )
    query = (
        sa.select(
            rated.platform,
            rated.resource_type,
            rated.resource_id,
            rated.state,
            rated.from_ts,
            rated.to_ts,
            usage.seconds,
            usage.usage,
            rated.dimension,
            rated.quantity,
            rated.amount,
        )
        .select_from(rated_records.join(usage_records, joined))
        .where(
            rated.run_id == run_id,
            rated.cloud == owner.cloud,
            rated.project_id == owner.project_id,
        )
        .order_by(
            rated.platform,
            rated.resource_type,
            rated.resource_id,
            rated.from_ts,
            rated.dimension,
        )
    )
    for row in connection.execute(query):
        yield Booked(
            *row[:6],
            number.minutes(row[6]),
            _DECODE(row[7]),
            *row[8:],
            rater.state_modifier(row.platform, row.resource_type, row.state),
        )


def write_statements(connection: sa.Connection, run_id: str, documents: Iterable[Statement]) -> int:
    """Book the statements of a run, one at a time; return how many there are."""
    count = 0
    for statement in documents:
        connection.execute(
            sa.insert(project_statements).values(
                run_id=run_id,
                key=statement.key,
                cloud=statement.payer.cloud,
                project_id=statement.payer.project_id,
                total=statement.total,
                currency=statement.document["currency"],
                document=_ENCODE(statement.document).decode(),
            )
        )
        count += 1
    return count


def write_deltas(connection: sa.Connection, run_id: str, corrects: str, currency: str) -> int:
    """Book what a correction's records change against the run it corrects.

    Returns:
        how many deltas there are; a difference of zero is none.
    """
    count = 0
    batch: list[dict[str, Any]] = []
    for delta in _differences(connection, corrects, run_id, currency):
        row = delta._asdict()
        row["old_amount"], row["new_amount"] = row.pop("old"), row.pop("new")
        batch.append({"run_id": run_id, **row})
        count += 1
        if len(batch) == _BATCH:
            connection.execute(sa.insert(correction_deltas), batch)
            batch = []
    if batch:
        connection.execute(sa.insert(correction_deltas), batch)
    return count


def deltas(connection: sa.Connection, run_id: str, owner: Owner | None = None) -> Iterator[Delta]:
    """Yield the deltas of a correction, all or a project's, by key."""
    columns = correction_deltas.c
    key = [columns[name] for name in Delta._fields[:6]]
    query = (
        sa.select(*key, columns.old_amount, columns.new_amount, columns.delta, columns.currency)
        .where(columns.run_id == run_id)
        .order_by(*key)
    )
    if owner is not None:
        query = query.where(columns.cloud == owner.cloud, columns.project_id == owner.project_id)
    for row in connection.execute(query, execution_options={"yield_per": _BATCH}):
        yield Delta._make(row)


def _differences(connection: sa.Connection, old: str, new: str, currency: str) -> Iterator[Delta]:
    """Walk the records of two runs side by side."""
    merged = heapq.merge(
        _amounts(connection, old, 0), _amounts(connection, new, 1), key=itemgetter(0)
    )
    for key, rows in groupby(merged, key=itemgetter(0)):
        sums: list[list[Any]] = [[], []]
        for _, side, amount in rows:
            sums[side].append(amount)
        before, after = number.total(sums[0]), number.total(sums[1])
        if before != after:
            change = number.subtract(after, before)
            yield Delta._make((*key, before, after, change, currency))


def _amounts(
    connection: sa.Connection, run_id: str, side: int
) -> Iterator[tuple[tuple[str, ...], int, Any]]:
    columns = rated_records.c
    key = [columns[name] for name in Delta._fields[:6]]
    query = sa.select(*key, columns.amount).where(columns.run_id == run_id).order_by(*key)
    for row in connection.execute(query, execution_options={"yield_per": _BATCH}):
        yield tuple(row[:6]), side, row[6]
