"""Registering the projects of a month at a Reporting API, and which shoots run on which tenant.

Registering the same month twice finds everything there. A relation that would put two tenants into
one statement is refused before it is made.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import requests

from harness.calendar import rfc3339
from harness.errors import HarnessError
from harness.month import Month

_LOG = logging.getLogger("harness.cloud.registration")

#: What the original simulator signs its rows with; installed systems filter by it.
_CREATED_BY = "tally-openstack-simulator"
_RELATION = "infrastructure_tenant"
_TIMEOUT = 30.0
_MOST_ANSWER = 1 << 20
_MOST_SHOWN = 512


class RegistrationError(HarnessError):
    """The registry refused, holds something that contradicts the month, or cannot be reached."""


@dataclass(frozen=True, slots=True)
class Registry:
    """Where to register.

    Attributes:
        url: base URL of the Reporting API, no slash at its end.
        token: an api token of role admin.
        garden_cloud: cloud of the Gardener projects; another one than the month's.
    """

    url: str
    token: str = field(repr=False)
    garden_cloud: str


@dataclass(slots=True)
class Tally:
    """How many rows a registration made and found."""

    projects_created: int = 0
    projects_existing: int = 0
    relations_created: int = 0
    relations_existing: int = 0

    def fields(self) -> dict[str, int]:
        """Return the four counts, for a log line."""
        return {
            "projects_created": self.projects_created,
            "projects_existing": self.projects_existing,
            "relations_created": self.relations_created,
            "relations_existing": self.relations_existing,
        }


@dataclass(frozen=True, slots=True)
class _Project:
    """A row to be there."""

    platform: str
    cloud: str
    external_id: str
    name: str

    def __str__(self) -> str:
        return f"({self.cloud}, {self.external_id})"


class Registration:
    """One month's registration.

    Attributes:
        tally: rows made and found so far.
    """

    def __init__(self, registry: Registry, month: Month) -> None:
        """Get ready to register `month`."""
        self._registry = registry
        self._month = month
        self._session = requests.Session()
        self._session.auth = _Bearer(registry.token)
        self.tally = Tally()

    def run(self) -> None:
        """Make the projects and relations that are not there yet.

        Raises:
            RegistrationError: rows made before stay; `tally` counts them.
        """
        try:
            self._run()
        except RegistrationError:
            _LOG.error("registration incomplete", extra={"fields": self.tally.fields()})
            raise
        fields = {"reporting_url": _shown(self._registry.url), **self.tally.fields()}
        _LOG.info("registered", extra={"fields": fields})

    def _run(self) -> None:
        month, garden = self._month, self._registry.garden_cloud
        tenants = {
            tenant.project_id: self._register(
                _Project("openstack", month.cloud, tenant.project_id, tenant.name)
            )
            for tenant in month.tenants
        }
        gardens = {
            relation.project: self._register(
                _Project(
                    "gardener", garden, relation.project, f"Gardener project {relation.project}"
                )
            )
            for relation in month.relations
        }
        for relation in month.relations:
            self._relate(
                (f"({garden}, {relation.project})", gardens[relation.project]),
                (
                    f"({month.cloud}, {relation.tenant.project_id})",
                    tenants[relation.tenant.project_id],
                ),
                list(relation.shoots),
            )

    def _register(self, project: _Project) -> str:
        body = {
            "platform": project.platform,
            "cloud": project.cloud,
            "external_id": project.external_id,
            "name": project.name,
            "metadata": {"created_by": _CREATED_BY},
        }
        status, answer = self._call("POST", "/api/v1/projects", {201, 409}, json=body)
        if status == 201:
            identifier = answer.get("id") if isinstance(answer, dict) else None
            if not isinstance(identifier, str) or not identifier:
                raise RegistrationError("the Reporting API made a project and gave it no id")
            self.tally.projects_created += 1
            message = "registered project"
        else:
            identifier = self._find(project)
            self.tally.projects_existing += 1
            message = "project already registered"
        fields = {
            "platform": project.platform,
            "cloud": project.cloud,
            "external_id": project.external_id,
            "id": identifier,
        }
        _LOG.info(message, extra={"fields": fields})
        return identifier

    def _find(self, project: _Project) -> str:
        _, answer = self._call(
            "GET",
            "/api/v1/projects",
            {200},
            params={"cloud": project.cloud, "external_id": project.external_id},
        )
        found = _items(answer)
        if len(found) != 1:
            raise RegistrationError(
                f"{project} is taken, and {len(found)} projects are listed under it instead of one"
            )
        return str(found[0].get("id"))

    def _relate(self, source: tuple[str, str], target: tuple[str, str], shoots: list[str]) -> None:
        start = rfc3339(self._month.period.start)
        route = f"/api/v1/projects/{source[1]}/relations"
        asked = {"direction": "outgoing", "relation_type": _RELATION}
        for params in ({**asked, "at": start}, asked):
            _, answer = self._call("GET", route, {200}, params=params)
            for other in _items(answer):
                if other.get("target_id") != target[1]:
                    raise RegistrationError(self._conflict(source, target, other))
        body = {
            "target_id": target[1],
            "relation_type": _RELATION,
            "metadata": {"created_by": _CREATED_BY, "shoots": shoots},
            "valid_from": start,
        }
        status, _ = self._call("POST", route, {201, 409}, json=body)
        if status == 201:
            self.tally.relations_created += 1
        else:
            self.tally.relations_existing += 1
        fields = {"source": source[0], "target": target[0], "relation_type": _RELATION}
        message = "related" if status == 201 else "relation already active"
        _LOG.info(message, extra={"fields": fields})

    def _conflict(
        self, source: tuple[str, str], target: tuple[str, str], other: dict[str, Any]
    ) -> str:
        start = rfc3339(self._month.period.start)
        began = str(other.get("valid_from", ""))
        text = (
            f"{source[0]} has an {_RELATION} already, {other.get('target_id')} since {began}, and "
            f"this month gives it {target[0]} from {start}; one statement would hold both tenants. "
        )
        if _instant(began) < self._month.period.start:
            return text + (
                f"End the older one at {start} at the latest, by PATCH "
                f"/api/v1/projects/{source[1]}/relations/{other.get('id')}, or choose another "
                "TALLY_SIM_GARDEN_CLOUD"
            )
        return text + (
            "A relation cannot end before it begins, so choose another TALLY_SIM_GARDEN_CLOUD"
        )

    def _call(self, method: str, route: str, accepted: set[int], **options: Any) -> tuple[int, Any]:
        where = f"{method} {route}"
        try:
            with self._session.request(
                method,
                self._registry.url + route,
                timeout=_TIMEOUT,
                allow_redirects=False,
                stream=True,
                **options,
            ) as answer:
                status = answer.status_code
                body = _read(answer)
        except requests.RequestException as error:
            raise RegistrationError(
                f"registering the projects: {where}: {type(error).__name__}"
            ) from error
        if status not in accepted:
            said = body[:_MOST_SHOWN].decode("utf-8", "replace")
            hint = (
                "; TALLY_SIM_API_TOKEN needs a token of role admin" if status in {401, 403} else ""
            )
            raise RegistrationError(
                f"registering the projects: {where} was answered with {status}: {said}{hint}"
            )
        if len(body) > _MOST_ANSWER:
            raise RegistrationError(f"registering the projects: {where}: the answer is over 1 MiB")
        if status == 409:
            return status, None
        try:
            return status, json.loads(body)
        except ValueError as error:
            raise RegistrationError(f"registering the projects: {where}: {error}") from error


class _Bearer(requests.auth.AuthBase):
    """A token, given as an object so that a ``.netrc`` does not replace it."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


def _read(answer: requests.Response) -> bytes:
    """Return the body; of one that is too long no more than shows that."""
    body = b""
    for chunk in answer.iter_content(65536):
        body += chunk
        if len(body) > _MOST_ANSWER:
            break
    return body


def _items(answer: Any) -> list[dict[str, Any]]:
    listed = answer.get("items") if isinstance(answer, dict) else answer
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def _instant(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return float("-inf")


def _shown(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
