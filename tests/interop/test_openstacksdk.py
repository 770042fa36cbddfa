"""openstacksdk and keystoneauth, unmodified, against the fake OpenStack API of seed 1."""

import logging
import warnings
from datetime import datetime

import pytest
import requests

from harness.broker.clock import VirtualClock
from harness.calendar import Period, rfc3339
from harness.calendar.instant import DAY, HOUR
from harness.cloud.app import run_app
from harness.cloud.publication import Publication
from harness.month import generate
from harness.oracle.fold import fold
from harness.service.listener import Listener

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its dependencies import what Python deprecates
    import openstack
    from keystoneauth1 import access, fixture
    from openstack.block_storage.v3.type import Type
    from openstack.block_storage.v3.volume import Volume
    from openstack.compute.v2.flavor import Flavor
    from openstack.compute.v2.server import Server
    from openstack.image.v2.image import Image
    from openstack.load_balancer.v2.load_balancer import LoadBalancer
    from openstack.network.v2.floating_ip import FloatingIP

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]

JULY = Period(2026, 7)
INSTANTS = [
    JULY.start + 6 * HOUR,
    JULY.start + 4 * DAY + 10 * HOUR,
    JULY.start + 9 * DAY + 12 * HOUR,
    JULY.start + 14 * DAY + 12 * HOUR,
    JULY.end + 3 * DAY,
]


class Standing(VirtualClock):
    def __init__(self, instant):
        super().__init__(instant, 0)

    def move(self, instant):
        self._base = instant


@pytest.fixture(scope="module")
def month():
    return generate(1, JULY, "os-sim")


@pytest.fixture(scope="module")
def oracle(month):
    return fold(month)


@pytest.fixture(scope="module")
def clock(oracle):
    return Standing(oracle.start)


@pytest.fixture(scope="module")
def address(month, oracle, clock):
    app = run_app(month, oracle, clock, Publication(1, 0))
    with Listener(app, "127.0.0.1", 0) as listener:
        yield f"http://127.0.0.1:{listener.port}"


@pytest.fixture(scope="module")
def cloud(address):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.getLogger("keystoneauth").setLevel(logging.ERROR)
        connection = openstack.connect(
            load_yaml_config=False,
            load_envvars=False,
            auth_url=f"{address}/v3",
            username="tally-sync",
            password="tally-dev-sync-password",
            project_name="service",
            user_domain_name="Default",
            project_domain_name="Default",
            region_name="RegionOne",
        )
        yield connection
        connection.close()


def alive(oracle, at, kind):
    """What the oracle holds at an instant, said once more and without the room under test."""
    at = min(at, oracle.end)
    return {
        resource.resource_id: (resource, interval)
        for resource in oracle.resources
        if resource.resource_type == kind
        for interval in resource.intervals
        if interval.start <= at < interval.end or (at == oracle.end == interval.end)
    }


def instant(text):
    return datetime.fromisoformat(text if text.endswith("Z") else f"{text}Z").timestamp()


@pytest.fixture(params=INSTANTS, ids=rfc3339)
def at(request, clock):
    clock.move(request.param)
    return request.param


def test_a_microversion_past_embedded_flavors_is_negotiated(cloud):
    data = cloud.compute.get_endpoint_data()
    assert (data.min_microversion, data.max_microversion) == ((2, 1), (2, 96))


def test_servers(cloud, oracle, at):
    wanted = alive(oracle, at, "instance")
    listed = list(cloud.compute.servers(details=True, all_projects=True))
    assert [server.id for server in listed] == sorted(wanted)
    words = {"active": "active", "shutoff": "stopped", "shelved": "shelved_offloaded"}
    for server in listed:
        resource, interval = wanted[server.id]
        size = interval.size
        assert server.project_id == interval.project_id
        assert server.status == "ACTIVE"
        assert server.vm_state == words[interval.state]
        assert server.task_state is None
        assert server.flavor.original_name == size["flavor"]
        assert server.flavor.vcpus == size["vcpus"]
        assert server.flavor.ram == size["ram_gb"] * 1024
        assert server.flavor.disk + server.flavor.ephemeral == size["disk_gb"]
        assert instant(server.created_at) == resource.intervals[0].start
        assert instant(server.launched_at) == resource.intervals[0].start
        assert instant(server.updated_at) == interval.start
        assert server.terminated_at is None


def test_volumes(cloud, oracle, at):
    wanted = alive(oracle, at, "volume")
    listed = list(cloud.block_storage.volumes(details=True, all_projects=True))
    assert [volume.id for volume in listed] == sorted(wanted)
    for volume in listed:
        resource, interval = wanted[volume.id]
        assert volume.project_id == interval.project_id
        assert volume.status == interval.state
        assert volume.size == interval.size["size_gb"]
        assert volume.volume_type == interval.size["type"]
        assert volume.is_bootable is False
        assert instant(volume.created_at) == resource.intervals[0].start
        assert instant(volume.updated_at) == interval.start


def test_floating_ips(cloud, oracle, at):
    wanted = alive(oracle, at, "floating_ip")
    listed = list(cloud.network.ips())
    assert [address.id for address in listed] == sorted(wanted)
    for address in listed:
        resource, interval = wanted[address.id]
        assert address.project_id == interval.project_id
        assert address.status == "ACTIVE"
        assert "." in address.floating_ip_address
        assert interval.size == {"ip_version": 4}
        assert instant(address.created_at) == resource.intervals[0].start
        assert instant(address.updated_at) == interval.start


def test_images(cloud, oracle, at):
    wanted = alive(oracle, at, "image")
    listed = list(cloud.image.images())
    assert [image.id for image in listed] == sorted(wanted)
    for image in listed:
        resource, interval = wanted[image.id]
        assert image.owner_id == interval.project_id
        assert image.status == "active"
        assert image.size == interval.size["size_gb"] * 2**30
        assert instant(image.created_at) == resource.intervals[0].start
        assert instant(image.updated_at) == interval.start


def test_load_balancers(cloud, oracle, at):
    wanted = alive(oracle, at, "loadbalancer")
    listed = list(cloud.load_balancer.load_balancers())
    assert [balancer.id for balancer in listed] == sorted(wanted)
    for balancer in listed:
        resource, interval = wanted[balancer.id]
        assert balancer.project_id == interval.project_id
        assert balancer.provisioning_status == "ACTIVE"
        assert len(balancer.listeners) == interval.size["listeners"]
        assert len(balancer.pools) == interval.size["pools"]
        assert instant(balancer.created_at) == resource.intervals[0].start
        assert instant(balancer.updated_at) == interval.start


def test_flavors_and_volume_types(cloud, oracle):
    flavors = {flavor.name: flavor for flavor in cloud.compute.flavors()}
    assert len(flavors) == 5
    for _, interval in alive(oracle, INSTANTS[3], "instance").values():
        flavor = flavors[interval.size["flavor"]]
        assert (flavor.vcpus, flavor.ram) == (
            interval.size["vcpus"],
            interval.size["ram_gb"] * 1024,
        )
        assert flavor.disk + flavor.ephemeral == interval.size["disk_gb"]
    assert [kind.name for kind in cloud.block_storage.types()] == ["ssd", "hdd", "standard"]


def test_deleted_servers_by_changes_since(cloud, oracle, clock):
    ends = {
        resource.resource_id: resource.intervals[-1].end
        for resource in oracle.resources
        if resource.resource_type == "instance" and resource.intervals[-1].end < oracle.end
    }
    middle = sorted(ends.values())[len(ends) // 2]
    for since, at in [
        (middle - DAY, middle - 1),
        (middle - DAY, middle),
        (middle - 1, middle),
        (middle, middle + 1),
        (middle, middle + DAY),
        (oracle.end - DAY, oracle.end + DAY),
    ]:
        clock.move(at)
        listed = list(
            cloud.compute.servers(all_projects=True, changes_since=rfc3339(since), deleted=True)
        )
        assert [server.id for server in listed] == sorted(
            name for name, end in ends.items() if since < end <= min(at, oracle.end)
        )
        for server in listed:
            assert server.status == "DELETED"
            assert server.vm_state == "deleted"
            assert instant(server.terminated_at) == ends[server.id]


LISTINGS = [
    (Server, "/compute/v2.1/servers/detail", "servers"),
    (Flavor, "/compute/v2.1/flavors/detail", "flavors"),
    (Volume, "/volume/v3/volumes/detail", "volumes"),
    (Type, "/volume/v3/types", "volume_types"),
    (FloatingIP, "/network/v2.0/floatingips", "floatingips"),
    (Image, "/image/v2/images", "images"),
    (LoadBalancer, "/load-balancer/v2.0/lbaas/loadbalancers", "loadbalancers"),
]

#: Members a real service sends as well and the library keeps no attribute for.
KEPT_NOWHERE = {
    Server: {"tenant_id"},
    Type: {"qos_specs_id", "is_public"},
    LoadBalancer: {"vip_network_id"},
}


@pytest.mark.parametrize(("resource", "path", "member"), LISTINGS, ids=[m for *_, m in LISTINGS])
def test_every_member_of_a_listing_has_its_place_in_the_librarys_resource(
    cloud, address, clock, resource, path, member
):
    clock.move(INSTANTS[3])
    token = cloud.auth_token
    document = requests.get(address + path, headers={"X-Auth-Token": token}, timeout=20).json()
    (objects,) = document.values()
    assert list(document) == [member]
    assert objects
    known = set(resource._body_mapping()) | {"id", "name"}
    for each in objects:
        parsed = resource.existing(**each)
        assert parsed.id == each["id"]
        strangers = set(each) - known - KEPT_NOWHERE.get(resource, set())
        assert not strangers


def test_the_token_is_what_keystoneauths_fixture_builds(address):
    body = {
        "auth": {
            "identity": {
                "methods": ["password"],
                "password": {"user": {"name": "tally-sync", "password": "tally-dev-sync-password"}},
            }
        }
    }
    answer = requests.post(f"{address}/v3/auth/tokens", json=body, timeout=20)
    document = answer.json()
    token = document["token"]
    wanted = fixture.V3Token(
        methods=["password"],
        audit_id=token["audit_ids"][0],
        issued=token["issued_at"],
        expires=token["expires_at"],
        user_id=token["user"]["id"],
        user_name="tally-sync",
        user_domain_id="default",
        user_domain_name="Default",
        project_id=token["project"]["id"],
        project_name="service",
        project_domain_id="default",
        project_domain_name="Default",
    )
    wanted.add_role(name="admin", id=token["roles"][0]["id"])
    for service in token["catalog"]:
        (endpoint,) = service["endpoints"]
        built = wanted.add_service(service["type"], name=service["name"], id=service["id"])
        built.add_endpoint("public", endpoint["url"], region="RegionOne", id=endpoint["id"])

    # Real keystones state when a password expires; the fixture has no member for it.
    assert token["user"].pop("password_expires_at", "absent") is None
    assert document == wanted
    read = access.create(resp=answer, auth_token=answer.headers["X-Subject-Token"])
    assert read.auth_token == answer.headers["X-Subject-Token"]
    assert (read.username, read.project_name, read.role_names) == (
        "tally-sync",
        "service",
        ["admin"],
    )
    assert not read.will_expire_soon(86000)
