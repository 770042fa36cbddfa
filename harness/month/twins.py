"""Refused shapes: notifications beside a billable one that no collector may book.

An oversized twin is larger than what a collector reads, a truncated one ends in the middle of its
message, a versioned one speaks nova's other notification format.
"""

from __future__ import annotations

from dataclasses import replace

from harness.month.model import Kind, Transition

_PADDING = "x" * (1 << 20)
#: What an action is called in the versioned format; everything else keeps its name.
_ACTIONS = {
    "finish_resize": "resize_finish",
    "resize.confirm": "resize_confirm",
    "resize.revert": "resize_revert",
}


def oversized(original: Transition, message_id: str) -> Transition:
    """Return a twin whose body passes the bound of 1 MiB."""
    payload = {**original.payload, "fault_padding": _PADDING}
    return replace(original, kind=Kind.TWIN, message_id=message_id, payload=payload)


def truncated(original: Transition, message_id: str) -> Transition:
    """Return a twin whose message is cut to its first half."""
    return replace(original, kind=Kind.TWIN, message_id=message_id, truncated=True)


def versioned(original: Transition, message_id: str) -> Transition:
    """Return the twin of a nova notification in the versioned format."""
    action = original.event_type.removeprefix("compute.instance.")
    for legacy, name in _ACTIONS.items():
        action = action.replace(legacy, name)
    data = dict(original.payload)
    data["uuid"] = data.pop("instance_id")
    return replace(
        original,
        kind=Kind.TWIN,
        message_id=message_id,
        event_type=f"instance.{action}",
        publisher=f"nova-compute:{original.publisher.removeprefix('compute.')}",
        payload={
            "nova_object.data": data,
            "nova_object.name": "InstanceActionPayload",
            "nova_object.namespace": "nova",
            "nova_object.version": "1.8",
        },
    )
