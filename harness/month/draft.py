"""A month while it is generated: its streams, its world, and what was appended so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from msgspec import Struct, field

from harness.calendar import Period, profile
from harness.month import catalog
from harness.month.leads import Leads
from harness.month.model import Fact, Kind, Size, Tenant, Transition
from harness.month.world import World
from harness.prng import Identifiers, Pcg

_Item = TypeVar("_Item")

#: What a booked transition leaves behind: a state and a size from here on, or None for an end.
Effect = tuple[str, Size] | None


class Draft(Struct, eq=False):
    """The month under construction.

    Transitions and facts are appended as the generation comes to them, which is not by time. Their
    order still counts, because the sort at the end keeps it within a second. What a payload shows
    is the world of the moment it was appended, whatever changes afterwards.

    Attributes:
        period: the month.
        cloud: name of the cloud.
        shape: the draws behind every event, its time and its size.
        ids: of everything billable.
        noise_ids: of what only noise carries.
        world: who lives in the cloud.
        leads: moves instances to before the month; None without a fault switch that does.
        transitions: in append order.
        facts: in append order.
        touched: (resource type, resource id) to the switches that touched it.
    """

    period: Period
    cloud: str
    shape: Pcg
    ids: Identifiers
    noise_ids: Identifiers
    world: World
    leads: Leads | None = None
    transitions: list[Transition] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    touched: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    @property
    def start(self) -> int:
        """First instant of the month."""
        return self.period.start

    @property
    def end(self) -> int:
        """First instant of the following month."""
        return self.period.end

    def seconds(self, least: int, bound: int) -> int:
        """Draw a number of seconds from `least` to `bound` - 1."""
        return least + self.shape.below(bound - least)

    def one_in(self, count: int) -> bool:
        """Draw a yes with a chance of one in `count`."""
        return self.shape.below(count) == 0

    def choose(self, items: Sequence[_Item]) -> _Item:
        """Draw one of `items`; the only one of a single item is drawn as well."""
        return items[self.shape.below(len(items))]

    def machine_instant(self, start: int, end: int) -> int:
        """Draw when a machine acts in ``[start, end)``, by the weights of the working week."""
        return profile.weighted_instant(self.shape.below, start, end)

    def office_instant(self, start: int, end: int) -> int:
        """Draw when a person acts in ``[start, end)``, within office hours."""
        return profile.office_instant(self.shape.below, start, end)

    def touch(self, resource_type: str, resource_id: str, switch: str) -> None:
        """Remember that a fault switch reached a resource."""
        self.touched.setdefault((resource_type, resource_id), set()).add(switch)


class Subject(Struct, frozen=True):
    """A resource of a draft, and who speaks about it.

    Attributes:
        draft: what is appended to.
        noun: head of its event types, ``compute.instance`` or ``port``.
        publisher: who publishes.
        requester: for whom.
        resource_id: what the notifications are about.
    """

    draft: Draft
    noun: str
    publisher: str
    requester: Tenant
    resource_id: str

    def note(self, instant: int, verb: str, payload: dict[str, Any]) -> None:
        """Append noise."""
        self._append(Kind.NOISE, instant, verb, payload)

    def announce(self, instant: int, verb: str, payload: dict[str, Any]) -> None:
        """Append what is neither noise nor billable: an image that has no size yet."""
        self._append(Kind.UNSIZED, instant, verb, payload)

    def book(self, instant: int, verb: str, payload: dict[str, Any], effect: Effect) -> None:
        """Append a billable transition, and the fact the oracle is folded from."""
        self._append(Kind.BOOKED, instant, verb, payload)
        requester = self.requester
        state, size = effect or (None, None)
        self.draft.facts.append(
            Fact(
                instant,
                f"{self.noun}.{verb}",
                self.resource_id,
                requester.project_id,
                requester.workload,
                state,
                size,
            )
        )

    def _append(self, kind: Kind, instant: int, verb: str, payload: dict[str, Any]) -> None:
        event_type = f"{self.noun}.{verb}"
        requester = self.requester
        self.draft.transitions.append(
            Transition(
                instant,
                event_type,
                catalog.exchange_of(event_type),
                self.publisher,
                requester.project_id,
                requester.user_id,
                self.resource_id,
                requester.workload,
                kind,
                payload,
            )
        )
