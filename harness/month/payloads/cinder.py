"""Payloads of cinder: volumes and their attachments."""

from __future__ import annotations

from harness.calendar import stamp
from harness.month.catalog import AVAILABILITY_ZONE, VOLUME_HOST
from harness.month.model import Tenant
from harness.month.payloads import Payload
from harness.month.resources import Volume

#: cinder makes the record of a volume this long before the volume is there.
RECORD_LEAD = 8


def reported(tenant: Tenant, volume: Volume, status: str) -> Payload:
    """Return what every notification about a volume carries."""
    return {
        "volume_id": volume.volume_id,
        "tenant_id": tenant.project_id,
        "user_id": tenant.user_id,
        "display_name": volume.name,
        "status": status,
        "size": volume.size_gb,
        "volume_type": volume.volume_type,
        "host": VOLUME_HOST,
        "created_at": stamp(volume.created - RECORD_LEAD),
    }


def created(tenant: Tenant, volume: Volume, status: str) -> Payload:
    """Return what a creation reports; it is launched once it is ``available``."""
    return {
        **reported(tenant, volume, status),
        "availability_zone": AVAILABILITY_ZONE,
        "replication_status": "disabled",
        "launched_at": stamp(volume.created) if status == "available" else None,
    }


def attachment(tenant: Tenant, volume: Volume, status: str) -> Payload:
    """Return what a step of an attach or a detach reports: the attachment held at that moment."""
    return {**reported(tenant, volume, status), "volume_attachment": _attachments(volume)}


def deleted(tenant: Tenant, volume: Volume, instant: int) -> Payload:
    """Return what the end of a deletion reports."""
    return {**reported(tenant, volume, "deleted"), "deleted_at": stamp(instant)}


def _attachments(volume: Volume) -> list[Payload]:
    attachment = volume.attachment
    if attachment is None:
        return []
    return [
        {
            "attach_mode": "rw",
            "attach_status": "attached",
            "attach_time": stamp(attachment.attached_at),
            "attached_host": attachment.host,
            "id": attachment.attachment_id,
            "instance_uuid": attachment.instance_id,
            "mountpoint": attachment.device,
            "volume_id": volume.volume_id,
        }
    ]
