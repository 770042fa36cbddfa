"""The few calls of RabbitMQ's management API that stacks need."""

from __future__ import annotations

import re
from urllib.parse import quote

import requests

from harness.stack.interface import StackError

_TIMEOUT = 30.0


class Management:
    """A broker's management API. ``repr`` shows no password."""

    def __init__(self, url: str, user: str, password: str) -> None:
        """Talk to the API at `url` (no final slash)."""
        self._url = url
        self._account = (user, password)

    def __repr__(self) -> str:
        return f"Management({self._url!r})"

    def answers(self) -> bool:
        """Whether it answers an authenticated call."""
        try:
            return self._ask("GET", "/api/whoami", timeout=5).status_code == 200
        except requests.RequestException:
            return False

    def version(self) -> tuple[int, ...]:
        """Return the broker's version."""
        text = str(self._call("GET", "/api/overview").json()["rabbitmq_version"])
        return tuple(int(part) for part in re.findall(r"\d+", text)[:3])

    def create_vhost(self, name: str) -> None:
        """Create a vhost; the calling user has every permission in it."""
        self._call("PUT", f"/api/vhosts/{quote(name, safe='')}")

    def delete_vhost(self, name: str) -> None:
        """Delete a vhost, if it is there."""
        self._call("DELETE", f"/api/vhosts/{quote(name, safe='')}", accepted=(204, 404))

    def vhosts(self) -> list[str]:
        """Return the names of all vhosts."""
        return [str(vhost["name"]) for vhost in self._call("GET", "/api/vhosts").json()]

    def _ask(self, method: str, path: str, *, timeout: float) -> requests.Response:
        with requests.Session() as session:
            session.trust_env = False  # neither a proxy nor a .netrc has a part in this
            session.auth = self._account
            content = "{}" if method == "PUT" else None
            return session.request(method, self._url + path, timeout=timeout, data=content)

    def _call(
        self, method: str, path: str, accepted: tuple[int, ...] = (200, 201, 204)
    ) -> requests.Response:
        try:
            answer = self._ask(method, path, timeout=_TIMEOUT)
        except requests.RequestException as error:
            raise StackError(f"the broker's management API: {method} {path}: {error}") from error
        if answer.status_code not in accepted:
            raise StackError(
                f"the broker's management API: {method} {path}: "
                f"status {answer.status_code}: {answer.text[:300]}"
            )
        return answer
