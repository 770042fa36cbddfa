"""What the simulated cloud is made of, whatever the seed: flavors, hosts, names, publishers."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

AVAILABILITY_ZONE = "nova"
VOLUME_HOST = "storage-01@ceph#ceph"
FLOATING_PREFIX = "203.0.113"
FLOATING_POOL = 254
API_PREFIX = "198.51.100"
INITIATOR_ADDRESS = "198.51.100.200"

HOSTS = ("compute-01", "compute-02", "compute-03", "compute-04")
INSTANCE_NAMES = ("web", "db", "batch", "cache")
CLASSIC_IMAGES = ("debian-13-golden", "ubuntu-24.04")
GARDENER_IMAGE = "gardenlinux-1592.4"
CI_IMAGE = "ubuntu-24.04-ci"

VOLUME_TYPES = ("ssd", "hdd", "standard")
CLASSIC_VOLUME_SIZES = (50, 100, 200)
CLAIM_SIZES = (10, 20, 50)
ROOT_VOLUME_SIZE = 50
ROOT_VOLUME_TYPE = "ssd"
#: A quarter of a gibibyte, the step of image sizes, in bytes.
IMAGE_STEP = 1 << 28

CLASSIC_PROJECTS = (1, 2, 3)

SCHEDULER = "scheduler.controller-01"
API = "api.controller-01"
CINDER = "volume.storage-01@ceph"
NEUTRON = "network.neutron-01"
GLANCE = "image.glance-01"
KEYSTONE = "identity.keystone-01"
DESIGNATE = "central.designate-01"
BARBICAN = "barbican.barbican-01"
#: Octavia names no publisher.
OCTAVIA = ""


class Flavor(Struct, frozen=True):
    """A size of instance.

    Attributes:
        name: as a payload's ``instance_type``.
        vcpus: virtual processors.
        memory_mb: memory in MiB.
        root_gb: root disk.
        ephemeral_gb: second disk.
        type_id: nova's internal number.
        flavor_id: the id the API shows.
    """

    name: str
    vcpus: int
    memory_mb: int
    root_gb: int
    ephemeral_gb: int
    type_id: int
    flavor_id: str


SMALL = Flavor("m1.small", 1, 2048, 20, 0, 2, "1b7f4c20-3e5a-4d18-8f92-2a6c9b0d7e41")
MEDIUM = Flavor("m1.medium", 2, 4096, 40, 0, 3, "4e6a8d31-5c92-4b07-a13d-8f2b6c4e0a95")
LARGE = Flavor("m1.large", 4, 8192, 40, 40, 5, "8d2c1e40-0b7a-4a3e-9d61-5b8c7a2f1e93")
XLARGE = Flavor("m1.xlarge", 8, 16384, 160, 0, 7, "c05a7f92-1d4b-4e63-b872-3a9d5c1e8f04")
#: For workers with a root volume: it brings no disk.
DISKLESS = Flavor("c1.large", 4, 8192, 0, 0, 9, "e2d4b6a8-0c1e-4f3a-95b7-6d8f0a2c4e61")

#: In draw order.
FLAVORS = (SMALL, MEDIUM, LARGE, XLARGE)
RUNNER_FLAVORS = (SMALL, MEDIUM)
FLAVOR_IDS = {flavor.type_id: flavor.flavor_id for flavor in (*FLAVORS, DISKLESS)}


class ShootPlan(Struct, frozen=True):
    """What sets a shoot apart from the others.

    Attributes:
        name: within its Gardener project.
        flavor: of its workers.
        boots_from_volume: its workers have a root volume instead of an image.
        hibernates: sleeps at night and on weekends.
        transient: lives for part of the month only.
    """

    name: str
    flavor: Flavor
    boots_from_volume: bool = False
    hibernates: bool = False
    transient: bool = False


#: Gardener project to its shoots; the order gives the shoots their index.
GARDENER_PROJECTS = {
    "alpha": (
        ShootPlan("api-prod", XLARGE),
        ShootPlan("api-dev", DISKLESS, boots_from_volume=True, hibernates=True),
    ),
    "beta": (ShootPlan("batch", LARGE, transient=True),),
}

_EXCHANGES = {
    "compute.": "nova",
    "scheduler.": "nova",
    "keypair.": "nova",
    "volume.": "openstack",
    "floatingip.": "neutron",
    "network.": "neutron",
    "subnet.": "neutron",
    "router.": "neutron",
    "port.": "neutron",
    "security_group": "neutron",  # security_group_rule. as well
    "image.": "glance",
    "octavia.": "octavia",
    "identity.": "keystone",
    "dns.": "designate",
    "audit.": "barbican",
}

_RESOURCE_TYPES = {
    "compute.instance.": "instance",
    "volume.": "volume",
    "floatingip.": "floating_ip",
    "image.": "image",
    "octavia.loadbalancer.": "loadbalancer",
}


@cache
def exchange_of(event_type: str) -> str:
    """Return the exchange an event type is published to."""
    return _by_prefix(_EXCHANGES, event_type)


@cache
def resource_type_of(event_type: str) -> str:
    """Return the type of resource a billable event type is about."""
    return _by_prefix(_RESOURCE_TYPES, event_type)


def _by_prefix(table: dict[str, str], event_type: str) -> str:
    for prefix, value in table.items():
        if event_type.startswith(prefix):
            return value
    raise LookupError(f"{event_type} is no event type of the simulated cloud")
