"""A day of a shoot, step by step; the order of the steps is that of the draws.

Waking up, scaling up, the rolling update, a second balancer, another listener, what happens to
the claims, scaling down, going to sleep, the tear-down.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.calendar.instant import HOUR, MINUTE, midnight
from harness.calendar.profile import is_working_day
from harness.month.draft import Draft
from harness.month.resources import Volume
from harness.month.sequences import balancers, identity, infrastructure, volumes
from harness.month.workers import add_claim, add_worker, attach_claim, remove_worker
from harness.month.world import Shoot

_OPEN = 7 * HOUR
_CLOSE = 19 * HOUR
#: When claims are made, extended and deleted.
_CLAIMS = (8 * HOUR, 18 * HOUR + 30 * MINUTE)
_MOST_GROWTHS = 2


@dataclass(frozen=True, slots=True)
class Course:
    """What is settled about a shoot before its first day; instants in Unix seconds.

    Attributes:
        workers: how many it has at rest.
        created: the instant of its creation.
        deleted: the instant its tear-down starts; None when it outlives the month.
        update_day: midnight of the day its workers are replaced.
        balancer_day: midnight of the day it takes a second balancer.
        listener_day: midnight of the day its first balancer takes a third listener.
    """

    workers: int
    created: int
    deleted: int | None = None
    update_day: int | None = None
    balancer_day: int | None = None
    listener_day: int | None = None

    def covers_office_hours(self, day: int) -> bool:
        """Tell whether the shoot is there from 07:00 to 19:00 of a day."""
        return self.created < day + _OPEN and (self.deleted is None or self.deleted >= day + _CLOSE)


def generate(draft: Draft, shoot: Shoot, course: Course, day: int) -> None:
    """Append the day that starts at midnight `day`."""
    working = is_working_day(day)
    if working and not shoot.awake:
        _wake(draft, shoot, course, day)
    active = working and shoot.awake and course.covers_office_hours(day)
    if active:
        _scale_up(draft, shoot, day)
    if day == course.update_day:
        _roll(draft, shoot, day)
    if day == course.balancer_day:
        instant = draft.office_instant(day + 9 * HOUR, day + 17 * HOUR)
        name = f"kube_service_{shoot.technical_id}_default_api"
        balancers.create(draft, shoot, instant, name, listeners=1)
    if day == course.listener_day:
        instant = draft.office_instant(day + 9 * HOUR, day + 17 * HOUR)
        balancers.add_listener(draft, shoot.tenant, shoot.balancers[0], instant)
    if active:
        _change_claims(draft, shoot, day)
        _scale_down(draft, shoot, day)
    if shoot.plan.hibernates and shoot.awake:
        _sleep(draft, shoot, day)
    if course.deleted is not None and day == midnight(course.deleted):
        _tear_down(draft, shoot, course.deleted)


def _wake(draft: Draft, shoot: Shoot, course: Course, day: int) -> None:
    """Boot the workers again and attach every claim to the first of them."""
    instant = last = day + _OPEN
    identity.authenticate(draft, shoot.tenant, instant - 2)
    for _ in range(course.workers):
        last = instant
        add_worker(draft, shoot, instant)
        instant += draft.seconds(3, 10)
    for place, claim in enumerate(shoot.claims):
        attach_claim(draft, shoot, claim, last + 1 + 2 * place)
    shoot.awake = True


def _scale_up(draft: Draft, shoot: Shoot, day: int) -> None:
    """Add one or two workers for the day."""
    instant = draft.machine_instant(day + 8 * HOUR, day + 12 * HOUR)
    for _ in range(1 + draft.shape.below(2)):
        shoot.extras.append(add_worker(draft, shoot, instant))
        instant += draft.seconds(3, 10)


def _roll(draft: Draft, shoot: Shoot, day: int) -> None:
    """Replace the workers one by one, the day's additional ones excepted."""
    instant = draft.office_instant(day + 9 * HOUR, day + 15 * HOUR)
    identity.authenticate(draft, shoot.tenant, instant - 2)
    for worker in [worker for worker in shoot.workers if worker not in shoot.extras]:
        add_worker(draft, shoot, instant)
        gone = instant + draft.seconds(2 * MINUTE, 5 * MINUTE)
        remove_worker(draft, shoot, worker, gone)
        instant = gone + draft.seconds(MINUTE, 3 * MINUTE)


def _change_claims(draft: Draft, shoot: Shoot, day: int) -> None:
    """Maybe make a claim, maybe double one, maybe delete one.

    Only claims from before the day are doubled or deleted, the first one is never deleted, and
    none is deleted on the day it was doubled.
    """
    window = day + _CLAIMS[0], day + _CLAIMS[1]
    if draft.one_in(3):
        add_claim(draft, shoot, draft.machine_instant(*window))
    doubled = None
    if draft.one_in(4):
        candidates = [c for c in _older(shoot.claims, day) if c.growths < _MOST_GROWTHS]
        if candidates:
            instant = draft.machine_instant(*window)
            doubled = draft.choose(candidates)
            volumes.double(draft, shoot.tenant, doubled, instant)
    if draft.one_in(5):
        candidates = [c for c in _older(shoot.claims[1:], day) if c is not doubled]
        if candidates:
            instant = draft.machine_instant(*window)
            claim = draft.choose(candidates)
            volumes.delete(draft, shoot.tenant, claim, instant)
            shoot.claims.remove(claim)


def _older(claims: list[Volume], day: int) -> list[Volume]:
    return [claim for claim in claims if claim.created < day]


def _scale_down(draft: Draft, shoot: Shoot, day: int) -> None:
    """Give the day's additional workers back."""
    instant = draft.machine_instant(day + 16 * HOUR, day + 18 * HOUR + 30 * MINUTE)
    for worker in list(shoot.extras):
        remove_worker(draft, shoot, worker, instant)
        instant += draft.seconds(10, 60)


def _sleep(draft: Draft, shoot: Shoot, day: int) -> None:
    """Delete every worker and keep the claims, detached."""
    instant = day + _CLOSE
    for worker in list(shoot.workers):
        remove_worker(draft, shoot, worker, instant)
        instant += draft.seconds(5, 15)
    for place, claim in enumerate(shoot.claims):
        volumes.detach(draft, shoot.tenant, claim, instant + 1 + 2 * place)
    shoot.awake = False


def _tear_down(draft: Draft, shoot: Shoot, deleted: int) -> None:
    """Remove balancers, workers, claims, and the infrastructure underneath."""
    identity.authenticate(draft, shoot.tenant, deleted - 2)
    instant = deleted
    for balancer in shoot.balancers:
        instant = balancers.remove(draft, shoot.tenant, balancer, instant)
    for worker in list(shoot.workers):
        remove_worker(draft, shoot, worker, instant)
        instant += draft.seconds(5, 15)
    for claim in shoot.claims:
        volumes.delete(draft, shoot.tenant, claim, instant)
        instant += draft.seconds(5, 15)
    infrastructure.tear_down(draft, shoot, instant)
