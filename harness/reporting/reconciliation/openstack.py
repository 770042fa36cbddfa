"""Asking an OpenStack cloud with openstacksdk."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any, Self

from harness.reporting import instant
from harness.reporting.reconciliation.clouds import Cloud
from harness.reporting.reconciliation.observation import (
    Gone,
    Live,
    Observation,
    ObservationFailed,
    observe,
)

try:
    import openstack
    from keystoneauth1.exceptions import ClientException
    from openstack.exceptions import ConfigException, SDKException
except ModuleNotFoundError as missing:  # pragma: no cover - the extra is there in every test
    raise ObservationFailed(
        "reconciling an OpenStack cloud needs its client: pip install 'tally-harness[openstack]'"
    ) from missing

_STATES = {"stopped": "shutoff", "shelved_offloaded": "shelved", "resized": "active"}
"""Nova's states that events spell otherwise."""

_MOVING = frozenset(
    {
        "creating",
        "deleting",
        "managing",
        "attaching",
        "detaching",
        "reserved",
        "restoring-backup",
        "backing-up",
        "downloading",
        "uploading",
        "retyping",
        "extending",
    }
)
"""Cinder's states that do not last."""

_STORED_IMAGES = frozenset({"active", "deactivated"})
_KIB = 1024
_GIB = 1 << 30


class OpenStack:
    """One OpenStack cloud, by its name in clouds.yaml; the account has to be an administrator's."""

    def __init__(self, cloud: Cloud) -> None:
        """Read clouds.yaml where openstacksdk finds it; nothing is asked yet.

        Raises:
            ObservationFailed: clouds.yaml does not name the cloud.
        """
        self._octavia = cloud.include_octavia
        try:
            self._connection = openstack.connect(cloud=cloud.os_cloud)
        except (ConfigException, SDKException, ClientException) as error:
            raise ObservationFailed(f"connecting to {cloud.os_cloud}: {error}") from error

    def close(self) -> None:
        """Close its HTTP connections."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def observe(self, since: int, at: int, deadline: float) -> Observation:
        """List what the cloud holds, and the servers it deleted after `since`."""
        asked = _Question(deadline)
        compute, storage = self._connection.compute, self._connection.block_storage
        asked(
            "its servers as an administrator",
            lambda: compute.servers(all_projects=True, limit=1, paginated=False),
        )
        live = [
            _server(each)
            for each in asked("its servers", lambda: compute.servers(all_projects=True))
        ]
        types = ["instance", "volume", "floating_ip", "image"]
        live += map(_volume, asked("its volumes", lambda: storage.volumes(all_projects=True)))
        live += map(_floating_ip, asked("its floating IPs", self._connection.network.ips))
        live += _images(asked("its images", self._connection.image.images))
        if self._octavia:
            types.append("loadbalancer")
            balancers = self._connection.load_balancer.load_balancers
            live += map(_balancer, asked("its load balancers", balancers))
        names = {
            ("volume", "type", each.id): each.name
            for each in asked("its volume types", storage.types)
        }
        deleted = asked(
            "its deleted servers",
            lambda: compute.servers(
                all_projects=True, deleted_only=True, changes_since=instant.rfc3339(since)
            ),
        )
        gone = [_deleted(each, at) for each in deleted]
        return observe(live, types=types, gone=gone, size_names=names)


class _Question:
    """Asks for a listing to its end, in time."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline

    def __call__(self, what: str, listing: Callable[[], Iterable[Any]]) -> list[Any]:
        try:
            return list(self._in_time(what, listing()))
        except (SDKException, ClientException) as error:
            raise ObservationFailed(f"asking for {what}: {error}") from error

    def _in_time(self, what: str, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            yield item
            if time.monotonic() > self._deadline:
                raise ObservationFailed(f"asking for {what}: the budget of the run is used up")
        if time.monotonic() > self._deadline:
            raise ObservationFailed(f"asking for {what}: the budget of the run is used up")


def _server(server: Any) -> Live:
    state = str(server.vm_state or "")
    return Live(
        resource_type="instance",
        resource_id=server.id,
        project_id=server.project_id or "",
        state=_STATES.get(state, state),
        size=_flavor(server.flavor or {}),
        created_at=_instant(server.created_at),
        changed_at=_instant(server.updated_at),
        transitional=server.task_state is not None or state == "building",
    )


def _flavor(flavor: Any) -> dict[str, Any] | None:
    """Return the size of a flavor that is embedded in its server, None where it is only named."""
    numbers = [flavor.get(name) for name in ("vcpus", "ram", "disk", "ephemeral")]
    name = flavor.get("original_name")
    if name is None or None in numbers[:3]:
        return None
    vcpus, ram, disk, ephemeral = (int(number or 0) for number in numbers)
    return {
        "vcpus": vcpus,
        "ram_gb": _quotient(ram, _KIB),
        "disk_gb": disk + ephemeral,
        "flavor": name,
    }


def _deleted(server: Any, at: int) -> Gone:
    ended = _instant(server.terminated_at) or _instant(server.updated_at) or at
    return Gone("instance", server.id, ended)


def _volume(volume: Any) -> Live:
    size: dict[str, Any] = {"size_gb": volume.size}
    if volume.volume_type:
        size["type"] = volume.volume_type
    return Live(
        resource_type="volume",
        resource_id=volume.id,
        project_id=volume.project_id or "",
        state=volume.status or "",
        size=size,
        created_at=_instant(volume.created_at),
        changed_at=_instant(volume.updated_at),
        transitional=volume.status in _MOVING,
    )


def _floating_ip(address: Any) -> Live:
    return Live(
        resource_type="floating_ip",
        resource_id=address.id,
        project_id=address.project_id or "",
        state="active",
        size={"ip_version": _ip_version(address.floating_ip_address)},
        created_at=_instant(address.created_at),
        changed_at=_instant(address.updated_at),
    )


def _ip_version(address: str | None) -> int:
    try:
        return ipaddress.ip_address(address or "").version
    except ValueError:
        return 4


def _images(images: Iterable[Any]) -> Iterator[Live]:
    for image in images:
        if image.status in _STORED_IMAGES:
            yield Live(
                resource_type="image",
                resource_id=image.id,
                project_id=image.owner or "",
                state="active",
                size=None if image.size is None else {"size_gb": _quotient(image.size, _GIB)},
                created_at=_instant(image.created_at),
                changed_at=_instant(image.updated_at),
            )


def _balancer(balancer: Any) -> Live:
    return Live(
        resource_type="loadbalancer",
        resource_id=balancer.id,
        project_id=balancer.project_id or "",
        state="active",
        size={
            "listeners": len(balancer.listeners or ()),
            "pools": len(balancer.pools or ()),
        },
        created_at=_instant(balancer.created_at),
        changed_at=_instant(balancer.updated_at),
        transitional=str(balancer.provisioning_status or "").startswith("PENDING_"),
    )


def _quotient(dividend: int, divisor: int) -> int | Decimal:
    """Divide exactly, as a whole number where it is one."""
    if dividend % divisor == 0:
        return dividend // divisor
    return (Decimal(dividend) / divisor).normalize()


def _instant(text: str | None) -> int | None:
    """Read what the services write: RFC 3339, with or without its zone, which is UTC."""
    if not text:
        return None
    try:
        return instant.parse(text)
    except ValueError:
        try:
            return instant.parse(f"{text}Z")
        except ValueError:
            return None
