"""Payloads of neutron: each an object under its kind, or an id when something is deleted."""

from __future__ import annotations

from harness.month.model import Tenant
from harness.month.payloads import Payload
from harness.month.resources import FloatingIp, Network, Port

_MTU = 1450


def deleted(kind: str, resource_id: str) -> Payload:
    """Return what the deletion of a resource of any kind reports."""
    return {f"{kind}_id": resource_id}


def floating_ip(tenant: Tenant, address: FloatingIp, external_network_id: str) -> Payload:
    """Return what the allocation of a public address reports."""
    port = address.port
    return {
        "floatingip": {
            **_owner(tenant),
            "id": address.floating_ip_id,
            "floating_ip_address": address.address,
            "floating_network_id": external_network_id,
            "fixed_ip_address": port.address if port else None,
            "port_id": port.port_id if port else None,
            "router_id": port.network.router_id if port else None,
            "status": "ACTIVE" if port else "DOWN",
            "description": "",
        }
    }


def port_request(tenant: Tenant, port: Port) -> Payload:
    """Return what the start of a port's creation reports."""
    return {"port": {**_owner(tenant), **_plugged(port)}}


def port(tenant: Tenant, port: Port, *, bound: bool) -> Payload:
    """Return a port in full, before or after it is bound to its host."""
    group = port.network.security_group
    return {
        "port": {
            **_owner(tenant),
            **_plugged(port),
            "binding:host_id": port.host if bound else "",
            "binding:vif_type": "ovs" if bound else "unbound",
            "fixed_ips": [{"ip_address": port.address, "subnet_id": port.network.subnet_id}],
            "id": port.port_id,
            "mac_address": port.mac_address,
            "security_groups": [group] if group else [],
            "status": "ACTIVE" if bound else "DOWN",
        }
    }


def port_binding(port: Port) -> Payload:
    """Return what the start of a binding reports."""
    return {
        "port": {
            "binding:host_id": port.host,
            "device_id": port.device_id,
            "device_owner": port.device_owner,
        }
    }


def network_request(network: Network) -> Payload:
    """Return what the start of a network's creation reports."""
    return {"network": {"admin_state_up": True, "name": network.name}}


def network(tenant: Tenant, network: Network) -> Payload:
    """Return a network in full; it names its subnet ahead of the subnet's own creation."""
    return {
        "network": {
            **_owner(tenant),
            "admin_state_up": True,
            "description": "",
            "id": network.network_id,
            "mtu": _MTU,
            "name": network.name,
            "router:external": False,
            "shared": False,
            "status": "ACTIVE",
            "subnets": [network.subnet_id],
        }
    }


def subnet_request(network: Network) -> Payload:
    """Return what the start of a subnet's creation reports."""
    return {"subnet": _subnet(network)}


def subnet(tenant: Tenant, network: Network) -> Payload:
    """Return a subnet in full."""
    prefix = network.prefix
    return {
        "subnet": {
            **_owner(tenant),
            **_subnet(network),
            "allocation_pools": [{"start": f"{prefix}.10", "end": f"{prefix}.254"}],
            "dns_nameservers": [],
            "enable_dhcp": True,
            "gateway_ip": f"{prefix}.1",
            "id": network.subnet_id,
        }
    }


def router_request(network: Network, external_network_id: str) -> Payload:
    """Return what the start of a router's creation reports."""
    return {
        "router": {
            "admin_state_up": True,
            "external_gateway_info": {"network_id": external_network_id},
            "name": network.name,
        }
    }


def router(tenant: Tenant, network: Network, external_network_id: str) -> Payload:
    """Return a router in full."""
    return {
        "router": {
            **_owner(tenant),
            "admin_state_up": True,
            "external_gateway_info": {"enable_snat": True, "network_id": external_network_id},
            "id": network.router_id,
            "name": network.name,
            "status": "ACTIVE",
        }
    }


def router_interface(tenant: Tenant, network: Network) -> Payload:
    """Return what putting a router on its subnet, and taking it off, reports."""
    return {
        "router_interface": {
            "id": network.router_id,
            "network_id": network.network_id,
            "port_id": network.router_port_id,
            "subnet_id": network.subnet_id,
            "subnet_ids": [network.subnet_id],
            "tenant_id": tenant.project_id,
        }
    }


def security_group_request(network: Network) -> Payload:
    """Return what the start of the creation of a shoot's security group reports."""
    return {"security_group": _security_group(network)}


def security_group(tenant: Tenant, network: Network) -> Payload:
    """Return a shoot's security group in full, still without its rules."""
    return {
        "security_group": {
            **_owner(tenant),
            **_security_group(network),
            "id": network.security_group,
            "security_group_rules": [],
        }
    }


def worker_rules(tenant: Tenant, network: Network) -> tuple[Payload, Payload]:
    """Return the two rules of a shoot's group: SSH from anywhere, everything among members."""
    common = {
        **_owner(tenant),
        "direction": "ingress",
        "ethertype": "IPv4",
        "security_group_id": network.security_group,
    }
    return (
        {
            **common,
            "description": "SSH onto the workers",
            "port_range_max": 22,
            "port_range_min": 22,
            "protocol": "tcp",
            "remote_group_id": None,
            "remote_ip_prefix": "0.0.0.0/0",
        },
        {
            **common,
            "description": "Every protocol between the members of the group",
            "port_range_max": None,
            "port_range_min": None,
            "protocol": None,
            "remote_group_id": network.security_group,
            "remote_ip_prefix": None,
        },
    )


def security_group_rule(rule: Payload) -> Payload:
    """Wrap a rule the way its creation reports it."""
    return {"security_group_rule": rule}


def _owner(tenant: Tenant) -> Payload:
    return {"project_id": tenant.project_id, "tenant_id": tenant.project_id}


def _plugged(port: Port) -> Payload:
    return {
        "admin_state_up": True,
        "device_id": port.device_id,
        "device_owner": port.device_owner,
        "name": "",
        "network_id": port.network.network_id,
    }


def _subnet(network: Network) -> Payload:
    return {
        "cidr": network.cidr,
        "ip_version": 4,
        "name": network.name,
        "network_id": network.network_id,
    }


def _security_group(network: Network) -> Payload:
    return {
        "description": f"Security group for the shoot {network.name}",
        "name": network.name,
    }
