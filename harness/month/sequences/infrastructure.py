"""What a shoot stands on: network, security group, keypair, and the API server's record."""

from __future__ import annotations

from harness.month.catalog import API, API_PREFIX, NEUTRON
from harness.month.draft import Draft, Subject
from harness.month.payloads import neutron, nova
from harness.month.sequences import identity, networks, records
from harness.month.world import Shoot


def build(draft: Draft, shoot: Shoot, created: int) -> None:
    """Build a shoot's infrastructure, from 2 seconds before its creation to 16 after it."""
    tenant, network = shoot.tenant, shoot.network
    identity.authenticate(draft, tenant, created - 2)
    networks.build(draft, tenant, network, created + 1)
    group = _group(draft, shoot)
    group.note(created + 8, "create.start", neutron.security_group_request(network))
    group.note(created + 9, "create.end", neutron.security_group(tenant, network))
    starts = (created + 10, created + 12)
    for instant, rule in zip(starts, neutron.worker_rules(tenant, network), strict=True):
        rule_id = draft.noise_ids.uuid()
        subject = Subject(draft, "security_group_rule", NEUTRON, tenant, rule_id)
        subject.note(instant, "create.start", neutron.security_group_rule(rule))
        subject.note(
            instant + 1, "create.end", neutron.security_group_rule({**rule, "id": rule_id})
        )
    keypair = _keypair(draft, shoot)
    payload = nova.keypair(tenant, shoot.keypair)
    keypair.note(created + 14, "import.start", payload)
    keypair.note(created + 15, "import.end", payload)
    name, address = f"api.{shoot.plan.name}", f"{API_PREFIX}.{shoot.index}"
    shoot.api_record = records.publish(draft, shoot.garden, name, address, created + 16)


def tear_down(draft: Draft, shoot: Shoot, instant: int) -> None:
    """Give all of it back, one notification a second, in the order its parts depend on each other.

    Nothing of the shoot follows.
    """
    tenant = shoot.tenant
    for record in (shoot.api_record, shoot.ingress_record):
        if record:
            records.withdraw(draft, shoot.garden, record, instant)
            instant += 1
    keypair = _keypair(draft, shoot)
    payload = nova.keypair(tenant, shoot.keypair)
    keypair.note(instant, "delete.start", payload)
    keypair.note(instant + 1, "delete.end", payload)
    networks.delete(_group(draft, shoot), instant + 2)
    networks.tear_down(draft, tenant, shoot.network, instant + 4)


def _group(draft: Draft, shoot: Shoot) -> Subject:
    return Subject(draft, "security_group", NEUTRON, shoot.tenant, shoot.network.security_group)


def _keypair(draft: Draft, shoot: Shoot) -> Subject:
    # Nova identifies a keypair by its owner and name.
    return Subject(draft, "keypair", API, shoot.tenant, f"{shoot.tenant.user_id}:{shoot.keypair}")
