"""Oslo notifications to canonical events: the mapping's table, as data in one literal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.collector.event import Event, deterministic_id
from harness.collector.rules import (
    Payload,
    SizeRule,
    SkipRule,
    StateRule,
    fixed_state,
    floating_ip_size,
    image_size,
    instance_size,
    load_balancer_size,
    text_at,
    unsized_image,
    vm_state,
    volume_size,
    volume_status,
)
from harness.oslo.envelope import Envelope

PLATFORM = "openstack"
SOURCE = "collector"


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the table.

    Attributes:
        event_type: the canonical type.
        resource_type: what the notification is about.
        resource_id: dotted payload paths, the first that holds a text counts.
        project_id: dotted payload path; empty where only the request context names the project.
        state: derives ``payload.state``; None leaves it out.
        size: derives ``payload.size``; None leaves it out.
        skipped: tells which notifications of the type are not booked.
    """

    event_type: str
    resource_type: str
    resource_id: tuple[str, ...]
    project_id: str
    state: StateRule | None = None
    size: SizeRule | None = None
    skipped: SkipRule | None = None


_SERVER = (("instance_id",), "tenant_id")
_VOLUME = (("volume_id",), "tenant_id")
_IMAGE = (("id",), "owner")
_BALANCER = (("loadbalancer_id", "id"), "project_id")

_ACTIVE = fixed_state("active")

#: Oslo type to what it is booked as. Adapting to a deployment is an edit of this literal.
MAPPINGS: dict[str, Entry] = {
    "compute.instance.create.end": Entry(
        "compute.instance.create.end", "instance", *_SERVER, vm_state, instance_size
    ),
    "compute.instance.delete.end": Entry("compute.instance.delete.end", "instance", *_SERVER),
    # The source host's resize.end still names the old flavor and has no row.
    "compute.instance.finish_resize.end": Entry(
        "compute.instance.resize.end", "instance", *_SERVER, vm_state, instance_size
    ),
    "compute.instance.resize.confirm.end": Entry(
        "compute.instance.resize.confirm.end", "instance", *_SERVER, vm_state, instance_size
    ),
    "compute.instance.resize.revert.end": Entry(
        "compute.instance.resize.revert.end", "instance", *_SERVER, vm_state, instance_size
    ),
    "compute.instance.shelve_offload.end": Entry(
        "compute.instance.shelve", "instance", *_SERVER, fixed_state("shelved")
    ),
    "compute.instance.unshelve.end": Entry(
        "compute.instance.unshelve", "instance", *_SERVER, _ACTIVE
    ),
    "compute.instance.power_off.end": Entry(
        "compute.instance.power_off", "instance", *_SERVER, fixed_state("shutoff")
    ),
    "compute.instance.power_on.end": Entry(
        "compute.instance.power_on", "instance", *_SERVER, _ACTIVE
    ),
    "volume.create.end": Entry(
        "volume.create.end", "volume", *_VOLUME, fixed_state("available"), volume_size
    ),
    "volume.delete.end": Entry("volume.delete.end", "volume", *_VOLUME),
    "volume.resize.end": Entry("volume.resize.end", "volume", *_VOLUME, volume_status, volume_size),
    "volume.retype": Entry("volume.retype", "volume", *_VOLUME, volume_status, volume_size),
    "volume.transfer.accept.end": Entry(
        "volume.transfer.accept.end", "volume", *_VOLUME, volume_status, volume_size
    ),
    "floatingip.create.end": Entry(
        "floatingip.create.end",
        "floating_ip",
        ("floatingip.id",),
        "floatingip.tenant_id",
        _ACTIVE,
        floating_ip_size,
    ),
    "floatingip.delete.end": Entry("floatingip.delete.end", "floating_ip", ("floatingip_id",), ""),
    "image.upload": Entry("image.create", "image", *_IMAGE, _ACTIVE, image_size),
    # An image announced ahead of its data is left to the upload.
    "image.create": Entry("image.create", "image", *_IMAGE, _ACTIVE, image_size, unsized_image),
    "image.delete": Entry("image.delete", "image", *_IMAGE),
    "octavia.loadbalancer.create.end": Entry(
        "octavia.loadbalancer.create.end", "loadbalancer", *_BALANCER, _ACTIVE, load_balancer_size
    ),
    # Octavia publishes no collections, so an update knows no size.
    "octavia.loadbalancer.update.end": Entry(
        "octavia.loadbalancer.update.end", "loadbalancer", *_BALANCER, _ACTIVE
    ),
    "octavia.loadbalancer.delete.end": Entry(
        "octavia.loadbalancer.delete.end", "loadbalancer", *_BALANCER
    ),
}


def map_notification(envelope: Envelope, cloud: str) -> Event | None:
    """Return the event a notification is booked as, or None when it is skipped.

    Never fails: what the rules cannot read is left out, and the Reporting API refuses the event
    with its reason.

    Args:
        envelope: the notification.
        cloud: name of the installation it comes from.
    """
    entry = MAPPINGS.get(envelope.event_type)
    if entry is None:
        return None
    payload = envelope.payload
    if entry.skipped is not None and entry.skipped(payload):
        return None
    resource_id = next(filter(None, (text_at(payload, path) for path in entry.resource_id)), "")
    facts: dict[str, Any] = {"provider": {"oslo_event_type": envelope.event_type}}
    if entry.size is not None:
        facts["size"] = entry.size(payload)
    if entry.state is not None:
        facts["state"] = entry.state(payload)
    return Event(
        event_id=envelope.message_id
        or deterministic_id(PLATFORM, cloud, resource_id, entry.event_type, envelope.timestamp),
        timestamp=envelope.timestamp,
        event_type=entry.event_type,
        platform=PLATFORM,
        cloud=cloud,
        resource_type=entry.resource_type,
        resource_id=resource_id,
        project_id=_project(entry, payload, envelope),
        source=SOURCE,
        payload=facts,
    )


def _project(entry: Entry, payload: Payload, envelope: Envelope) -> str:
    # The payload describes the resource, the context whoever made the call.
    named = text_at(payload, entry.project_id) if entry.project_id else ""
    return named or envelope.project_id or envelope.tenant_id
