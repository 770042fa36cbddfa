"""From a transition to the bytes on the bus."""

from __future__ import annotations

from harness.calendar import stamp
from harness.month.model import Transition
from harness.oslo import Notification, render

ROUTING_KEY = "notifications.info"


def body(transition: Transition) -> bytes:
    """Return the oslo envelope of a transition; a truncated twin carries half its message."""
    message = render.document(
        {
            "_context_project_id": transition.project_id,
            "_context_tenant_id": transition.project_id,
            "_context_user_id": transition.user_id,
            "event_type": transition.event_type,
            "message_id": transition.message_id,
            "payload": transition.payload,
            "priority": "INFO",
            "publisher_id": transition.publisher or None,
            "timestamp": stamp(transition.instant),
        }
    )
    if transition.truncated:
        message = message[: len(message) // 2]
    return render.envelope(message)


def notification(transition: Transition) -> Notification:
    """Return a transition as it is published."""
    return Notification(transition.exchange, ROUTING_KEY, body(transition))


def line(transition: Transition) -> bytes:
    """Return a transition as a line of a stream file."""
    return render.line(notification(transition))
