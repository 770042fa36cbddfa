"""Creating, binding and deleting a port."""

from __future__ import annotations

from harness.month.catalog import NEUTRON
from harness.month.draft import Draft, Subject
from harness.month.model import Tenant
from harness.month.payloads import neutron
from harness.month.resources import Port


def create(draft: Draft, tenant: Tenant, port: Port, instant: int) -> None:
    """Create a port that is bound to no host yet, within a second."""
    subject = _subject(draft, tenant, port)
    subject.note(instant, "create.start", neutron.port_request(tenant, port))
    subject.note(instant + 1, "create.end", neutron.port(tenant, port, bound=False))


def bind(draft: Draft, tenant: Tenant, port: Port, instant: int) -> None:
    """Bind a port to its host, within a second."""
    subject = _subject(draft, tenant, port)
    subject.note(instant, "update.start", neutron.port_binding(port))
    subject.note(instant + 1, "update.end", neutron.port(tenant, port, bound=True))


def delete(draft: Draft, tenant: Tenant, port: Port, instant: int) -> None:
    """Delete a port, within a second."""
    subject = _subject(draft, tenant, port)
    payload = neutron.deleted("port", port.port_id)
    subject.note(instant, "delete.start", payload)
    subject.note(instant + 1, "delete.end", payload)


def _subject(draft: Draft, tenant: Tenant, port: Port) -> Subject:
    return Subject(draft, "port", NEUTRON, tenant, port.port_id)
