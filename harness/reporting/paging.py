"""Lists a page at a time: opaque cursors over the sort key."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import sqlalchemy

from harness.reporting import wire
from harness.reporting.problem import Problem

DEFAULT = 100
MOST = 1000


def encode(key: Sequence[object]) -> str:
    """Return the cursor behind the row with this sort key."""
    return base64.urlsafe_b64encode(wire.encode([str(part) for part in key])).rstrip(b"=").decode()


def decode(cursor: str, columns: Sequence[sqlalchemy.Column[Any]]) -> list[Any]:
    """Return the sort key of a cursor, each part as its column holds it.

    Raises:
        Problem: 400, the cursor is not one of ours.
    """
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        parts = msgspec.json.decode(
            base64.b64decode(padded, altchars=b"-_", validate=True), type=list[str]
        )
        return [
            _instant(part) if isinstance(column.type, sqlalchemy.BigInteger) else _text(part)
            for part, column in zip(parts, columns, strict=True)
        ]
    except (ValueError, binascii.Error, msgspec.DecodeError) as error:
        raise Problem(
            "validation",
            "the cursor is none this API has issued; take next_cursor of the page before",
            errors=[("query.cursor", "is not a cursor of this list")],
        ) from error


def _instant(part: str) -> int:
    value = int(part)
    if abs(value) >= 2**63:
        raise ValueError("beyond a column's range")
    return value


def _text(part: str) -> str:
    if "\x00" in part:
        raise ValueError("no column holds a NUL")
    return part


def page(
    connection: sqlalchemy.Connection,
    query: sqlalchemy.Select[Any],
    order: Sequence[sqlalchemy.Column[Any]],
    render: Callable[[Any], dict[str, Any]],
    *,
    limit: int,
    cursor: str | None,
) -> dict[str, Any]:
    """Run a query page-wise: ``{"items": […], "next_cursor": …}``.

    Args:
        connection: where to run it.
        query: selects at least the columns of `order`.
        order: the sort key, unique together.
        render: a row to its item.
        limit: most items of the page.
        cursor: where the page before ended.
    """
    if cursor is not None:
        after = decode(cursor, order)
        query = query.where(sqlalchemy.tuple_(*order) > sqlalchemy.tuple_(*after))
    rows = connection.execute(query.order_by(*order).limit(limit + 1)).all()
    following = None
    if len(rows) > limit:
        rows = rows[:limit]
        following = encode([rows[-1]._mapping[column] for column in order])  # noqa: SLF001 -- the documented name of a row's dict
    return {"items": [render(row) for row in rows], "next_cursor": following}
