"""What an operator does to a database: schema versions, credentials, virtual projects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import uuid4

import sqlalchemy

from harness.errors import HarnessError, UsageError
from harness.reporting import registry, wire
from harness.reporting.access import API_PREFIX, INGEST_PREFIX, ROLES, Caller, digest, new_token
from harness.reporting.contract import NewProject
from harness.reporting.item import LONGEST, VIRTUAL
from harness.reporting.migrate import migrate, migrate_down_to, status
from harness.reporting.problem import Problem
from harness.reporting.schema import API_TOKENS, INGEST_CREDENTIALS, PROJECTS
from harness.reporting.store import Store, Transaction

__all__ = [
    "Issued",
    "NotStored",
    "create_api_token",
    "create_ingest_credential",
    "create_project",
    "migrate",
    "migrate_down_to",
    "revoke_api_token",
    "revoke_ingest_credential",
    "status",
]

LOCK = "access"
_ACTOR = "admin"
_T = TypeVar("_T")


class NotStored(HarnessError):
    """What was named is not in the database, or what was wanted cannot be."""


@dataclass(frozen=True, slots=True, repr=False)
class Issued:
    """A token just made, seen this once. ``repr`` does not show it."""

    id: str
    token: str

    def __repr__(self) -> str:
        return f"Issued(id={self.id!r})"


def create_ingest_credential(
    url: str, platform: str, cloud: str, description: str | None = None
) -> Issued:
    """Make an ingest token that may write events of one cloud of one platform.

    Raises:
        UsageError: platform or cloud is empty, too long, or virtual.
    """
    for name, value in (("platform", platform), ("cloud", cloud)):
        if not value or "\x00" in value or len(value.encode()) > LONGEST or value in VIRTUAL:
            raise UsageError(
                f'{name}: "{value[:64]}" has to be 1 to {LONGEST} characters and not '
                + " or ".join(VIRTUAL)
            )
    issued = Issued(str(uuid4()), new_token(INGEST_PREFIX))

    def store(transaction: Transaction) -> None:
        transaction.connection.execute(
            INGEST_CREDENTIALS.insert(),
            {
                "id": issued.id,
                "platform": platform,
                "cloud": cloud,
                "description": description,
                "token_sha256": digest(issued.token),
                "created_at": transaction.now,
            },
        )
        transaction.audit(_ACTOR, "ingest_credential.create", {"id": issued.id})

    _write(url, store)
    return issued


def create_api_token(url: str, role: str, project_ids: Sequence[str] = ()) -> Issued:
    """Make an api token.

    Args:
        url: the database.
        role: one of `ROLES`.
        project_ids: ids in the registry of the projects a token of role `project` is limited to.

    Raises:
        UsageError: unknown role; projects with a role that takes none, or none with the one that
            does.
        NotStored: a project is not registered.
    """
    if role not in ROLES:
        raise UsageError(f'role: "{role}" has to be one of {", ".join(ROLES)}')
    if (role == "project") != bool(project_ids):
        raise UsageError("a token of role project lists project ids, and no other role does")
    issued = Issued(str(uuid4()), new_token(API_PREFIX))

    def store(transaction: Transaction) -> None:
        for project_id in project_ids:
            _registered(transaction, project_id)
        transaction.connection.execute(
            API_TOKENS.insert(),
            {
                "id": issued.id,
                "role": role,
                "project_ids": wire.text(sorted(set(project_ids))),
                "token_sha256": digest(issued.token),
                "created_at": transaction.now,
            },
        )
        transaction.audit(_ACTOR, "api_token.create", {"id": issued.id, "role": role})

    _write(url, store)
    return issued


def create_project(url: str, platform: str, external_id: str, name: str | None = None) -> str:
    """Register a project of a virtual platform (`meta`, `partner`); return its id.

    Raises:
        UsageError: another platform, or no external id.
        NotStored: it is registered.
    """
    if platform not in VIRTUAL or not external_id:
        raise UsageError("a virtual project has platform meta or partner, and an external id")
    store = Store(url)
    try:
        new = NewProject(platform=platform, cloud=platform, external_id=external_id, name=name)
        return str(registry.register(store, Caller(_ACTOR), new)["id"])
    except Problem as problem:
        raise NotStored(f"{platform} project {external_id}: {problem.detail}") from problem
    finally:
        store.close()


def revoke_ingest_credential(url: str, credential_id: str) -> bool:
    """Close an ingest token for good; False where it was closed before.

    Raises:
        NotStored: there is none of this id.
    """
    return _write(url, lambda transaction: _revoke(transaction, INGEST_CREDENTIALS, credential_id))


def revoke_api_token(url: str, token_id: str) -> bool:
    """Close an api token for good; False where it was closed before.

    Raises:
        NotStored: there is none of this id.
    """
    return _write(url, lambda transaction: _revoke(transaction, API_TOKENS, token_id))


def _revoke(transaction: Transaction, table: sqlalchemy.Table, row_id: str) -> bool:
    row = transaction.connection.execute(
        sqlalchemy.select(table.c.revoked_at).where(table.c.id == row_id)
    ).one_or_none()
    if row is None:
        raise NotStored(f"{table.name} {row_id}: there is none of this id")
    if row.revoked_at is not None:
        return False
    transaction.connection.execute(
        table.update().where(table.c.id == row_id).values(revoked_at=transaction.now)
    )
    transaction.audit(_ACTOR, f"{table.name}.revoke", {"id": row_id})
    return True


def _registered(transaction: Transaction, project_id: str) -> Any:
    row = transaction.connection.execute(
        sqlalchemy.select(PROJECTS.c.id).where(PROJECTS.c.id == project_id)
    ).one_or_none()
    if row is None:
        raise NotStored(f"project {project_id}: not registered; list ids with GET /api/v1/projects")
    return row


def _write(url: str, work: Callable[[Transaction], _T]) -> _T:
    store = Store(url, connections=1)
    try:
        with store.write(LOCK) as transaction:
            return work(transaction)
    finally:
        store.close()
