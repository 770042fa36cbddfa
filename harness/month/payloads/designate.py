"""Payloads of designate: zones and record sets."""

from __future__ import annotations

from harness.calendar import stamp
from harness.month.model import Tenant
from harness.month.payloads import Payload
from harness.month.resources import RecordSet, Zone

_ZONE_TTL = 3600
_RECORD_TTL = 300


def zone(tenant: Tenant, zone: Zone, instant: int) -> Payload:
    """Return what the creation of a zone at `instant` reports."""
    return {
        "action": "CREATE",
        "created_at": stamp(instant),
        "email": f"hostmaster@{zone.name.removesuffix('.')}",
        "id": zone.zone_id,
        "name": zone.name,
        "project_id": tenant.project_id,
        "serial": instant,
        "status": "ACTIVE",
        "ttl": _ZONE_TTL,
        "type": "PRIMARY",
        "version": 1,
    }


def record_created(tenant: Tenant, zone: Zone, record: RecordSet, instant: int) -> Payload:
    """Return what the creation of a record set reports."""
    return {**_record(tenant, zone, record, instant), "action": "CREATE", "status": "ACTIVE"}


def record_deleted(tenant: Tenant, zone: Zone, record: RecordSet, instant: int) -> Payload:
    """Return what a deletion reports; its ``created_at`` is the deletion's own instant."""
    return {**_record(tenant, zone, record, instant), "action": "DELETE", "status": "DELETED"}


def _record(tenant: Tenant, zone: Zone, record: RecordSet, instant: int) -> Payload:
    return {
        "created_at": stamp(instant),
        "id": record.record_set_id,
        "name": record.name,
        "project_id": tenant.project_id,
        "records": [record.address],
        "ttl": _RECORD_TTL,
        "type": "A",
        "version": 1,
        "zone_id": zone.zone_id,
        "zone_name": zone.name,
    }
