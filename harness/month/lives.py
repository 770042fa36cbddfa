"""The life of a classic instance: power cycles, then maybe a resize, then maybe a shelving.

A step that would not be over before the end of the life ends it: nothing more is drawn or
appended, and the step after it does not happen either.
"""

from __future__ import annotations

from harness.calendar.instant import DAY, HOUR
from harness.month.catalog import FLAVORS, XLARGE
from harness.month.draft import Draft
from harness.month.model import Tenant
from harness.month.payloads import nova
from harness.month.resources import Instance
from harness.month.sequences import servers

#: From the end of a resize on the source host to its finish, and from there to the user's answer.
_RESIZING = 60
_DECIDING = 600


def live(
    draft: Draft,
    tenant: Tenant,
    instance: Instance,
    end: int,
    *,
    resizes: bool,
    reverts: bool,
    shelves: bool,
) -> None:
    """Append a life.

    Args:
        draft: the month.
        tenant: the owner.
        instance: booted already.
        end: everything happens before it.
        resizes: a resize is certain; otherwise it is one in two.
        reverts: a resize is reverted; otherwise it is confirmed.
        shelves: a shelving is certain; otherwise it is one in three.
    """
    cursor = _cycle_power(draft, tenant, instance, end)
    if cursor is not None and (resizes or draft.one_in(2)):
        cursor = _resize(draft, tenant, instance, cursor, end, reverts=reverts)
    if cursor is not None and (shelves or draft.one_in(3)):
        _shelve(draft, tenant, instance, cursor, end)


def _pause(draft: Draft) -> int:
    return draft.seconds(HOUR, 3 * DAY)


def _cycle_power(draft: Draft, tenant: Tenant, instance: Instance, end: int) -> int | None:
    """Switch off and on one to three times; return where the life goes on, None if it does not."""
    server = servers.subject(draft, tenant, instance)
    off = instance.created + _pause(draft)
    for _ in range(1 + draft.shape.below(3)):
        on = off + draft.seconds(2 * HOUR, 48 * HOUR)
        if on >= end:
            return None
        running = nova.powered(tenant, instance, "active")
        stopped = nova.powered(tenant, instance, "stopped")
        server.note(off - 5, "power_off.start", running)
        server.book(off, "power_off.end", stopped, servers.standing(instance, "shutoff"))
        server.note(on - 5, "power_on.start", stopped)
        server.book(on, "power_on.end", running, servers.standing(instance, "active"))
        off = on + _pause(draft)
    return off


def _resize(
    draft: Draft, tenant: Tenant, instance: Instance, start: int, end: int, *, reverts: bool
) -> int | None:
    """Resize and settle it; return where the life goes on, None if it does not."""
    finished = start + _RESIZING
    settled = finished + _DECIDING
    if settled >= end:
        return None
    server = servers.subject(draft, tenant, instance)
    old = instance.flavor
    payload = nova.resized(tenant, instance, "active")
    server.note(start - 5, "resize.start", payload)
    server.note(start, "resize.end", payload)
    drawn = draft.choose(FLAVORS[:3])
    instance.flavor = XLARGE if drawn is old else drawn
    server.note(finished - 5, "finish_resize.start", nova.resized(tenant, instance, "active"))
    pending = nova.resized(tenant, instance, "resized")
    server.book(finished, "finish_resize.end", pending, servers.standing(instance, "active"))
    answer = "resize.revert" if reverts else "resize.confirm"
    server.note(settled - 5, f"{answer}.start", pending)
    if reverts:
        instance.flavor = old
    payload = nova.resized(tenant, instance, "active")
    server.book(settled, f"{answer}.end", payload, servers.standing(instance, "active"))
    return finished + _pause(draft)


def _shelve(draft: Draft, tenant: Tenant, instance: Instance, start: int, end: int) -> None:
    """Shelve for one to five days."""
    back = start + draft.seconds(DAY, 5 * DAY)
    if back >= end:
        return
    server = servers.subject(draft, tenant, instance)
    running = nova.shelved(tenant, instance, "active")
    offloaded = nova.shelved(tenant, instance, "shelved_offloaded")
    server.note(start - 5, "shelve_offload.start", running)
    server.book(start, "shelve_offload.end", offloaded, servers.standing(instance, "shelved"))
    server.note(back - 5, "unshelve.start", offloaded)
    server.book(back, "unshelve.end", running, servers.standing(instance, "active"))
