"""The canonical event, and the bytes it is written as."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

from harness.oslo.envelope import rfc3339

#: An event of more bytes is not posted.
EVENT_MAX = 64 * 1024

_SPECIAL = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


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
            f'{{"event_id":{_string(self.event_id)}'
            f',"timestamp":"{rfc3339(self.timestamp)}"'
            f',"event_type":{_string(self.event_type)}'
            f',"platform":{_string(self.platform)}'
            f',"cloud":{_string(self.cloud)}'
            f',"resource_type":{_string(self.resource_type)}'
            f',"resource_id":{_string(self.resource_id)}'
            f',"project_id":{_string(self.project_id)}'
            f',"source":{_string(self.source)}'
            f',"payload":{_value(self.payload)}}}'
        ).encode()


def deterministic_id(
    platform: str, cloud: str, resource_id: str, event_type: str, timestamp: int
) -> str:
    """Return the id of an event whose notification carried none."""
    facts = f"{cloud}:{resource_id}:{event_type}:{rfc3339(timestamp)}"
    return f"{platform}-{hashlib.sha256(facts.encode(errors='surrogatepass')).hexdigest()}"


def plain(number: Decimal) -> str:
    """Write a decimal in its shortest form: no exponent, no trailing zeros, no negative zero."""
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _string(text: str) -> str:
    quoted = encode_basestring(text)
    if _SPECIAL.search(quoted):
        return _SPECIAL.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
    return quoted


def _value(value: Any) -> str:
    if isinstance(value, dict):
        members = (f"{_string(name)}:{_value(value[name])}" for name in sorted(value))
        return "{" + ",".join(members) + "}"
    if isinstance(value, Decimal):
        return plain(value)
    if isinstance(value, int):
        return str(value)
    return _string(value)
