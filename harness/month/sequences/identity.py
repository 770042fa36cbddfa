"""Tenants that come to be, and somebody logging in."""

from __future__ import annotations

from harness.month.catalog import KEYSTONE
from harness.month.draft import Draft, Subject
from harness.month.model import Tenant
from harness.month.payloads import cadf


def announce_tenant(draft: Draft, tenant: Tenant, instant: int) -> None:
    """Create a project, and its user a second later."""
    created = (("project", tenant.project_id), ("user", tenant.user_id))
    for offset, (noun, resource_id) in enumerate(created):
        subject = Subject(draft, f"identity.{noun}", KEYSTONE, tenant, resource_id)
        subject.note(instant + offset, "created", {"resource_info": resource_id})


def authenticate(draft: Draft, tenant: Tenant, instant: int) -> None:
    """Log in; the record is reported under its own id."""
    record_id = draft.noise_ids.uuid()
    subject = Subject(draft, "identity", KEYSTONE, tenant, record_id)
    subject.note(instant, "authenticate", cadf.authenticated(tenant, record_id, instant))
