"""The daily audits: every instance that existed on a day is reported at the midnight behind it.

They are made last, by walking everything appended so far in the order of its instants. No stream
is drawn from.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

from harness.calendar.instant import DAY
from harness.month.catalog import FLAVOR_IDS
from harness.month.draft import Draft
from harness.month.model import Kind, Transition
from harness.month.payloads import Payload, nova

_CREATED = "compute.instance.create.end"
_DELETED = "compute.instance.delete.end"
#: The steps after which a server is known to have another flavor.
_RESIZED = frozenset(
    f"compute.instance.{step}.end" for step in ("finish_resize", "resize.confirm", "resize.revert")
)
_FLAVOR = (
    "vcpus",
    "memory_mb",
    "root_gb",
    "ephemeral_gb",
    "instance_type",
    "instance_type_id",
)


@dataclass(slots=True)
class _Entry:
    """An instance of the fleet: how it was created, how it stands, when it was deleted."""

    origin: Transition
    base: Payload
    deleted: int | None = None

    def follow(self, transition: Transition) -> None:
        """Take over what the end of a step says about the instance."""
        payload = transition.payload
        if "state" in payload:
            self.base["state"] = payload["state"]
        if transition.event_type in _RESIZED:
            self.base.update({name: payload[name] for name in _FLAVOR})
            self.base["disk_gb"] = payload["root_gb"] + payload["ephemeral_gb"]
            self.base["instance_flavor_id"] = FLAVOR_IDS[payload["instance_type_id"]]
        if transition.event_type == _DELETED:
            self.deleted = transition.instant


def append(draft: Draft) -> None:
    """Append the audits of the month, for every midnight but its first and the one that ends it.

    An audit moves on by whole seconds while its instance reports something else at that second;
    the period it states stays that of the midnight.
    """
    taken = {(one.resource_id, one.instant) for one in draft.transitions}
    fleet: dict[str, _Entry] = {}
    midnight, end = draft.start + DAY, draft.end
    for transition in sorted(draft.transitions, key=attrgetter("instant")):
        while midnight < end and transition.instant >= midnight:
            fleet = _report(draft, fleet, taken, midnight)
            midnight += DAY
        if transition.event_type == _CREATED:
            fleet[transition.resource_id] = _Entry(transition, dict(transition.payload))
        elif (
            transition.event_type.startswith("compute.instance.")
            and transition.event_type.endswith(".end")
            and transition.resource_id in fleet
        ):
            fleet[transition.resource_id].follow(transition)
    while midnight < end:
        fleet = _report(draft, fleet, taken, midnight)
        midnight += DAY


def _report(
    draft: Draft, fleet: dict[str, _Entry], taken: set[tuple[str, int]], midnight: int
) -> dict[str, _Entry]:
    """Append the audits of the day before `midnight`; return the fleet without its deleted."""
    for instance_id, entry in fleet.items():
        if entry.deleted is not None and entry.deleted <= midnight - DAY:
            continue
        instant = midnight
        while (instance_id, instant) in taken:
            instant += 1
        origin = entry.origin
        draft.transitions.append(
            Transition(
                instant,
                "compute.instance.exists",
                origin.exchange,
                origin.publisher,
                origin.project_id,
                origin.user_id,
                instance_id,
                origin.workload,
                Kind.NOISE,
                nova.existing(entry.base, midnight - DAY, midnight),
            )
        )
    return {key: entry for key, entry in fleet.items() if entry.deleted is None}
