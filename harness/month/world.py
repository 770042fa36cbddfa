"""The world before its first transition: who lives in it, under which ids.

Ids that only noise carries come from the noise identifier stream, every other id from the
identifier stream; the shape stream decides how many volumes a classic instance has. The order of
construction is the order of the draws and therefore binding.
"""

from __future__ import annotations

from msgspec import Struct, field

from harness.month import catalog
from harness.month.catalog import ShootPlan
from harness.month.model import Relation, Tenant
from harness.month.resources import Balancer, Instance, Network, RecordSet, Volume, Zone
from harness.prng import Identifiers, Pcg


class Slot(Struct, frozen=True):
    """A place of a classic project: the ids of an instance and of what belongs to it.

    Attributes:
        name: display name of the instance.
        instance_id: its id.
        volume_ids: of its one or two data volumes.
        floating_ip_id: of its public address.
    """

    name: str
    instance_id: str
    volume_ids: tuple[str, ...]
    floating_ip_id: str


class ClassicProject(Struct, frozen=True):
    """A tenant whose servers live long.

    Attributes:
        number: counted from 1.
        tenant: who it is.
        image_ids: of its two images.
        slots: its four instances.
        spare_volume_id: of the volume it hands over.
        network: exists before the month.
    """

    number: int
    tenant: Tenant
    image_ids: tuple[str, str]
    slots: tuple[Slot, ...]
    spare_volume_id: str
    network: Network


class Garden(Struct, eq=False):
    """A Gardener project and the tenant its shoots run on.

    Attributes:
        name: of the project.
        tenant: the infrastructure tenant.
        image_id: of the image the workers boot from.
        zone: where its shoots publish their records.
        shoots: in order.
    """

    name: str
    tenant: Tenant
    image_id: str
    zone: Zone
    shoots: list[Shoot] = field(default_factory=list)


class Shoot(Struct, eq=False):
    """A cluster and what it holds at this point of the generation.

    Attributes:
        garden: the project it belongs to.
        plan: what kind of shoot it is.
        index: counted from 1 over all projects.
        network: built together with the shoot.
        workers: in the order they were booted.
        extras: today's additional workers.
        claims: persistent volumes, in the order they were made.
        balancers: in the order they were made.
        api_record: the API server's address.
        ingress_record: the first balancer's address.
        awake: whether its workers run.
    """

    garden: Garden
    plan: ShootPlan
    index: int
    network: Network
    workers: list[Instance] = field(default_factory=list)
    extras: list[Instance] = field(default_factory=list)
    claims: list[Volume] = field(default_factory=list)
    balancers: list[Balancer] = field(default_factory=list)
    api_record: RecordSet | None = None
    ingress_record: RecordSet | None = None
    awake: bool = True

    @property
    def tenant(self) -> Tenant:
        """The tenant it runs on."""
        return self.garden.tenant

    @property
    def technical_id(self) -> str:
        """The name its resources carry, that of its network."""
        return self.network.name

    @property
    def keypair(self) -> str:
        """Name of the keypair its workers are reachable under."""
        return f"{self.technical_id}-ssh-publickey"


class Ci(Struct, frozen=True):
    """The tenant that boots runners.

    Attributes:
        tenant: who it is.
        image_id: of the runners' image.
        network: the runners' network, built when the month begins.
    """

    tenant: Tenant
    image_id: str
    network: Network


class World(Struct, eq=False):
    """Everybody in the cloud.

    Attributes:
        external_network_id: where floating addresses come from.
        classics: the classic projects.
        gardens: the Gardener projects.
        ci: the CI tenant.
        floating_order: the last number, less one, of each floating address, in handing-out order.
        floating_taken: number of floating addresses handed out.
    """

    external_network_id: str
    classics: tuple[ClassicProject, ...]
    gardens: tuple[Garden, ...]
    ci: Ci
    floating_order: list[int]
    floating_taken: int = 0

    def next_floating_address(self) -> str:
        """Hand out the next floating address; none is handed out twice."""
        number = 1 + self.floating_order[self.floating_taken]
        self.floating_taken += 1
        return f"{catalog.FLOATING_PREFIX}.{number}"

    @property
    def tenants(self) -> tuple[Tenant, ...]:
        """All tenants, in the order they are registered."""
        classic = (project.tenant for project in self.classics)
        gardener = (garden.tenant for garden in self.gardens)
        return (*classic, self.ci.tenant, *gardener)

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The Gardener projects and the tenants behind them."""
        return tuple(
            Relation(garden.name, garden.tenant, tuple(s.plan.name for s in garden.shoots))
            for garden in self.gardens
        )


def build(cloud: str, shape: Pcg, ids: Identifiers, noise: Identifiers) -> World:
    """Build the world of a month from its three streams."""
    external_network_id = ids.uuid()
    floating_order = ids.permutation(catalog.FLOATING_POOL)
    project_ids = [ids.hex() for _ in catalog.CLASSIC_PROJECTS]
    classics = tuple(
        _classic(number, project_id, shape, ids, noise)
        for number, project_id in zip(catalog.CLASSIC_PROJECTS, project_ids, strict=True)
    )
    # CI comes before Gardener in the noise identifier stream, and after it in the other.
    ci_network = Network(noise.uuid(), noise.uuid(), "ci", "10.100.0.0/24", router_id=noise.uuid())
    gardens = _gardens(cloud, ids, noise)
    ci = Ci(Tenant("ci", ids.hex(), ids.hex(), "ci"), ids.uuid(), ci_network)
    return World(external_network_id, classics, gardens, ci, floating_order)


def _classic(
    number: int, project_id: str, shape: Pcg, ids: Identifiers, noise: Identifiers
) -> ClassicProject:
    suffix = f"{number:02d}"
    tenant = Tenant(f"tenant-{suffix}", project_id, ids.hex(), "classic")
    image_ids = (ids.uuid(), ids.uuid())
    names = [f"{name}-{suffix}" for name in catalog.INSTANCE_NAMES]
    instance_ids = [ids.uuid() for _ in names]
    volume_ids = [tuple(ids.uuid() for _ in range(1 + shape.below(2))) for _ in names]
    floating_ip_ids = [ids.uuid() for _ in names]
    return ClassicProject(
        number=number,
        tenant=tenant,
        image_ids=image_ids,
        slots=tuple(map(Slot, names, instance_ids, volume_ids, floating_ip_ids)),
        spare_volume_id=ids.uuid(),
        network=Network(noise.uuid(), noise.uuid(), f"tenant-{suffix}", f"192.168.{number}.0/24"),
    )


def _gardens(cloud: str, ids: Identifiers, noise: Identifiers) -> tuple[Garden, ...]:
    gardens = []
    index = 0
    for project, plans in catalog.GARDENER_PROJECTS.items():
        garden = Garden(
            name=project,
            tenant=Tenant(f"Infrastructure tenant of {project}", ids.hex(), ids.hex(), "gardener"),
            image_id=ids.uuid(),
            zone=Zone(noise.uuid(), f"{project}.{cloud}.example."),
        )
        for plan in plans:
            index += 1
            network = Network(
                network_id=ids.uuid(),
                subnet_id=ids.uuid(),
                name=f"shoot--{project}--{plan.name}",
                cidr=f"10.250.{index}.0/24",
                router_id=ids.uuid(),
                security_group=ids.uuid(),
            )
            garden.shoots.append(Shoot(garden, plan, index, network))
        gardens.append(garden)
    return tuple(gardens)
