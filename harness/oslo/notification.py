"""A notification as it stands on the bus."""

from __future__ import annotations

from dataclasses import dataclass

#: The topic exchanges a simulated month publishes to, in the order they are declared.
EXCHANGES = (
    "nova",
    "openstack",
    "neutron",
    "glance",
    "octavia",
    "keystone",
    "designate",
    "barbican",
)


@dataclass(frozen=True, slots=True)
class Notification:
    """One message: where it is published, and its bytes.

    Attributes:
        exchange: name of the topic exchange.
        routing_key: ``notifications.info`` throughout a generated month.
        body: the oslo envelope as its bytes are published.
    """

    exchange: str
    routing_key: str
    body: bytes
