"""Payloads of nova: instances, scheduling, keypairs.

An instance's flavor is the one of the moment: a resize shows in what is reported after it.
"""

from __future__ import annotations

from harness.calendar import stamp
from harness.calendar.instant import midnight
from harness.month.catalog import AVAILABILITY_ZONE, Flavor
from harness.month.model import Tenant
from harness.month.payloads import Payload
from harness.month.resources import Instance

#: nova makes the record of a server this long before the server is there.
_RECORD_LEAD = 30


def created(cloud: str, tenant: Tenant, instance: Instance, state: str) -> Payload:
    """Return what a creation reports: everything known of the instance.

    It has been launched once its `state` is no longer ``building``.
    """
    flavor = instance.flavor
    image = instance.image_id
    return {
        **_with_disks(tenant, instance, state),
        "disk_gb": flavor.root_gb + flavor.ephemeral_gb,
        "instance_type_id": flavor.type_id,
        "instance_flavor_id": flavor.flavor_id,
        "availability_zone": AVAILABILITY_ZONE,
        "image_ref_url": f"http://glance.{cloud}.example:9292/images/{image}" if image else "",
        "created_at": stamp(instance.created - _RECORD_LEAD),
        "launched_at": None if state == "building" else stamp(instance.created),
    }


def deleted(tenant: Tenant, instance: Instance, instant: int) -> Payload:
    """Return what the end of a deletion reports."""
    return {
        **_core(tenant, instance, "deleted"),
        **_disks(instance.flavor),
        "created_at": stamp(instance.created - _RECORD_LEAD),
        "deleted_at": stamp(instant),
        "terminated_at": stamp(instant),
    }


def resized(tenant: Tenant, instance: Instance, state: str) -> Payload:
    """Return what a step of a resize reports."""
    return {
        **_with_disks(tenant, instance, state),
        "instance_type_id": instance.flavor.type_id,
        "availability_zone": AVAILABILITY_ZONE,
        "created_at": stamp(instance.created - _RECORD_LEAD),
        "launched_at": stamp(instance.created),
    }


def powered(tenant: Tenant, instance: Instance, state: str) -> Payload:
    """Return what a power cycle reports: no disks, no times."""
    return {**_core(tenant, instance, state), "state_description": ""}


def shelved(tenant: Tenant, instance: Instance, state: str) -> Payload:
    """Return what shelving and the steps of a deletion report."""
    return _with_disks(tenant, instance, state)


def updated(
    tenant: Tenant, instance: Instance, state: str, tasks: tuple[str | None, str], until: int
) -> Payload:
    """Return the progress from one task to the next, audited from midnight to `until`."""
    old_task, new_task = tasks
    return {
        **powered(tenant, instance, state),
        **_audit(midnight(until), until),
        "old_state": state,
        "old_task_state": old_task,
        "new_task_state": new_task,
    }


def existing(base: Payload, since: int, until: int) -> Payload:
    """Return the audit of an instance that looks like `base` over ``[since, until)``."""
    return {**base, **_audit(since, until), "image_meta": {}}


def scheduled(tenant: Tenant, instance: Instance) -> Payload:
    """Return what the scheduler is asked for."""
    flavor = instance.flavor
    needs = {"vcpus": flavor.vcpus, "memory_mb": flavor.memory_mb, **_disks(flavor)}
    return {
        "request_spec": {
            "image": {"id": instance.image_id},
            "instance_properties": {
                **needs,
                "availability_zone": AVAILABILITY_ZONE,
                "display_name": instance.name,
                "project_id": tenant.project_id,
                "user_id": tenant.user_id,
                "uuid": instance.instance_id,
            },
            "instance_type": {
                **needs,
                "flavorid": flavor.flavor_id,
                "id": flavor.type_id,
                "name": flavor.name,
            },
            "num_instances": 1,
        }
    }


def keypair(tenant: Tenant, name: str) -> Payload:
    """Return what the import and the deletion of a keypair report."""
    return {"key_name": name, "tenant_id": tenant.project_id, "user_id": tenant.user_id}


def _with_disks(tenant: Tenant, instance: Instance, state: str) -> Payload:
    return {**powered(tenant, instance, state), **_disks(instance.flavor)}


def _core(tenant: Tenant, instance: Instance, state: str) -> Payload:
    flavor = instance.flavor
    return {
        "instance_id": instance.instance_id,
        "tenant_id": tenant.project_id,
        "user_id": tenant.user_id,
        "display_name": instance.name,
        "vcpus": flavor.vcpus,
        "memory_mb": flavor.memory_mb,
        "instance_type": flavor.name,
        "host": instance.host,
        "state": state,
    }


def _disks(flavor: Flavor) -> Payload:
    return {"root_gb": flavor.root_gb, "ephemeral_gb": flavor.ephemeral_gb}


def _audit(since: int, until: int) -> Payload:
    return {
        "audit_period_beginning": stamp(since),
        "audit_period_ending": stamp(until),
        "bandwidth": {},
    }
