"""Payloads of glance: images."""

from __future__ import annotations

from harness.calendar import stamp
from harness.month.model import Tenant
from harness.month.payloads import Payload
from harness.month.resources import Image

_MINIMUM = {"min_disk": 5, "min_ram": 512}
_VIRTUAL_FACTOR = 5


def created(tenant: Tenant, image: Image) -> Payload:
    """Return the announcement of an image whose data is still to come."""
    return {**_queued(tenant, image), "status": "queued"}


def prepared(tenant: Tenant, image: Image) -> Payload:
    """Return what the start of an upload reports."""
    return {**_queued(tenant, image), **_MINIMUM, "status": "saving", "checksum": None}


def uploaded(tenant: Tenant, image: Image, instant: int) -> Payload:
    """Return what the end of an upload at `instant` and the activation behind it report."""
    return {
        **_live(tenant, image),
        **_MINIMUM,
        "status": "active",
        "size": image.size,
        "virtual_size": _VIRTUAL_FACTOR * image.size,
        "checksum": image.image_id.replace("-", ""),
        "updated_at": stamp(instant),
    }


def deleted(tenant: Tenant, image: Image, instant: int) -> Payload:
    """Return what a deletion reports."""
    return {
        **_core(tenant, image),
        "status": "deleted",
        "size": image.size,
        "deleted": True,
        "deleted_at": stamp(instant),
    }


def _queued(tenant: Tenant, image: Image) -> Payload:
    return {
        **_live(tenant, image),
        "size": None,
        "virtual_size": None,
        "updated_at": stamp(image.created),
    }


def _live(tenant: Tenant, image: Image) -> Payload:
    return {
        **_core(tenant, image),
        "visibility": "private",
        "protected": False,
        "created_at": stamp(image.created),
    }


def _core(tenant: Tenant, image: Image) -> Payload:
    return {
        "id": image.image_id,
        "owner": tenant.project_id,
        "name": image.name,
        "disk_format": "qcow2",
        "container_format": "bare",
    }
