"""The payload of octavia: what its worker carries, without listeners, pools and states."""

from __future__ import annotations

from harness.month.model import Tenant
from harness.month.payloads import Payload
from harness.month.resources import Balancer


def load_balancer(tenant: Tenant, balancer: Balancer) -> Payload:
    """Return what creation, update and deletion report alike."""
    port = balancer.port
    return {
        "admin_state_up": True,
        "description": "",
        "loadbalancer_id": balancer.balancer_id,
        "name": balancer.name,
        "project_id": tenant.project_id,
        "vip_address": port.address,
        "vip_network_id": port.network.network_id,
        "vip_port_id": port.port_id,
        "vip_qos_policy_id": None,
        "vip_subnet_id": port.network.subnet_id,
        "vip_sg_ids": [],
        "additional_vips": [],
    }
