"""The Gardener projects: a tenant, its image, its zone, and its shoots from creation to end."""

from __future__ import annotations

from harness.calendar.instant import DAY, HOUR, MINUTE, midnight
from harness.month import catalog, shoot_days
from harness.month.draft import Draft
from harness.month.sequences import balancers, identity, images, infrastructure, records
from harness.month.shoot_days import Course
from harness.month.workers import add_claim, add_worker
from harness.month.world import Garden, Shoot


def generate(draft: Draft, garden: Garden) -> None:
    """Append the month of a Gardener project, one shoot completely before the next."""
    tenant = garden.tenant
    identity.announce_tenant(draft, tenant, draft.start)
    images.register(draft, tenant, garden.image_id, catalog.GARDENER_IMAGE, within=30 * MINUTE)
    records.create_zone(draft, garden, draft.start + 2)
    for shoot in garden.shoots:
        course = _decide(draft, shoot)
        _create(draft, shoot, course)
        last = draft.end - DAY if course.deleted is None else midnight(course.deleted)
        for day in range(midnight(course.created), last + DAY, DAY):
            shoot_days.generate(draft, shoot, course, day)


def _decide(draft: Draft, shoot: Shoot) -> Course:
    """Draw what is settled about a shoot ahead: its size, its lifetime, its special days."""
    workers = 3 + draft.shape.below(2)
    if shoot.plan.transient:
        created = _office(draft, 2, 8)
        return Course(workers, created, deleted=_office(draft, 18, 27))
    created = draft.start + draft.seconds(HOUR, 4 * HOUR)
    if shoot.plan.hibernates:
        balancer_day = midnight(_office(draft, 3, 20)) if draft.one_in(2) else None
        return Course(workers, created, balancer_day=balancer_day)
    return Course(
        workers,
        created,
        update_day=midnight(_office(draft, 8, 20)),
        balancer_day=midnight(_office(draft, 3, 20)),
        listener_day=midnight(_office(draft, 5, 25)),
    )


def _office(draft: Draft, first: int, bound: int) -> int:
    """Draw an office instant from `first` to `bound` days into the month."""
    return draft.office_instant(draft.start + first * DAY, draft.start + bound * DAY)


def _create(draft: Draft, shoot: Shoot, course: Course) -> None:
    """Build the infrastructure, boot the workers, make the claims and the first balancer."""
    infrastructure.build(draft, shoot, course.created)
    instant = course.created + draft.seconds(30, 90)
    for _ in range(course.workers):
        add_worker(draft, shoot, instant)
        instant += draft.seconds(3, 10)
    claims = 2 + draft.shape.below(2)
    instant = course.created + draft.seconds(5 * MINUTE, 30 * MINUTE)
    for _ in range(claims):
        add_claim(draft, shoot, instant)
        instant += draft.seconds(1, 20)
    instant = course.created + draft.seconds(10 * MINUTE, 60 * MINUTE)
    name = f"kube_service_{shoot.technical_id}_ingress_nginx-ingress-controller"
    balancers.create(draft, shoot, instant, name, listeners=2)
