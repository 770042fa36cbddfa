"""The world of seed 1, 2026-07, os-sim."""

from __future__ import annotations

import pytest

from harness import prng
from harness.month import world
from harness.month.resources import Network, Port
from harness.month.world import World


@pytest.fixture(scope="module")
def built() -> World:
    return world.build(
        "os-sim",
        prng.shape(1),
        prng.identifiers(1, "os-sim", "2026-07"),
        prng.noise_identifiers(1, "os-sim", "2026-07"),
    )


def test_addresses(built: World) -> None:
    assert built.external_network_id == "c9cc4b03-6d82-4fda-af20-c7b002633196"
    assert " ".join(map(str, built.floating_order)).startswith(
        "89 209 144 118 206 114 27 22 220 82 165 198 123 157 28 50 223 195 242 164 184 125 4 201"
    )
    assert built.floating_order[-1] == 197


def test_floating_addresses_are_handed_out_once(built: World) -> None:
    fresh = World(
        built.external_network_id, built.classics, built.gardens, built.ci, built.floating_order
    )
    addresses = [fresh.next_floating_address() for _ in range(254)]
    assert addresses[0] == "203.0.113.90"
    assert len(set(addresses)) == 254


def test_classic_projects(built: World) -> None:
    first = built.classics[0]
    assert [project.tenant.project_id for project in built.classics] == [
        "34e991db9fc6466f8ca69b43f70fce65",
        "018504a6cc10019a40e3f9eef4dae529",
        "d5a8024946ddf673277b9e2490643a2c",
    ]
    assert [project.tenant.user_id for project in built.classics] == [
        "2fe7b27bc0b40566de11cc2c0c0dd18a",
        "7918de9a5fea2e1ca32edfd710e802b4",
        "5f8d02e98ce22d12c478632190862811",
    ]
    assert first.image_ids == (
        "674b4f48-0c27-48dd-9385-4669d6e60db6",
        "6a493a19-c938-461b-883f-5444a7310e78",
    )
    assert [(slot.name, slot.instance_id, len(slot.volume_ids)) for slot in first.slots] == [
        ("web-01", "2e500472-c980-4abd-acb9-bbc3b5f58e7f", 1),
        ("db-01", "c1d6b096-cfe8-4462-9742-f72c98a9f985", 2),
        ("batch-01", "c55adb69-564d-4b63-b534-5ad23393fd6b", 1),
        ("cache-01", "1ad9788b-fa5f-43fe-a5e1-f5dffd1d3a89", 1),
    ]
    assert first.slots[0].volume_ids == ("79686554-faf0-4e5e-b1b3-71fc06d4531c",)
    assert first.slots[0].floating_ip_id == "ac8950f3-3825-4c77-ba2d-16a65d9ef126"
    assert first.spare_volume_id == "1746df50-32e2-480a-9cc2-8773e40058a9"
    assert [project.network.network_id for project in built.classics] == [
        "339a6049-8b79-4188-b859-d268dd76c339",
        "af594af4-dc77-4047-993a-f346491e8f17",
        "94517b27-cab5-4457-87f7-84e4e318a380",
    ]
    assert first.network.subnet_id == "dddd9707-d869-47d5-b18e-614869fa01b8"


def test_gardener_projects(built: World) -> None:
    alpha, beta = built.gardens
    api_prod, api_dev = alpha.shoots
    (batch,) = beta.shoots
    assert alpha.tenant.project_id == "005be5adeef3d87e280d03d9d57c38b4"
    assert alpha.tenant.user_id == "6b6ed5513eb5bbeab319091466e44e7d"
    assert alpha.image_id == "d45cc80a-b7ea-4988-8873-16b54ec1a39d"
    assert alpha.zone.zone_id == "64f6b6c6-e998-4a46-825c-07ccb170d671"
    assert alpha.zone.name == "alpha.os-sim.example."
    assert api_prod.network.network_id == "97fd8306-1136-4dab-b891-2cc5468792b6"
    assert api_prod.network.security_group == "a2428666-d9d0-4234-98f5-f2d2b75b27bd"
    assert api_prod.technical_id == "shoot--alpha--api-prod"
    assert api_dev.network.network_id == "38464656-ac14-4378-9d04-8ba749d9ef5d"
    assert beta.tenant.project_id == "e31f9083a7e5ee15071a3bd53cb2bac7"
    assert beta.tenant.user_id == "d112c4cc66c0679e884a7a379bdd2c73"
    assert beta.zone.zone_id == "3eb24a20-4dc6-478a-bd49-60d202bc57dd"
    assert batch.network.network_id == "be14d119-d27b-4b73-a967-94edea4d9ff6"
    assert [shoot.network.cidr for shoot in (api_prod, api_dev, batch)] == [
        "10.250.1.0/24",
        "10.250.2.0/24",
        "10.250.3.0/24",
    ]


def test_ci(built: World) -> None:
    ci = built.ci
    assert ci.tenant.project_id == "10e287d5788957a2a331cabd1b5dccdf"
    assert ci.tenant.user_id == "8c04dcaae15f6af6efcd96b4e651711b"
    assert ci.image_id == "b31efea6-affb-499f-8b84-6792875b8404"
    assert ci.network.network_id == "1d4d3fb6-3ece-4a3a-8bba-dcafd6d9e31b"
    assert ci.network.subnet_id == "2701afda-6467-4f05-9649-bc5aa1c944c1"
    assert ci.network.router_id == "5a541308-6710-4fc5-9cbd-bf796cbab1e4"


def test_registration_order(built: World) -> None:
    assert [(tenant.name, tenant.workload) for tenant in built.tenants] == [
        ("tenant-01", "classic"),
        ("tenant-02", "classic"),
        ("tenant-03", "classic"),
        ("ci", "ci"),
        ("Infrastructure tenant of alpha", "gardener"),
        ("Infrastructure tenant of beta", "gardener"),
    ]
    assert [(relation.project, relation.shoots) for relation in built.relations] == [
        ("alpha", ("api-prod", "api-dev")),
        ("beta", ("batch",)),
    ]


def test_fixed_addresses_start_over_after_240() -> None:
    network = Network("n", "s", "name", "10.250.3.0/24")
    addresses = [network.next_address() for _ in range(241)]
    assert addresses[0] == addresses[240] == "10.250.3.10"
    assert addresses[239] == "10.250.3.249"
    assert len(set(addresses)) == 240


def test_a_port_derives_its_mac_address() -> None:
    network = Network("n", "s", "name", "10.100.0.0/24")
    port = Port("ab12cd34-0000-4000-8000-000000000000", network, "10.100.0.10", "d", "o")
    assert port.mac_address == "fa:16:3e:ab:12:cd"
