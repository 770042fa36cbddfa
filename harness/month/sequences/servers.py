"""Booting and removing an instance."""

from __future__ import annotations

from harness.calendar.instant import midnight
from harness.month.catalog import SCHEDULER
from harness.month.draft import Draft, Effect, Subject
from harness.month.model import Tenant
from harness.month.payloads import nova
from harness.month.resources import Instance, Network, Port
from harness.month.sequences import ports, volumes
from harness.month.sizes import of_flavor

_PROGRESS = (
    (15, ("scheduling", "networking")),
    (10, ("networking", "block_device_mapping")),
    (5, ("block_device_mapping", "spawning")),
)


def subject(draft: Draft, tenant: Tenant, instance: Instance) -> Subject:
    """Return what nova reports an instance as."""
    return Subject(draft, "compute.instance", instance.publisher, tenant, instance.instance_id)


def standing(instance: Instance, state: str) -> Effect:
    """Return the effect of being in `state` with the current flavor."""
    return state, of_flavor(instance.flavor)


def boot(draft: Draft, tenant: Tenant, instance: Instance, network: Network) -> None:
    """Create an instance on a network; the anchor is the instant of its creation."""
    created = instance.created
    port = instance.port = Port(
        port_id=draft.noise_ids.uuid(),
        network=network,
        address=network.next_address(),
        device_id=instance.instance_id,
        device_owner="compute:nova",
        host=instance.host,
    )
    scheduler = Subject(
        draft, "scheduler.select_destinations", SCHEDULER, tenant, instance.instance_id
    )
    request = nova.scheduled(tenant, instance)
    scheduler.note(created - 25, "start", request)
    scheduler.note(created - 24, "end", request)
    server = subject(draft, tenant, instance)
    payload = nova.created(draft.cloud, tenant, instance, "building")
    server.note(created - 20, "create.start", payload)
    for lead, tasks in _PROGRESS:
        until = created - lead
        server.note(until, "update", nova.updated(tenant, instance, "building", tasks, until))
    ports.create(draft, tenant, port, created - 17)
    ports.bind(draft, tenant, port, created - 12)
    payload = nova.created(draft.cloud, tenant, instance, "active")
    server.book(created, "create.end", payload, standing(instance, "active"))


def remove(draft: Draft, tenant: Tenant, instance: Instance, instant: int) -> None:
    """Delete an instance, and detach the volumes it still holds.

    The update and the audit before it report an active instance up to the deletion itself.
    """
    server = subject(draft, tenant, instance)
    tasks = (None, "deleting")
    server.note(instant - 5, "update", nova.updated(tenant, instance, "active", tasks, instant))
    base = nova.created(draft.cloud, tenant, instance, "active")
    server.note(instant - 4, "exists", nova.existing(base, midnight(instant), instant))
    payload = nova.shelved(tenant, instance, "active")
    server.note(instant - 3, "delete.start", payload)
    server.note(instant - 2, "shutdown.start", payload)
    server.note(instant - 1, "shutdown.end", payload)
    server.book(instant, "delete.end", nova.deleted(tenant, instance, instant), None)
    if instance.port:
        ports.delete(draft, tenant, instance.port, instant + 1)
    for volume in (*instance.volumes, instance.root):
        if volume and volume.attachment:
            volumes.detach(draft, tenant, volume, instant + 3)
