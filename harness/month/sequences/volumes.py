"""The life of a volume."""

from __future__ import annotations

from harness.month.catalog import CINDER
from harness.month.draft import Draft, Effect, Subject
from harness.month.model import Tenant
from harness.month.payloads import cinder
from harness.month.resources import Attachment, Instance, Volume
from harness.month.sizes import of_volume


def subject(draft: Draft, tenant: Tenant, volume: Volume) -> Subject:
    """Return what cinder reports a volume as, on behalf of `tenant`."""
    return Subject(draft, "volume", CINDER, tenant, volume.volume_id)


def standing(volume: Volume) -> Effect:
    """Return the effect of being what the volume is just now."""
    return volume.status, of_volume(volume)


def create(draft: Draft, tenant: Tenant, volume: Volume) -> None:
    """Create a volume; the anchor is the instant of its creation."""
    cinder_volume = subject(draft, tenant, volume)
    started = volume.created - cinder.RECORD_LEAD
    cinder_volume.note(started, "create.start", cinder.created(tenant, volume, "creating"))
    payload = cinder.created(tenant, volume, "available")
    cinder_volume.book(volume.created, "create.end", payload, standing(volume))


def attach(
    draft: Draft, tenant: Tenant, volume: Volume, instance: Instance | None, instant: int
) -> None:
    """Attach a volume to an instance, or to nobody."""
    attachment = Attachment(
        attachment_id=draft.noise_ids.uuid(),
        attached_at=instant,
        instance_id=instance.instance_id if instance else None,
        host=instance.host if instance else None,
        device="/dev/vda" if instance and instance.root is volume else "/dev/vdb",
    )
    attached = subject(draft, tenant, volume)
    attached.note(instant, "attach.start", cinder.attachment(tenant, volume, "attaching"))
    volume.attachment = attachment
    attached.note(instant + 1, "attach.end", cinder.attachment(tenant, volume, "in-use"))


def detach(draft: Draft, tenant: Tenant, volume: Volume, instant: int) -> None:
    """Detach a volume from whatever holds it."""
    detached = subject(draft, tenant, volume)
    detached.note(instant, "detach.start", cinder.attachment(tenant, volume, "detaching"))
    volume.attachment = None
    detached.note(instant + 1, "detach.end", cinder.attachment(tenant, volume, "available"))


def double(draft: Draft, tenant: Tenant, volume: Volume, instant: int) -> None:
    """Extend a volume to twice its size."""
    extended = subject(draft, tenant, volume)
    extended.note(instant - 5, "resize.start", cinder.reported(tenant, volume, "extending"))
    volume.size_gb *= 2
    volume.growths += 1
    payload = cinder.reported(tenant, volume, volume.status)
    extended.book(instant, "resize.end", payload, standing(volume))


def retype(draft: Draft, tenant: Tenant, volume: Volume, volume_type: str, instant: int) -> None:
    """Move a volume to another type; there is no first half to that."""
    volume.volume_type = volume_type
    payload = cinder.reported(tenant, volume, volume.status)
    subject(draft, tenant, volume).book(instant, "retype", payload, standing(volume))


def transfer(draft: Draft, giver: Tenant, taker: Tenant, volume: Volume, instant: int) -> None:
    """Hand a volume over; the taker accepts it, and it is the giver's until then."""
    accepted = subject(draft, taker, volume)
    payload = cinder.reported(giver, volume, volume.status)
    accepted.note(instant - 1, "transfer.accept.start", payload)
    payload = cinder.reported(taker, volume, volume.status)
    accepted.book(instant, "transfer.accept.end", payload, standing(volume))


def delete(draft: Draft, tenant: Tenant, volume: Volume, instant: int) -> None:
    """Delete a volume, detaching it first when something still holds it."""
    if volume.attachment:
        detach(draft, tenant, volume, instant - 3)
    deleted = subject(draft, tenant, volume)
    deleted.note(instant - 1, "delete.start", cinder.reported(tenant, volume, "deleting"))
    deleted.book(instant, "delete.end", cinder.deleted(tenant, volume, instant), None)
