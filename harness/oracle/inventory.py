"""The inventory: the cloud at one instant, as gauges under the OpenStack exporter's names."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal

from harness.month import catalog
from harness.month.model import Month
from harness.oracle.live import clamp, live
from harness.oracle.model import Interval, Oracle
from harness.oracle.sample import Sample

#: The state an oracle states to nova's own word for it.
VM_STATES = {"active": "active", "shutoff": "stopped", "shelved": "shelved_offloaded"}

#: Flavor name to flavor id.
FLAVOR_IDS = {flavor.name: flavor.flavor_id for flavor in (*catalog.FLAVORS, catalog.DISKLESS)}

#: What every project may use; the simulated world has no quota, but panels divide by one.
MOST_INSTANCES = 100
MOST_VCPUS = 400
MOST_MEMORY_MB = 819200

_TOTALS = {
    "openstack_nova_total_vms": "instance",
    "openstack_cinder_volumes": "volume",
    "openstack_neutron_floating_ips": "floating_ip",
    "openstack_glance_images": "image",
    "openstack_loadbalancer_total_loadbalancers": "loadbalancer",
}

_NONE: Mapping[str, str] = {}


class Inventory:
    """The inventory of a month at any instant.

    Besides the oracle it reads routers, which nothing bills, off the schedule.
    """

    def __init__(self, month: Month, oracle: Oracle) -> None:
        """Take what `month` and its `oracle` hold."""
        self._oracle = oracle
        self._tenants = [(tenant.name, tenant.project_id) for tenant in month.tenants]
        self._routers = [
            (
                transition.instant,
                transition.event_type,
                transition.resource_id,
                transition.project_id,
            )
            for transition in month.schedule
            if transition.event_type in {"router.create.end", "router.delete.end"}
        ]

    def at(self, instant: float) -> list[Sample]:
        """Return every gauge at `instant` (behind the month: at its end), in a fixed order."""
        moment = clamp(self._oracle, instant)
        stamp = int(moment)
        return [Sample(stamp, name, labels, value) for name, labels, value in self._gauges(moment)]

    def _gauges(self, moment: float) -> Iterator[tuple[str, Mapping[str, str], int]]:
        totals: Counter[str] = Counter()
        used: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
        for resource, interval in live(self._oracle, moment):
            totals[resource.resource_type] += 1
            if resource.resource_type == "instance":
                sums = used[interval.project_id]
                sums[0] += 1
                sums[1] += whole(interval, "vcpus")
                sums[2] += whole(interval, "ram_gb", 1024)
            yield from _GAUGES[resource.resource_type](resource.resource_id, interval)
        for router, project in self._live_routers(moment):
            labels = {"id": router, "project_id": project, "status": "ACTIVE"}
            yield "openstack_neutron_router", labels, 1
        for name, project in self._tenants:
            yield from _limits(name, project, used.get(project, (0, 0, 0)))
        yield "openstack_identity_projects", _NONE, len(self._tenants)
        for series, resource_type in _TOTALS.items():
            yield series, _NONE, totals[resource_type]

    def _live_routers(self, moment: float) -> Iterator[tuple[str, str]]:
        routers: dict[str, str] = {}
        for instant, event_type, router, project in self._routers:
            if instant > moment:
                break
            if event_type == "router.create.end":
                routers[router] = project
            else:
                routers.pop(router, None)
        yield from routers.items()


def whole(interval: Interval, member: str, factor: int = 1) -> int:
    """Return a size member times `factor`, the integer part; 0 where it is no number."""
    value = interval.size.get(member)
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return int(value * factor)
    return 0


def text(interval: Interval, member: str) -> str:
    """Return a size member that is a text; empty where it is none."""
    value = interval.size.get(member)
    return value if isinstance(value, str) else ""


_Gauges = Iterator[tuple[str, Mapping[str, str], int]]


def _floating_ip(name: str, interval: Interval) -> _Gauges:
    labels = {"id": name, "project_id": interval.project_id, "status": "ACTIVE"}
    yield "openstack_neutron_floating_ip", labels, 1


def _image(name: str, interval: Interval) -> _Gauges:
    labels = {"id": name, "name": name, "tenant_id": interval.project_id}
    yield "openstack_glance_image_bytes", labels, whole(interval, "size_gb", 1 << 30)


def _instance(name: str, interval: Interval) -> _Gauges:
    labels = {
        "id": name,
        "uuid": name,
        "name": name,
        "tenant_id": interval.project_id,
        "status": VM_STATES.get(interval.state, ""),
        "flavor_id": FLAVOR_IDS.get(text(interval, "flavor"), ""),
    }
    yield "openstack_nova_server_status", labels, 1


def _loadbalancer(name: str, interval: Interval) -> _Gauges:
    labels = {
        "id": name,
        "name": name,
        "project_id": interval.project_id,
        "provisioning_status": "ACTIVE",
        "operating_status": "ONLINE",
    }
    yield "openstack_loadbalancer_loadbalancer_status", labels, 1


def _volume(name: str, interval: Interval) -> _Gauges:
    kind = text(interval, "type")
    status = {
        "id": name,
        "name": name,
        "tenant_id": interval.project_id,
        "status": interval.state,
        "volume_type": kind,
    }
    yield "openstack_cinder_volume_status", status, 1
    size = {"id": name, "name": name, "tenant_id": interval.project_id, "volume_type": kind}
    yield "openstack_cinder_volume_gb", size, whole(interval, "size_gb")


_GAUGES: Mapping[str, Callable[[str, Interval], _Gauges]] = {
    "floating_ip": _floating_ip,
    "image": _image,
    "instance": _instance,
    "loadbalancer": _loadbalancer,
    "volume": _volume,
}


def _limits(name: str, project: str, used: Sequence[int]) -> _Gauges:
    tenant = {"tenant_id": project}
    instances, vcpus, memory = used
    yield "openstack_nova_limits_instances_used", tenant, instances
    yield "openstack_nova_limits_instances_max", tenant, MOST_INSTANCES
    yield "openstack_nova_limits_vcpus_used", tenant, vcpus
    yield "openstack_nova_limits_vcpus_max", tenant, MOST_VCPUS
    yield "openstack_nova_limits_memory_used", tenant, memory
    yield "openstack_nova_limits_memory_max", tenant, MOST_MEMORY_MB
    info = {"id": project, "name": name, "domain_id": "default", "enabled": "true"}
    yield "openstack_identity_project_info", info, 1
