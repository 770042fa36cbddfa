"""What the fake OpenStack services say of a resource, each in its own spelling of instants."""

from __future__ import annotations

import time
from typing import Any

from harness.calendar import rfc3339
from harness.cloud.identity import USER_ID
from harness.errors import HarnessError
from harness.month import catalog
from harness.month.catalog import Flavor
from harness.oracle.inventory import VM_STATES, text, whole
from harness.oracle.model import Interval, Oracle, Resource

_FLAVORS = {flavor.name: flavor for flavor in (*catalog.FLAVORS, catalog.DISKLESS)}
_NETWORK = "b7d3c1a9-5e28-4f60-9c14-8a3b5d7e2f91"
_ADDRESS = f"{catalog.FLOATING_PREFIX}.1"

#: Volume type name to id, in the order cinder lists them.
_VOLUME_TYPES = {
    "ssd": "2f6d8b1a-4c3e-4f70-9a52-7e1c3b5d9f08",
    "hdd": "5a9e7c3b-6d1f-4b82-8c64-0f2e4a6c8b1d",
    "standard": "b3c1e5f7-8a29-4d46-a7e0-1d3f5b7c9e2a",
}

Document = dict[str, Any]


class UnknownFlavor(HarnessError):
    """An oracle names a flavor the simulated world does not hold."""


def check_flavors(oracle: Oracle) -> None:
    """Refuse an oracle whose instances name other flavors than the simulated world's.

    Raises:
        UnknownFlavor: names the first such flavor.
    """
    for resource in oracle.resources:
        for interval in resource.intervals if resource.resource_type == "instance" else ():
            name = text(interval, "flavor")
            if name not in _FLAVORS:
                raise UnknownFlavor(
                    f'the fake OpenStack API cannot list flavor "{name}", which an instance of the '
                    f"oracle has; it knows {', '.join(_FLAVORS)}"
                )


def flavors() -> list[Document]:
    """Return nova's list of flavors."""
    return [
        {
            "id": flavor.flavor_id,
            "name": flavor.name,
            "ram": flavor.memory_mb,
            "disk": flavor.root_gb,
            "vcpus": flavor.vcpus,
            "swap": "",
            "rxtx_factor": 1,
            "OS-FLV-EXT-DATA:ephemeral": flavor.ephemeral_gb,
            "OS-FLV-DISABLED:disabled": False,
            "os-flavor-access:is_public": True,
            "description": None,
        }
        for flavor in _FLAVORS.values()
    ]


def volume_types() -> list[Document]:
    """Return cinder's list of volume types."""
    return [
        {
            "id": identifier,
            "name": name,
            "description": None,
            "is_public": True,
            "os-volume-type-access:is_public": True,
            "qos_specs_id": None,
            "extra_specs": {},
        }
        for name, identifier in _VOLUME_TYPES.items()
    ]


def server(resource: Resource, interval: Interval) -> Document:
    """Return what nova lists of a live instance; a stopped one is ``ACTIVE`` as well."""
    created = resource.intervals[0].start
    return {
        "id": resource.resource_id,
        "name": resource.resource_id,
        "status": "ACTIVE",
        "tenant_id": interval.project_id,
        "user_id": USER_ID,
        "created": rfc3339(created),
        "updated": rfc3339(interval.start),
        "hostId": "5c1f9a3b7d2e4680a9c3b5d7e1f2a4c6",
        "OS-EXT-STS:task_state": None,
        "OS-EXT-STS:vm_state": VM_STATES.get(interval.state, ""),
        "OS-EXT-STS:power_state": 1,
        "OS-EXT-AZ:availability_zone": catalog.AVAILABILITY_ZONE,
        "OS-SRV-USG:launched_at": _micros(created),
        "OS-SRV-USG:terminated_at": None,
        "flavor": _embedded(_FLAVORS[text(interval, "flavor")]),
        "image": {"id": "0b1c2d3e4f50461783940516273849ab"},
        "addresses": {},
        "security_groups": [{"name": "default"}],
        "metadata": {},
    }


def deleted_server(resource: Resource, interval: Interval) -> Document:
    """Return what nova lists of an instance that is gone; `interval` is its last one."""
    return server(resource, interval) | {
        "status": "DELETED",
        "OS-EXT-STS:vm_state": "deleted",
        "OS-EXT-STS:power_state": 0,
        "OS-SRV-USG:terminated_at": _micros(interval.end),
    }


def volume(resource: Resource, interval: Interval) -> Document:
    """Return what cinder lists of a live volume."""
    return {
        "id": resource.resource_id,
        "name": resource.resource_id,
        "description": None,
        "status": interval.state,
        "size": whole(interval, "size_gb"),
        "volume_type": text(interval, "type"),
        "bootable": "false",
        "encrypted": False,
        "multiattach": False,
        "availability_zone": catalog.AVAILABILITY_ZONE,
        "created_at": _micros(resource.intervals[0].start),
        "updated_at": _micros(interval.start),
        "os-vol-tenant-attr:tenant_id": interval.project_id,
        "os-vol-host-attr:host": catalog.VOLUME_HOST,
        "user_id": USER_ID,
        "attachments": [],
        "metadata": {},
    }


def floating_ip(resource: Resource, interval: Interval) -> Document:
    """Return what neutron lists of a live floating IP."""
    return {
        "id": resource.resource_id,
        "status": "ACTIVE",
        "floating_ip_address": _ADDRESS,
        "floating_network_id": _NETWORK,
        "fixed_ip_address": None,
        "port_id": None,
        "router_id": None,
        "project_id": interval.project_id,
        "tenant_id": interval.project_id,
        "created_at": _naive(resource.intervals[0].start),
        "updated_at": _naive(interval.start),
        "revision_number": 1,
        "description": "",
        "tags": [],
    }


def image(resource: Resource, interval: Interval) -> Document:
    """Return what glance lists of a live image."""
    name = resource.resource_id
    size = whole(interval, "size_gb", 1 << 30)
    return {
        "id": name,
        "name": name,
        "status": "active",
        "visibility": "private",
        "owner": interval.project_id,
        "size": size,
        "virtual_size": size * 5,
        "checksum": name.replace("-", ""),
        "container_format": "bare",
        "disk_format": "qcow2",
        "min_disk": 5,
        "min_ram": 512,
        "protected": False,
        "os_hidden": False,
        "created_at": rfc3339(resource.intervals[0].start),
        "updated_at": rfc3339(interval.start),
        "file": f"/v2/images/{name}/file",
        "schema": "/v2/schemas/image",
        "tags": [],
    }


def loadbalancer(resource: Resource, interval: Interval) -> Document:
    """Return what octavia lists of a live load balancer, its listeners and pools by name."""
    name = resource.resource_id
    return {
        "id": name,
        "name": name,
        "description": "",
        "provisioning_status": "ACTIVE",
        "operating_status": "ONLINE",
        "admin_state_up": True,
        "project_id": interval.project_id,
        "vip_address": _ADDRESS,
        "vip_network_id": _NETWORK,
        "vip_subnet_id": "c8e4d2b0-6f39-4a71-8d25-9b4c6e8a1f30",
        "vip_port_id": "4f2a8c60-1d75-4b39-a8e2-3c6b9d1f5a07",
        "provider": "amphora",
        "availability_zone": None,
        "flavor_id": None,
        "created_at": _naive(resource.intervals[0].start),
        "updated_at": _naive(interval.start),
        "listeners": _numbered(name, "listener", whole(interval, "listeners")),
        "pools": _numbered(name, "pool", whole(interval, "pools")),
        "tags": [],
    }


def _numbered(name: str, what: str, count: int) -> list[Document]:
    return [{"id": f"{name}-{what}-{number}"} for number in range(1, count + 1)]


def _embedded(flavor: Flavor) -> Document:
    return {
        "id": flavor.flavor_id,
        "original_name": flavor.name,
        "vcpus": flavor.vcpus,
        "ram": flavor.memory_mb,
        "disk": flavor.root_gb,
        "ephemeral": flavor.ephemeral_gb,
        "swap": 0,
        "disabled": False,
        "is_public": True,
        "extra_specs": {},
    }


def _micros(instant: int) -> str:
    return f"{_naive(instant)}.000000"


def _naive(instant: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(instant))
