"""What an adapter saw of a cloud at one instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from harness.errors import HarnessError

Key = tuple[str, str]
"""Resource type and resource id."""


class ObservationFailed(HarnessError):
    """The cloud could not be asked; says what it was asked and what it answered."""


@dataclass(frozen=True, slots=True)
class Live:
    """A resource the cloud holds. Instants are microseconds since 1970 UTC.

    Attributes:
        resource_type: ours, such as ``instance``.
        resource_id: the platform's.
        project_id: who owns it.
        state: ours, as events spell it.
        size: as events spell it; None where the adapter reports none.
        created_at: when the platform says it began, None where it does not say.
        changed_at: when the platform says it changed last, None where it does not say.
        transitional: whether it is on its way from one state to the next.
    """

    resource_type: str
    resource_id: str
    project_id: str
    state: str
    size: Mapping[str, Any] | None = None
    created_at: int | None = None
    changed_at: int | None = None
    transitional: bool = False

    @property
    def key(self) -> Key:
        """Which resource of the cloud it is."""
        return self.resource_type, self.resource_id


@dataclass(frozen=True, slots=True)
class Gone:
    """A resource the cloud reports as deleted, and when it was."""

    resource_type: str
    resource_id: str
    deleted_at: int

    @property
    def key(self) -> Key:
        """Which resource of the cloud it was."""
        return self.resource_type, self.resource_id


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything an adapter saw.

    Attributes:
        live: by key.
        gone: by key.
        complete: the types of which every resource was seen; of others, absence says nothing.
        size_names: (resource type, size member, id) to the name that events shall carry.
        flaws: what could not be used, in words.
    """

    live: Mapping[Key, Live]
    gone: Mapping[Key, Gone] = field(default_factory=dict)
    complete: frozenset[str] = frozenset()
    size_names: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    flaws: tuple[str, ...] = ()


class Adapter(Protocol):
    """Asks one cloud."""

    def observe(self, since: int, at: int, deadline: float) -> Observation:
        """Return what the cloud holds, and what it deleted after `since`.

        Args:
            since: microseconds since 1970 UTC.
            at: the instant of the run, microseconds.
            deadline: `time.monotonic` by which to be done.

        Raises:
            ObservationFailed: the cloud cannot be asked, or not in time.
        """
        ...


def observe(
    live: Iterable[Live],
    *,
    types: Iterable[str],
    gone: Iterable[Gone] = (),
    size_names: Mapping[tuple[str, str, str], str] | None = None,
) -> Observation:
    """Screen what an adapter listed, and make an observation of it.

    An item without what an event needs is left out, and its type becomes incomplete: what else is
    lacking of it cannot be told. An item without a type makes every type incomplete. What is both
    alive and gone is alive.

    Args:
        live: what was listed.
        types: the types that were listed to their end.
        gone: what was listed as deleted.
        size_names: names of size members.
    """
    kept: dict[Key, Live] = {}
    complete = set(types)
    flaws = []
    for item in live:
        flaw = _flaw(item)
        if flaw is None:
            kept[item.key] = item
            continue
        flaws.append(flaw)
        if item.resource_type:
            complete.discard(item.resource_type)
        else:
            complete.clear()
    return Observation(
        live=kept,
        gone={item.key: item for item in gone if item.resource_id and item.key not in kept},
        complete=frozenset(complete),
        size_names=size_names or {},
        flaws=tuple(flaws),
    )


def _flaw(item: Live) -> str | None:
    if not item.resource_type:
        return f'resource "{item.resource_id}" was listed without a type'
    if not item.resource_id:
        return f"one {item.resource_type} was listed without an id"
    if not item.state:
        return f"{item.resource_type} {item.resource_id} was listed without a state"
    if not item.project_id:
        return f"{item.resource_type} {item.resource_id} was listed without a project"
    return None


def count(observation: Observation) -> dict[str, int]:
    """Return type to how many resources live, for the log."""
    return dict(Counter(resource_type for resource_type, _ in observation.live))
