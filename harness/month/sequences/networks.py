"""Building a network with its subnet and router, one notification a second; and giving it back."""

from __future__ import annotations

from harness.month.catalog import NEUTRON
from harness.month.draft import Draft, Subject
from harness.month.model import Tenant
from harness.month.payloads import neutron
from harness.month.resources import Network


def build(draft: Draft, tenant: Tenant, network: Network, instant: int) -> None:
    """Create network, subnet and router, and put the router on the subnet: seven seconds."""
    network.router_port_id = draft.noise_ids.uuid()
    external = draft.world.external_network_id
    whole, subnet, router = _subjects(draft, tenant, network)
    whole.note(instant, "create.start", neutron.network_request(network))
    whole.note(instant + 1, "create.end", neutron.network(tenant, network))
    subnet.note(instant + 2, "create.start", neutron.subnet_request(network))
    subnet.note(instant + 3, "create.end", neutron.subnet(tenant, network))
    router.note(instant + 4, "create.start", neutron.router_request(network, external))
    router.note(instant + 5, "create.end", neutron.router(tenant, network, external))
    router.note(instant + 6, "interface.create", neutron.router_interface(tenant, network))


def tear_down(draft: Draft, tenant: Tenant, network: Network, instant: int) -> None:
    """Delete what `build` made, in the order the parts depend on each other: seven seconds."""
    whole, subnet, router = _subjects(draft, tenant, network)
    router.note(instant, "interface.delete", neutron.router_interface(tenant, network))
    for part, at in ((router, instant + 1), (subnet, instant + 3), (whole, instant + 5)):
        delete(part, at)


def delete(part: Subject, instant: int) -> None:
    """Delete a part of neutron, within a second."""
    payload = neutron.deleted(part.noun, part.resource_id)
    part.note(instant, "delete.start", payload)
    part.note(instant + 1, "delete.end", payload)


def _subjects(draft: Draft, tenant: Tenant, network: Network) -> tuple[Subject, Subject, Subject]:
    return (
        Subject(draft, "network", NEUTRON, tenant, network.network_id),
        Subject(draft, "subnet", NEUTRON, tenant, network.subnet_id),
        Subject(draft, "router", NEUTRON, tenant, network.router_id),
    )
