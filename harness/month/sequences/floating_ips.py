"""Allocating and releasing a public address; both are single notifications."""

from __future__ import annotations

from harness.month.catalog import NEUTRON
from harness.month.draft import Draft, Subject
from harness.month.model import Tenant
from harness.month.payloads import neutron
from harness.month.resources import FloatingIp
from harness.month.sizes import FLOATING_IP


def allocate(draft: Draft, tenant: Tenant, address: FloatingIp, instant: int) -> None:
    """Allocate an address, associated from the start if it has a port."""
    payload = neutron.floating_ip(tenant, address, draft.world.external_network_id)
    _subject(draft, tenant, address).book(instant, "create.end", payload, ("active", FLOATING_IP))


def release(draft: Draft, tenant: Tenant, address: FloatingIp, instant: int) -> None:
    """Give an address back."""
    payload = neutron.deleted("floatingip", address.floating_ip_id)
    _subject(draft, tenant, address).book(instant, "delete.end", payload, None)


def _subject(draft: Draft, tenant: Tenant, address: FloatingIp) -> Subject:
    return Subject(draft, "floatingip", NEUTRON, tenant, address.floating_ip_id)
