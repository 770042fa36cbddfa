"""Storing a certificate with the key manager, and removing it.

A call is two records a second apart, each reported under an id of its own.
"""

from __future__ import annotations

from harness.month.catalog import BARBICAN
from harness.month.draft import Draft, Subject
from harness.month.model import Tenant
from harness.month.payloads import cadf
from harness.month.payloads.cadf import CONTAINERS, SECRETS, Call
from harness.month.resources import Certificate


def store(draft: Draft, tenant: Tenant, instant: int) -> Certificate:
    """Store a secret and, two seconds later, the container around it."""
    certificate = Certificate(draft.noise_ids.uuid(), draft.noise_ids.uuid())
    secret = Call("create", "201", "/v1/secrets", SECRETS, certificate.secret_id)
    _make(draft, tenant, secret, instant)
    container = Call("create", "201", "/v1/containers", CONTAINERS, certificate.container_id)
    _make(draft, tenant, container, instant + 2)
    return certificate


def discard(draft: Draft, tenant: Tenant, certificate: Certificate, instant: int) -> None:
    """Remove the container and, two seconds later, the secret in it."""
    container_id, secret_id = certificate.container_id, certificate.secret_id
    path = f"/v1/containers/{container_id}"
    _make(draft, tenant, Call("delete", "204", path, CONTAINERS, container_id), instant)
    path = f"/v1/secrets/{secret_id}"
    _make(draft, tenant, Call("delete", "204", path, SECRETS, secret_id), instant + 2)


def _make(draft: Draft, tenant: Tenant, call: Call, instant: int) -> None:
    request_id, response_id = draft.noise_ids.uuid(), draft.noise_ids.uuid()
    payload = cadf.requested(draft.cloud, tenant, call, request_id, instant)
    request = Subject(draft, "audit.http", BARBICAN, tenant, request_id)
    request.note(instant, "request", payload)
    payload = cadf.answered(draft.cloud, tenant, call, response_id, instant + 1)
    response = Subject(draft, "audit.http", BARBICAN, tenant, response_id)
    response.note(instant + 1, "response", payload)
