"""What the mapping's table calls its state, size and skip rules.

None of them fails. What cannot be read is not in the size, and the Reporting API judges that.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from harness.oslo.envelope import Literal

Payload = dict[str, Any]
Size = dict[str, Decimal | int | str]
StateRule = Callable[[Payload], str]
SizeRule = Callable[[Payload], Size]
SkipRule = Callable[[Payload], bool]

_LENGTH_MAX = 40
_EXPONENT_MAX = 30
_EXACT = Context(prec=200, rounding=ROUND_HALF_UP)
_PLACES = Decimal(1).scaleb(-28)
_MIB_PER_GIB = Decimal(1024)
_BYTES_PER_GIB = Decimal(1 << 30)
_VM_STATES = {"stopped": "shutoff", "shelved_offloaded": "shelved", "resized": "active"}


def number(value: Any) -> Decimal | None:
    """Return a JSON number exactly, or None: no number, over 40 characters, exponent over ±30."""
    if isinstance(value, Literal):
        text = value.text
    elif type(value) is int and abs(value) < 10**_LENGTH_MAX:
        text = str(value)
    else:
        return None
    if len(text) > _LENGTH_MAX:
        return None
    exponent = text.lower().partition("e")[2]
    if exponent and abs(int(exponent)) > _EXPONENT_MAX:
        return None
    return Decimal(text)


def text_at(payload: Payload, path: str) -> str:
    """Return the text under a dotted path, empty when there is none."""
    value: Any = payload
    for member in path.split("."):
        if not isinstance(value, dict):
            return ""
        value = value.get(member)
    return value if isinstance(value, str) else ""


def fixed_state(state: str) -> StateRule:
    """Return the rule of a type that says itself what the state became."""
    return lambda _payload: state


def vm_state(payload: Payload) -> str:
    """Return nova's state, normalised; an unknown one as it is, an absent one empty."""
    state = text_at(payload, "state")
    return _VM_STATES.get(state, state)


def volume_status(payload: Payload) -> str:
    """Return cinder's status, which it does not always repeat."""
    return text_at(payload, "status") or "available"


def instance_size(payload: Payload) -> Size:
    """Return vcpus, ram_gb, disk_gb (root and ephemeral) and flavor."""
    size: Size = {}
    if (vcpus := number(payload.get("vcpus"))) is not None:
        size["vcpus"] = vcpus
    if (memory := number(payload.get("memory_mb"))) is not None:
        size["ram_gb"] = _divide(memory, _MIB_PER_GIB)
    root, ephemeral = (number(payload.get(name)) for name in ("root_gb", "ephemeral_gb"))
    if root is not None or ephemeral is not None:
        size["disk_gb"] = _EXACT.add(root or Decimal(0), ephemeral or Decimal(0))
    if flavor := text_at(payload, "instance_type"):
        size["flavor"] = flavor
    return size


def volume_size(payload: Payload) -> Size:
    """Return size_gb and type."""
    size: Size = {}
    if (gigabytes := number(payload.get("size"))) is not None:
        size["size_gb"] = gigabytes
    if volume_type := text_at(payload, "volume_type"):
        size["type"] = volume_type
    return size


def image_size(payload: Payload) -> Size:
    """Return size_gb; glance reports bytes."""
    size = number(payload.get("size"))
    return {} if size is None else {"size_gb": _divide(size, _BYTES_PER_GIB)}


def floating_ip_size(payload: Payload) -> Size:
    """Return ip_version, 4 when the address is absent or unreadable."""
    try:
        address = ipaddress.ip_address(text_at(payload, "floatingip.floating_ip_address"))
    except ValueError:
        return {"ip_version": 4}
    return {"ip_version": address.version}


def load_balancer_size(payload: Payload) -> Size:
    """Return how many listeners and pools a create names: as a rule none, whatever there are."""
    size: Size = {}
    for member in ("listeners", "pools"):
        value = payload.get(member)
        if value is None:
            size[member] = 0
        elif isinstance(value, list):
            size[member] = len(value)
    return size


def unsized_image(payload: Payload) -> bool:
    """Tell whether an image's size is no usable positive number; its upload will carry one."""
    size = number(payload.get("size"))
    return size is None or size <= 0


def _divide(dividend: Decimal, divisor: Decimal) -> Decimal:
    return _EXACT.divide(dividend, divisor).quantize(_PLACES, context=_EXACT)
