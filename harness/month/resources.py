"""The things that live in the simulated cloud, as they stand at a point of the generation.

Mutable ones are compared by identity: two workers are two workers, whatever their members say.
They are structs rather than dataclasses because a process that writes one month would spend a
twentieth of its time on making the classes.
"""

from __future__ import annotations

from msgspec import Struct, field

from harness.month.catalog import Flavor

#: A network hands out .10 to .249 and then starts over.
_FIRST_ADDRESS = 10
_ADDRESSES = 240


class Network(Struct, eq=False):
    """A tenant network with its one subnet.

    Attributes:
        network_id: its id.
        subnet_id: id of the subnet.
        name: of network, subnet and router alike.
        cidr: its range, a /24.
        router_id: empty when it has none.
        security_group: id of the group its ports are in; empty when they are in none.
        router_port_id: the router's port, known once the network is built.
        handed_out: number of addresses given so far.
    """

    network_id: str
    subnet_id: str
    name: str
    cidr: str
    router_id: str = ""
    security_group: str = ""
    router_port_id: str = ""
    handed_out: int = 0

    @property
    def prefix(self) -> str:
        """The first three numbers of the range."""
        return self.cidr.rpartition(".")[0]

    def next_address(self) -> str:
        """Hand out the next fixed address; none is ever given back."""
        address = f"{self.prefix}.{_FIRST_ADDRESS + self.handed_out % _ADDRESSES}"
        self.handed_out += 1
        return address


class Port(Struct, frozen=True):
    """A port on a network.

    Attributes:
        port_id: its id; the MAC address comes from it.
        network: where it is plugged in.
        address: its fixed address.
        device_id: whom it serves.
        device_owner: what kind of device that is.
        host: the compute host it is bound to; empty when it is bound to none.
    """

    port_id: str
    network: Network
    address: str
    device_id: str
    device_owner: str
    host: str = ""

    @property
    def mac_address(self) -> str:
        """The address derived from the first six digits of the port's id."""
        digits = self.port_id
        return f"fa:16:3e:{digits[:2]}:{digits[2:4]}:{digits[4:6]}"


class Attachment(Struct, frozen=True):
    """A volume's hold on an instance, or on nobody.

    Attributes:
        attachment_id: its id.
        attached_at: Unix seconds.
        instance_id: None when there is no instance.
        host: of the instance, None when there is none.
        device: the mount point.
    """

    attachment_id: str
    attached_at: int
    instance_id: str | None
    host: str | None
    device: str


class Volume(Struct, eq=False):
    """A block device.

    Attributes:
        volume_id: its id.
        name: display name.
        size_gb: whole gibibytes.
        volume_type: ``ssd``, ``hdd`` or ``standard``.
        created: Unix seconds of its ``volume.create.end``.
        attachment: None while it is not attached.
        growths: how often it was doubled.
    """

    volume_id: str
    name: str
    size_gb: int
    volume_type: str
    created: int
    attachment: Attachment | None = None
    growths: int = 0

    @property
    def status(self) -> str:
        """The status cinder reports between two operations."""
        return "in-use" if self.attachment else "available"


class Instance(Struct, eq=False):
    """A server.

    Attributes:
        instance_id: its id.
        name: display name.
        host: the compute host it keeps for life.
        flavor: the current one.
        created: Unix seconds of its ``compute.instance.create.end``.
        image_id: empty when it boots from a volume.
        volumes: its data volumes.
        root: the volume it boots from.
        port: given when it boots.
    """

    instance_id: str
    name: str
    host: str
    flavor: Flavor
    created: int
    image_id: str = ""
    volumes: list[Volume] = field(default_factory=list)
    root: Volume | None = None
    port: Port | None = None

    @property
    def publisher(self) -> str:
        """The nova-compute that speaks for it."""
        return f"compute.{self.host}"


class Image(Struct, frozen=True):
    """An image.

    Attributes:
        image_id: its id.
        name: its name.
        created: Unix seconds of the announcement.
        size: bytes, a whole number of quarter gibibytes.
    """

    image_id: str
    name: str
    created: int
    size: int


class FloatingIp(Struct, frozen=True):
    """A public address.

    Attributes:
        floating_ip_id: its id.
        address: taken from the pool for good.
        port: what it is associated with, None for an unassociated one.
    """

    floating_ip_id: str
    address: str
    port: Port | None = None


class RecordSet(Struct, frozen=True):
    """An A record with one address.

    Attributes:
        record_set_id: its id.
        name: fully qualified, with the final dot.
        address: what it points to.
    """

    record_set_id: str
    name: str
    address: str


class Zone(Struct, frozen=True):
    """A DNS zone.

    Attributes:
        zone_id: its id.
        name: with the final dot.
    """

    zone_id: str
    name: str


class Certificate(Struct, frozen=True):
    """What the key manager holds for a balancer.

    Attributes:
        secret_id: the secret.
        container_id: the container around it.
    """

    secret_id: str
    container_id: str


class Balancer(Struct, eq=False):
    """A load balancer.

    Attributes:
        balancer_id: its id.
        name: its name.
        port: the port its virtual address is on.
        floating_ip: the public address associated with that port.
        listeners: how many the cloud holds; no notification says so.
        pools: how many the cloud holds; no notification says so.
        certificate: of a balancer that terminates TLS.
    """

    balancer_id: str
    name: str
    port: Port
    floating_ip: FloatingIp
    listeners: int
    pools: int
    certificate: Certificate | None = None
