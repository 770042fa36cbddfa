"""The size of a resource as a fact states it: the simulator's own view, in exact numbers."""

from __future__ import annotations

from decimal import Decimal

from harness.month.catalog import Flavor
from harness.month.model import Size
from harness.month.resources import Balancer, Image, Volume

_GIBIBYTE = 1 << 30
_MEBIBYTES = 1024

FLOATING_IP: Size = {"ip_version": 4}
#: A balancer's size until the update that brings its listeners and pools.
BARE_BALANCER: Size = {"listeners": 0, "pools": 0}


def of_flavor(flavor: Flavor) -> Size:
    """Return the size of an instance of a flavor."""
    return {
        "vcpus": flavor.vcpus,
        "ram_gb": flavor.memory_mb // _MEBIBYTES,
        "disk_gb": flavor.root_gb + flavor.ephemeral_gb,
        "flavor": flavor.name,
    }


def of_volume(volume: Volume) -> Size:
    """Return the current size of a volume."""
    return {"size_gb": volume.size_gb, "type": volume.volume_type}


def of_image(image: Image) -> Size:
    """Return the size of an image in gibibytes, a whole number of quarters."""
    return {"size_gb": Decimal(image.size) / _GIBIBYTE}


def of_balancer(balancer: Balancer) -> Size:
    """Return the listeners and pools a balancer holds by now."""
    return {"listeners": balancer.listeners, "pools": balancer.pools}
