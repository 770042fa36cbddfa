"""Creating, extending and removing a load balancer."""

from __future__ import annotations

from harness.month.catalog import OCTAVIA
from harness.month.draft import Draft, Subject
from harness.month.model import Tenant
from harness.month.payloads import octavia
from harness.month.resources import Balancer, FloatingIp, Port
from harness.month.sequences import floating_ips, ports, records, secrets
from harness.month.sizes import BARE_BALANCER, of_balancer
from harness.month.world import Shoot


def create(draft: Draft, shoot: Shoot, instant: int, name: str, listeners: int) -> None:
    """Create a balancer with as many pools as listeners.

    A shoot's first balancer carries its ingress record, and one with several listeners
    terminates TLS and has its certificate stored.
    """
    tenant = shoot.tenant
    first = not shoot.balancers
    balancer = _draw(draft, shoot, name, listeners)
    shoot.balancers.append(balancer)
    ports.create(draft, tenant, balancer.port, instant - 2)
    subject = _subject(draft, tenant, balancer)
    payload = octavia.load_balancer(tenant, balancer)
    subject.book(instant, "create.end", payload, ("active", BARE_BALANCER))
    floating_ips.allocate(draft, tenant, balancer.floating_ip, instant + draft.seconds(2, 10))
    if first:
        record, address = f"*.ingress.{shoot.plan.name}", balancer.floating_ip.address
        shoot.ingress_record = records.publish(draft, shoot.garden, record, address, instant + 12)
    if listeners > 1:
        balancer.certificate = secrets.store(draft, tenant, instant + 20)
    update(draft, tenant, balancer, instant + draft.seconds(60, 300))


def update(draft: Draft, tenant: Tenant, balancer: Balancer, instant: int) -> None:
    """Report an update: the balancer holds its listeners and pools from here on."""
    payload = octavia.load_balancer(tenant, balancer)
    effect = ("active", of_balancer(balancer))
    _subject(draft, tenant, balancer).book(instant, "update.end", payload, effect)


def add_listener(draft: Draft, tenant: Tenant, balancer: Balancer, instant: int) -> None:
    """Give a balancer one listener more."""
    draft.ids.uuid()  # the listener's
    balancer.listeners += 1
    update(draft, tenant, balancer, instant)


def remove(draft: Draft, tenant: Tenant, balancer: Balancer, instant: int) -> int:
    """Release the address at `instant`, then delete the balancer, its port, its certificate.

    Returns:
        The instant the next removal starts at.
    """
    floating_ips.release(draft, tenant, balancer.floating_ip, instant)
    instant += draft.seconds(5, 15)
    payload = octavia.load_balancer(tenant, balancer)
    _subject(draft, tenant, balancer).book(instant, "delete.end", payload, None)
    ports.delete(draft, tenant, balancer.port, instant + 1)
    if balancer.certificate:
        secrets.discard(draft, tenant, balancer.certificate, instant + 3)
    return instant + draft.seconds(5, 15)


def _draw(draft: Draft, shoot: Shoot, name: str, listeners: int) -> Balancer:
    balancer_id, port_id = draft.ids.uuid(), draft.ids.uuid()
    for _ in range(2 * listeners):
        draft.ids.uuid()  # of its listeners and pools, which no notification names
    port = Port(
        port_id=port_id,
        network=shoot.network,
        address=shoot.network.next_address(),
        device_id=f"lb-{balancer_id}",
        device_owner="Octavia",
    )
    floating_ip = FloatingIp(draft.ids.uuid(), draft.world.next_floating_address(), port)
    return Balancer(balancer_id, name, port, floating_ip, listeners, pools=listeners)


def _subject(draft: Draft, tenant: Tenant, balancer: Balancer) -> Subject:
    return Subject(draft, "octavia.loadbalancer", OCTAVIA, tenant, balancer.balancer_id)
