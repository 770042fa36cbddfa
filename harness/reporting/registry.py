"""The registry of projects: who a tenant of a cloud is."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import sqlalchemy

from harness.reporting import paging, wire
from harness.reporting.access import Caller
from harness.reporting.contract import NewProject, ProjectChange, ProjectFilter
from harness.reporting.instant import rfc3339
from harness.reporting.item import VIRTUAL
from harness.reporting.problem import Problem, unprocessable
from harness.reporting.schema import PROJECTS
from harness.reporting.store import Store, Transaction

LARGEST_METADATA = 65536
LOCK = "registry"


def render(row: Any) -> dict[str, Any]:
    """Return a project as it is answered."""
    return {
        "id": row.id,
        "platform": row.platform,
        "cloud": row.cloud,
        "external_id": row.external_id,
        "name": row.name,
        "metadata": wire.raw(row.metadata),
        "created_at": rfc3339(row.created_at),
    }


def metadata_text(metadata: dict[str, Any]) -> str:
    """Return the JSON text of a row's metadata.

    Raises:
        Problem: 422, it is too large.
    """
    text = wire.text(metadata)
    if len(text.encode()) > LARGEST_METADATA:
        raise unprocessable(
            "body.metadata", f"metadata takes at most {LARGEST_METADATA} bytes as JSON"
        )
    return text


def find(connection: sqlalchemy.Connection, project_id: str) -> Any:
    """Return a project's row.

    Raises:
        Problem: 404.
    """
    row = connection.execute(
        sqlalchemy.select(PROJECTS).where(PROJECTS.c.id == project_id)
    ).one_or_none()
    if row is None:
        raise Problem("not_found", "no project of this id is registered")
    return row


def projects(connection: sqlalchemy.Connection, wanted: ProjectFilter) -> dict[str, Any]:
    """Return a page of projects in the order of (cloud, external_id)."""
    query = sqlalchemy.select(PROJECTS).where(
        *(
            PROJECTS.c[name] == getattr(wanted, name)
            for name in ("platform", "cloud", "external_id")
            if getattr(wanted, name) is not None
        )
    )
    return paging.page(
        connection,
        query,
        (PROJECTS.c.cloud, PROJECTS.c.external_id),
        render,
        limit=wanted.limit,
        cursor=wanted.cursor,
    )


def register(store: Store, caller: Caller, new: NewProject) -> dict[str, Any]:
    """Store a project and return it.

    Raises:
        Problem: 409 where it is registered, 422 where platform and cloud do not go together.
    """
    virtual = {new.platform, new.cloud} & set(VIRTUAL)
    if virtual and new.platform != new.cloud:
        raise unprocessable(
            "body.cloud",
            "a project of platform meta or partner has its platform for a cloud too, and no other"
            " project has meta or partner for a cloud",
        )
    metadata = metadata_text(new.metadata)
    with store.write(LOCK) as transaction:
        row = {
            "id": str(uuid4()),
            "platform": new.platform,
            "cloud": new.cloud,
            "external_id": new.external_id,
            "name": new.name,
            "metadata": metadata,
            "created_at": transaction.now,
        }
        stored = transaction.connection.execute(
            transaction.insert(PROJECTS).on_conflict_do_nothing().returning(PROJECTS), row
        ).one_or_none()
        if stored is None:
            raise Problem(
                "conflict",
                "this external id of this cloud is registered; PATCH changes its project",
            )
        transaction.audit(caller.actor, "project.create", {"id": stored.id})
        return render(stored)


def change(store: Store, caller: Caller, project_id: str, wanted: ProjectChange) -> dict[str, Any]:
    """Change a project's name or metadata, and return it.

    Raises:
        Problem: 404.
    """
    values = _changes(wanted)
    with store.write(LOCK) as transaction:
        find(transaction.connection, project_id)
        if values:
            _update(transaction, project_id, values)
            transaction.audit(
                caller.actor, "project.update", {"id": project_id, "members": sorted(values)}
            )
        return render(find(transaction.connection, project_id))


def _changes(wanted: ProjectChange) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if "name" in wanted.model_fields_set:
        values["name"] = wanted.name
    if "metadata" in wanted.model_fields_set:
        values["metadata"] = metadata_text(wanted.metadata)
    return values


def _update(transaction: Transaction, project_id: str, values: dict[str, Any]) -> None:
    transaction.connection.execute(
        PROJECTS.update().where(PROJECTS.c.id == project_id).values(values)
    )
