"""The canonical event, and the bytes it is written as."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from harness.collector.writer import quote, write
from harness.oslo.envelope import rfc3339

#: An event of more bytes is not posted.
EVENT_MAX = 64 * 1024


@dataclass(frozen=True, slots=True)
class Event:
    """One lifecycle fact of a resource.

    Attributes:
        event_id: what makes a redelivery a duplicate.
        timestamp: nanoseconds since 1970-01-01 UTC.
        event_type: dotted, such as ``compute.instance.create.end``.
        platform: ``openstack``.
        cloud: name of the installation.
        resource_type: ``instance``, ``volume``, ``floating_ip``, ``image``, ``loadbalancer``.
        resource_id: as the cloud names it.
        project_id: the tenant that owns the resource at this instant.
        source: ``collector``.
        payload: ``provider`` always; ``state`` and ``size`` where the type states them.
    """

    event_id: str
    timestamp: int
    event_type: str
    platform: str
    cloud: str
    resource_type: str
    resource_id: str
    project_id: str
    source: str
    payload: dict[str, Any]

    def encode(self) -> bytes:
        """Write compact JSON: the ten members in order, everything in payload in byte order.

        ``<``, ``>``, ``&``, U+2028, U+2029 and lone surrogates are escaped, numbers keep their
        exact digits.
        """
        return (
            f'{{"event_id":{quote(self.event_id)}'
            f',"timestamp":"{rfc3339(self.timestamp)}"'
            f',"event_type":{quote(self.event_type)}'
            f',"platform":{quote(self.platform)}'
            f',"cloud":{quote(self.cloud)}'
            f',"resource_type":{quote(self.resource_type)}'
            f',"resource_id":{quote(self.resource_id)}'
            f',"project_id":{quote(self.project_id)}'
            f',"source":{quote(self.source)}'
            f',"payload":{write(self.payload)}}}'
        ).encode()


def deterministic_id(
    platform: str, cloud: str, resource_id: str, event_type: str, timestamp: int
) -> str:
    """Return the id of an event whose notification carried none."""
    facts = f"{cloud}:{resource_id}:{event_type}:{rfc3339(timestamp)}"
    return f"{platform}-{hashlib.sha256(facts.encode(errors='surrogatepass')).hexdigest()}"
