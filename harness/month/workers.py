"""What comes and goes in a shoot: workers and persistent volume claims."""

from __future__ import annotations

from harness.month import catalog
from harness.month.draft import Draft
from harness.month.resources import Instance, Volume
from harness.month.sequences import servers, volumes
from harness.month.world import Shoot


def add_worker(draft: Draft, shoot: Shoot, instant: int) -> Instance:
    """Boot a worker that is there from `instant` on, from the image or from a root volume."""
    instance_id = draft.ids.uuid()
    worker = Instance(
        instance_id=instance_id,
        name=f"{shoot.technical_id}-worker-z1-{instance_id[:5]}-{instance_id[24:29]}",
        host=draft.choose(catalog.HOSTS),
        flavor=shoot.plan.flavor,
        created=instant,
    )
    if shoot.plan.boots_from_volume:
        root = worker.root = Volume(
            volume_id=draft.ids.uuid(),
            name=worker.name,
            size_gb=catalog.ROOT_VOLUME_SIZE,
            volume_type=catalog.ROOT_VOLUME_TYPE,
            created=instant - draft.seconds(5, 15),
        )
        volumes.create(draft, shoot.tenant, root)
        volumes.attach(draft, shoot.tenant, root, worker, root.created + 1)
    else:
        worker.image_id = shoot.garden.image_id
    servers.boot(draft, shoot.tenant, worker, shoot.network)
    shoot.workers.append(worker)
    return worker


def remove_worker(draft: Draft, shoot: Shoot, worker: Instance, instant: int) -> None:
    """Delete a worker and, soon after, its root volume; claims attached to it stay attached."""
    servers.remove(draft, shoot.tenant, worker, instant)
    if worker.root:
        gone = instant + draft.seconds(20, 40)
        volumes.delete(draft, shoot.tenant, worker.root, gone)
    shoot.workers.remove(worker)
    if worker in shoot.extras:
        shoot.extras.remove(worker)


def add_claim(draft: Draft, shoot: Shoot, instant: int) -> None:
    """Create a claim and attach it a second later."""
    volume_id = draft.ids.uuid()
    claim = Volume(
        volume_id=volume_id,
        name=f"{shoot.technical_id}-dynamic-pvc-{volume_id}",
        size_gb=draft.choose(catalog.CLAIM_SIZES),
        volume_type=draft.choose(catalog.VOLUME_TYPES),
        created=instant,
    )
    volumes.create(draft, shoot.tenant, claim)
    attach_claim(draft, shoot, claim, instant + 1)
    shoot.claims.append(claim)


def attach_claim(draft: Draft, shoot: Shoot, claim: Volume, instant: int) -> None:
    """Attach a claim to the first worker, or to nobody when there is none."""
    holder = shoot.workers[0] if shoot.workers else None
    volumes.attach(draft, shoot.tenant, claim, holder, instant)
