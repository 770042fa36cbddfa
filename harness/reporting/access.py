"""Who calls: tokens, what they open, and how they are checked."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from enum import Enum

import msgspec
import sqlalchemy

from harness.reporting.problem import Problem
from harness.reporting.schema import API_TOKENS, INGEST_CREDENTIALS, PROJECTS
from harness.reporting.store import Store

INGEST_PREFIX = "tly_i_"
API_PREFIX = "tly_a_"
ROLES = ("project", "read_all", "admin")
"""From the weakest to the strongest; each covers what stands before it."""


class Needs(Enum):
    """What a route asks of its caller."""

    NOTHING = "none"
    INGEST = "ingest"
    PROJECT = "project"
    READ_ALL = "read_all"
    ADMIN = "admin"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Credential:
    """What an ingest token may write: events of one cloud of one platform."""

    id: str
    platform: str
    cloud: str


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    Attributes:
        actor: how audit rows name the caller.
        role: one of `ROLES`, ``""`` for ingest and internal tokens.
        credential: what an ingest token may write; None with authentication switched off.
        projects: (cloud, project id) pairs a project token is limited to, None for no limit.
        project_ids: the registry ids of those projects.
    """

    actor: str
    role: str = ""
    credential: Credential | None = None
    projects: frozenset[tuple[str, str]] | None = None
    project_ids: frozenset[str] = frozenset()


def new_token(prefix: str) -> str:
    """Return a token nobody can guess."""
    return prefix + secrets.token_hex(32)


def digest(token: str) -> str:
    """Return what is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


class Doorkeeper:
    """Checks the bearer token of a request against the database and the internal secret."""

    def __init__(self, store: Store, *, internal_token: str, authenticated: bool) -> None:
        """Look tokens up in `store`; without `authenticated` everyone is an admin."""
        self._store = store
        self._internal = digest(internal_token) if internal_token else ""
        self._authenticated = authenticated

    def admit(self, needs: Needs, authorization: str | None) -> Caller:
        """Return who calls.

        Raises:
            Problem: 401 without a token that is known, 403 with one that opens other routes.
        """
        if not self._authenticated or needs is Needs.NOTHING:
            return Caller("anonymous", "admin")
        token = _bearer(authorization)
        if needs is Needs.INTERNAL:
            if not self._internal or not hmac.compare_digest(digest(token), self._internal):
                raise _unauthorized("this bearer token does not open internal routes")
            return Caller("internal")
        caller = self._lookup(token)
        if needs is Needs.INGEST:
            if caller.credential is None:
                raise _forbidden()
        elif caller.role not in ROLES[ROLES.index(needs.value) :]:
            raise _forbidden()
        return caller

    def _lookup(self, token: str) -> Caller:
        hashed = digest(token)
        with self._store.read() as connection:
            caller = None
            if token.startswith(INGEST_PREFIX):
                caller = _ingest(connection, hashed)
            elif token.startswith(API_PREFIX):
                caller = _api(connection, hashed)
        if caller is None:
            raise _unauthorized("no valid token matches the bearer token")
        return caller


def _bearer(authorization: str | None) -> str:
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise _unauthorized("the request has no bearer token")
    return token.strip()


def _unauthorized(detail: str) -> Problem:
    return Problem("unauthorized", detail, headers={"WWW-Authenticate": "Bearer"})


def _forbidden() -> Problem:
    return Problem("forbidden", "the token's role does not open this route")


def _ingest(connection: sqlalchemy.Connection, hashed: str) -> Caller | None:
    row = _valid(connection, INGEST_CREDENTIALS, hashed)
    if row is None:
        return None
    return Caller(
        f"ingest_credential:{row.id}", credential=Credential(row.id, row.platform, row.cloud)
    )


def _api(connection: sqlalchemy.Connection, hashed: str) -> Caller | None:
    row = _valid(connection, API_TOKENS, hashed)
    if row is None:
        return None
    if row.role != "project":
        return Caller(f"api_token:{row.id}", row.role)
    ids = msgspec.json.decode(row.project_ids, type=list[str])
    query = sqlalchemy.select(PROJECTS.c.cloud, PROJECTS.c.external_id).where(
        PROJECTS.c.id.in_(ids)
    )
    pairs = frozenset((each.cloud, each.external_id) for each in connection.execute(query))
    return Caller(f"api_token:{row.id}", row.role, projects=pairs, project_ids=frozenset(ids))


def _valid(
    connection: sqlalchemy.Connection, table: sqlalchemy.Table, hashed: str
) -> sqlalchemy.Row[tuple[object, ...]] | None:
    """Find a token's row by its hash, and compare once more in constant time."""
    row = connection.execute(
        sqlalchemy.select(table).where(table.c.token_sha256 == hashed, table.c.revoked_at.is_(None))
    ).one_or_none()
    if row is None or not hmac.compare_digest(row.token_sha256, hashed):
        return None
    return row
