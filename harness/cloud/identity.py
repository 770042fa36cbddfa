"""The fake keystone: one user, one token a run, one catalog."""

from __future__ import annotations

import hmac
import time
import uuid
from typing import Any

import msgspec

from harness.errors import HarnessError

USER = "tally-sync"
#: Published on purpose: it opens a simulated cloud and nothing else.
PASSWORD = "tally-dev-sync-password"  # noqa: S105
USER_ID = "8f1e4b2c9a744d1e9c0b5a6d3e7f8091"

_DEFAULT_DOMAIN = {"id": "default", "name": "Default"}
_DAY = 86400

#: Service type, name, path, service id, endpoint id.
_CATALOG = (
    (
        "compute",
        "nova",
        "/compute/v2.1",
        "1a2b3c4d5e6f7081920a1b2c3d4e5f60",
        "2b3c4d5e6f708192a0b1c2d3e4f50617",
    ),
    (
        "block-storage",
        "cinderv3",
        "/volume/v3",
        "3c4d5e6f708192a0b1c2d3e4f5061728",
        "4d5e6f708192a0b1c2d3e4f506172839",
    ),
    (
        "network",
        "neutron",
        "/network",
        "5e6f708192a0b1c2d3e4f50617283940",
        "6f708192a0b1c2d3e4f5061728394051",
    ),
    (
        "image",
        "glance",
        "/image",
        "708192a0b1c2d3e4f506172839405162",
        "8192a0b1c2d3e4f50617283940516273",
    ),
    (
        "load-balancer",
        "octavia",
        "/load-balancer",
        "92a0b1c2d3e4f5061728394051627384",
        "a0b1c2d3e4f506172839405162738495",
    ),
)


class _User(msgspec.Struct):
    name: str
    password: str


class _Password(msgspec.Struct):
    user: _User


class _Identity(msgspec.Struct):
    password: _Password


class _Auth(msgspec.Struct):
    identity: _Identity


class _Login(msgspec.Struct):
    auth: _Auth


class Unauthorized(HarnessError):
    """Credentials or a token that are not this run's."""


class Identity:
    """Who may ask the fake cloud."""

    def __init__(self) -> None:
        """Draw the token of this run."""
        self._token = str(uuid.uuid4())

    def log_in(self, body: bytes, host: str) -> tuple[str, dict[str, Any]]:
        """Judge a login and return the token and the document that comes with it.

        Args:
            body: of ``POST /v3/auth/tokens``; its scope is not looked at.
            host: of the request, which the catalog's URLs repeat.

        Raises:
            Unauthorized: the body is no password login, or names another user or password.
        """
        try:
            user = msgspec.json.decode(body, type=_Login).auth.identity.password.user
        except (msgspec.DecodeError, UnicodeDecodeError):
            user = _User("", "")
        if not (_same(user.name, USER) & _same(user.password, PASSWORD)):
            raise Unauthorized("no such user, or another password")
        return self._token, {"token": _token(host, time.time())}

    def check(self, token: str) -> None:
        """Let a request pass.

        Raises:
            Unauthorized: the token is none, or of an earlier run.
        """
        if not _same(token, self._token):
            raise Unauthorized("this run issued another token; log in again")


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _token(host: str, now: float) -> dict[str, Any]:
    return {
        "methods": ["password"],
        "issued_at": _micros(now),
        "expires_at": _micros(now + _DAY),
        "audit_ids": ["3T2dc1CGQxyJsHdDu1xkcw"],
        "user": {
            "id": USER_ID,
            "name": USER,
            "password_expires_at": None,
            "domain": _DEFAULT_DOMAIN,
        },
        "project": {
            "id": "4c9d2f6b81e34a7f9b3c5d8e0a1f2b34",
            "name": "service",
            "domain": _DEFAULT_DOMAIN,
        },
        "roles": [{"id": "7c1a4e6b3d2f5081ae8b1c4d6e9f0a52", "name": "admin"}],
        "catalog": [
            {
                "id": service,
                "type": kind,
                "name": name,
                "endpoints": [
                    {
                        "id": endpoint,
                        "interface": "public",
                        "region": "RegionOne",
                        "region_id": "RegionOne",
                        "url": f"http://{host}{path}",
                    }
                ],
            }
            for kind, name, path, service, endpoint in _CATALOG
        ],
    }


def _micros(instant: float) -> str:
    whole = int(instant)
    text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
    return f"{text}.{int((instant - whole) * 1e6):06d}Z"
