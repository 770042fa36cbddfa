"""The size schemas: which members the size of a resource type has."""

from __future__ import annotations

from typing import Any

import sqlalchemy

from harness.reporting import paging, sizes, wire
from harness.reporting.access import Caller
from harness.reporting.contract import Page, SizeSchema
from harness.reporting.instant import rfc3339
from harness.reporting.item import VIRTUAL
from harness.reporting.problem import Problem, unprocessable
from harness.reporting.schema import RESOURCE_TYPES
from harness.reporting.store import Store

LARGEST_SCHEMA = 65536
LOCK = "resource-types"


def render(row: Any) -> dict[str, Any]:
    """Return a resource type as it is answered."""
    return {
        "platform": row.platform,
        "resource_type": row.resource_type,
        "size_schema": wire.raw(row.size_schema),
        "updated_at": rfc3339(row.updated_at),
    }


def resource_types(connection: sqlalchemy.Connection, wanted: Page) -> dict[str, Any]:
    """Return a page of resource types in the order of (platform, resource_type)."""
    return paging.page(
        connection,
        sqlalchemy.select(RESOURCE_TYPES),
        (RESOURCE_TYPES.c.platform, RESOURCE_TYPES.c.resource_type),
        render,
        limit=wanted.limit,
        cursor=wanted.cursor,
    )


def find(connection: sqlalchemy.Connection, platform: str, resource_type: str) -> dict[str, Any]:
    """Return one resource type.

    Raises:
        Problem: 404.
    """
    row = connection.execute(
        sqlalchemy.select(RESOURCE_TYPES).where(
            RESOURCE_TYPES.c.platform == platform, RESOURCE_TYPES.c.resource_type == resource_type
        )
    ).one_or_none()
    if row is None:
        raise Problem("not_found", "no size schema is registered for this platform and type")
    return render(row)


def replace(
    store: Store, caller: Caller, key: tuple[str, str], wanted: SizeSchema
) -> dict[str, Any]:
    """Put a size schema in place, whether or not there was one, and return the resource type.

    Stored events are not held against it; what comes in from now on is.

    Raises:
        Problem: 422, it cannot be used as a schema.
    """
    platform, resource_type = key
    if platform in VIRTUAL:
        raise unprocessable("path.platform", f'"{platform}" is virtual and carries no resources')
    schema = wire.text(wanted.size_schema)
    if len(schema.encode()) > LARGEST_SCHEMA:
        raise unprocessable("body.size_schema", f"takes at most {LARGEST_SCHEMA} bytes")
    wrong = sizes.check_schema(schema)
    if wrong is not None:
        raise unprocessable("body.size_schema", f"is no usable JSON Schema: {wrong}")
    with store.write(LOCK) as transaction:
        insert = transaction.insert(RESOURCE_TYPES)
        row = transaction.connection.execute(
            insert.on_conflict_do_update(
                index_elements=["platform", "resource_type"],
                set_={
                    "size_schema": insert.excluded.size_schema,
                    "updated_at": insert.excluded.updated_at,
                },
            ).returning(RESOURCE_TYPES),
            {
                "platform": platform,
                "resource_type": resource_type,
                "size_schema": schema,
                "updated_at": transaction.now,
            },
        ).one()
        transaction.audit(
            caller.actor,
            "resource_type.replace",
            {"platform": platform, "resource_type": resource_type},
        )
        return render(row)
