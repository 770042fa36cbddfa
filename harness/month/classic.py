"""The classic tenants: two images, four instances with volumes and addresses, a spare volume.

The four instances of a project differ by their place: the first is resized for certain and deleted
before the month ends, the second is shelved for certain and its first volume grows and is
retyped, the third gives up its address. The order of the draws is binding: all four lives precede
the first volume, all volumes the first address.
"""

from __future__ import annotations

from harness.calendar.instant import DAY, HOUR
from harness.month import catalog
from harness.month.draft import Draft
from harness.month.lives import live
from harness.month.model import Tenant
from harness.month.resources import FloatingIp, Instance, Volume
from harness.month.sequences import floating_ips, images, servers, volumes
from harness.month.world import ClassicProject, Slot

_FIRST, _SECOND, _THIRD = 0, 1, 2

#: nova reports the steps of a deletion from this long before it on.
_DELETION_LEAD = 5


def generate(draft: Draft, project: ClassicProject) -> None:
    """Append the month of a classic project."""
    tenant = project.tenant
    _register_images(draft, project)
    instances, ends = [], []
    for place, slot in enumerate(project.slots):
        instance = _boot(draft, project, place, slot)
        instances.append(instance)
        ends.append(_live(draft, project, place, instance))
    residents = list(zip(range(len(instances)), project.slots, instances, strict=True))
    for place, slot, instance in residents:
        _equip(draft, tenant, place, slot, instance)
    addresses = [
        _allocate(draft, tenant, place, slot, instance) for place, slot, instance in residents
    ]
    _delete(draft, tenant, instances[_FIRST], addresses[_FIRST], ends[_FIRST])
    _hand_over(draft, project)


def _register_images(draft: Draft, project: ClassicProject) -> None:
    for place, name in enumerate(catalog.CLASSIC_IMAGES):
        image_id = project.image_ids[place]
        image = images.register(draft, project.tenant, image_id, name, within=2 * HOUR)
        if place == _SECOND:
            deletion = draft.end - draft.seconds(DAY, 7 * DAY)
            images.delete(draft, project.tenant, image, deletion)


def _boot(draft: Draft, project: ClassicProject, place: int, slot: Slot) -> Instance:
    instance = Instance(
        instance_id=slot.instance_id,
        name=slot.name,
        flavor=catalog.LARGE if place == _FIRST else draft.choose(catalog.FLAVORS),
        host=draft.choose(catalog.HOSTS),
        created=draft.start + draft.seconds(2 * HOUR, 6 * HOUR),
    )
    if draft.leads and (created := draft.leads.draw()) is not None:
        instance.created = created
        switch = draft.leads.switch
        draft.touch("instance", slot.instance_id, switch)
        draft.touch("floating_ip", slot.floating_ip_id, switch)
        for volume_id in slot.volume_ids:
            draft.touch("volume", volume_id, switch)
    instance.image_id = draft.choose(project.image_ids)
    servers.boot(draft, project.tenant, instance, project.network)
    return instance


def _live(draft: Draft, project: ClassicProject, place: int, instance: Instance) -> int:
    """Append the life of an instance; return the instant it ends, the month's if it goes on."""
    end = last = draft.end
    if place == _FIRST:
        end -= draft.seconds(DAY, 10 * DAY)
        last = end - _DELETION_LEAD
    live(
        draft,
        project.tenant,
        instance,
        last,
        resizes=place == _FIRST,
        reverts=place == _FIRST and project.number == 1,
        shelves=place == _SECOND,
    )
    return end


def _equip(draft: Draft, tenant: Tenant, place: int, slot: Slot, instance: Instance) -> None:
    """Give an instance its data volumes."""
    for number, volume_id in enumerate(slot.volume_ids, start=1):
        volume = Volume(
            volume_id=volume_id,
            name=f"{slot.name}-data-{number}",
            created=instance.created + draft.seconds(30, 300),
            size_gb=draft.choose(catalog.CLASSIC_VOLUME_SIZES),
            volume_type=draft.choose(catalog.VOLUME_TYPES),
        )
        instance.volumes.append(volume)
        volumes.create(draft, tenant, volume)
        volumes.attach(draft, tenant, volume, instance, volume.created + 1)
        if place != _FIRST:
            _change(draft, tenant, volume, certain=place == _SECOND and number == 1)


def _change(draft: Draft, tenant: Tenant, volume: Volume, *, certain: bool) -> None:
    """Let a volume grow and change its type, each for certain or by chance."""
    grows = certain or draft.one_in(2)
    retypes = certain or draft.one_in(3)
    grown = None
    if grows:
        grown = draft.start + draft.seconds(3 * DAY, 20 * DAY)
        volumes.double(draft, tenant, volume, grown)
    if retypes:
        retyped = draft.start + draft.seconds(3 * DAY, 20 * DAY)
        if grown is not None:
            retyped = max(retyped, grown + 1)
        drawn = draft.choose(catalog.VOLUME_TYPES[:2])
        other = catalog.VOLUME_TYPES[2] if drawn == volume.volume_type else drawn
        volumes.retype(draft, tenant, volume, other, retyped)


def _allocate(
    draft: Draft, tenant: Tenant, place: int, slot: Slot, instance: Instance
) -> FloatingIp:
    """Give an instance its public address; the third one's is released mid-month."""
    address = FloatingIp(slot.floating_ip_id, draft.world.next_floating_address())
    floating_ips.allocate(draft, tenant, address, instance.created + draft.seconds(10, 60))
    if place == _THIRD:
        released = draft.start + draft.seconds(8 * DAY, 22 * DAY)
        floating_ips.release(draft, tenant, address, released)
    return address


def _delete(
    draft: Draft, tenant: Tenant, instance: Instance, address: FloatingIp, instant: int
) -> None:
    """Delete an instance with its address and its volumes."""
    floating_ips.release(draft, tenant, address, instant - 10)
    servers.remove(draft, tenant, instance, instant)
    for number, volume in enumerate(instance.volumes):
        volumes.delete(draft, tenant, volume, instant + 60 + 10 * number)


def _hand_over(draft: Draft, project: ClassicProject) -> None:
    """Create the spare volume, and give it to the next project in mid-month."""
    volume = Volume(
        volume_id=project.spare_volume_id,
        name=f"handover-{project.number:02d}",
        created=draft.start + draft.seconds(2 * HOUR, 6 * HOUR),
        size_gb=draft.choose(catalog.CLASSIC_VOLUME_SIZES),
        volume_type=draft.choose(catalog.VOLUME_TYPES),
    )
    volumes.create(draft, project.tenant, volume)
    accepted = draft.start + draft.seconds(10 * DAY, 20 * DAY)
    classics = draft.world.classics
    taker = classics[project.number % len(classics)].tenant
    volumes.transfer(draft, project.tenant, taker, volume, accepted)
