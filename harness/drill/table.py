"""The order in which skip counters are shown: most frequent first, ties in a fixed order."""

from __future__ import annotations

from collections.abc import Mapping

#: Types that tie, in the order they are shown. A type that is not here comes behind, by its name.
_ORDER = (
    "compute.instance.update",
    "compute.instance.exists",
    "port.create.start",
    "port.create.end",
    "compute.instance.create.start",
    "scheduler.select_destinations.start",
    "scheduler.select_destinations.end",
    "port.update.start",
    "port.update.end",
    "port.delete.start",
    "port.delete.end",
    "compute.instance.delete.start",
    "compute.instance.shutdown.start",
    "compute.instance.shutdown.end",
    "volume.attach.start",
    "volume.attach.end",
    "volume.detach.start",
    "volume.detach.end",
    "volume.create.start",
    "identity.authenticate",
    "volume.delete.start",
    "compute.instance.power_off.start",
    "compute.instance.power_on.start",
    "volume.resize.start",
    "compute.instance.shelve_offload.start",
    "compute.instance.unshelve.start",
    "image.create",
    "image.prepare",
    "image.activate",
    "audit.http.request",
    "audit.http.response",
    "compute.instance.resize.start",
    "compute.instance.finish_resize.start",
    "compute.instance.resize.end",
    "compute.instance.resize.confirm.start",
    "dns.recordset.create",
    "security_group_rule.create.start",
    "security_group_rule.create.end",
    "network.create.start",
    "network.create.end",
    "subnet.create.start",
    "subnet.create.end",
    "router.create.start",
    "router.create.end",
    "router.interface.create",
    "identity.project.created",
    "identity.user.created",
    "keypair.import.start",
    "keypair.import.end",
    "security_group.create.start",
    "security_group.create.end",
    "volume.transfer.accept.start",
    "dns.zone.create",
    "dns.recordset.delete",
    "compute.instance.resize.revert.start",
    "keypair.delete.start",
    "keypair.delete.end",
    "security_group.delete.start",
    "security_group.delete.end",
    "router.interface.delete",
    "router.delete.start",
    "router.delete.end",
    "subnet.delete.start",
    "subnet.delete.end",
    "network.delete.start",
    "network.delete.end",
)
_RANK = {name: rank for rank, name in enumerate(_ORDER)}


def in_table_order(counters: Mapping[str, int]) -> dict[str, int]:
    """Sort counters by count, descending; ties by the fixed order, then by name."""
    ordered = sorted(
        counters.items(), key=lambda item: (-item[1], _RANK.get(item[0], len(_RANK)), item[0])
    )
    return dict(ordered)
