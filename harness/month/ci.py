"""The CI tenant: bursts of short-lived runners on every working day."""

from __future__ import annotations

from harness.calendar.instant import DAY, HOUR, MINUTE
from harness.calendar.profile import is_working_day
from harness.month import catalog
from harness.month.draft import Draft
from harness.month.resources import Instance
from harness.month.sequences import identity, images, networks, servers

#: The longest a burst lasts: four gaps of three seconds. The last one is over by the evening.
_BURST = 12


def generate(draft: Draft) -> None:
    """Append the month of the CI tenant."""
    ci = draft.world.ci
    identity.announce_tenant(draft, ci.tenant, draft.start)
    images.register(draft, ci.tenant, ci.image_id, catalog.CI_IMAGE, within=30 * MINUTE)
    networks.build(draft, ci.tenant, ci.network, draft.start + 2)
    for day in filter(is_working_day, range(draft.start, draft.end, DAY)):
        for _ in range(4 + draft.shape.below(5)):
            _burst(draft, day)


def _burst(draft: Draft, day: int) -> None:
    """Boot two to five runners within seconds."""
    instant = draft.machine_instant(day + 7 * HOUR, day + 19 * HOUR - _BURST)
    identity.authenticate(draft, draft.world.ci.tenant, instant - 2)
    for _ in range(2 + draft.shape.below(4)):
        _run(draft, instant)
        instant += draft.seconds(1, 4)


def _run(draft: Draft, instant: int) -> None:
    """Boot a runner, and delete it after 3 to 40 minutes."""
    ci = draft.world.ci
    instance_id = draft.ids.uuid()
    runner = Instance(
        instance_id=instance_id,
        name=f"runner-{instance_id[:8]}",
        flavor=draft.choose(catalog.RUNNER_FLAVORS),
        host=draft.choose(catalog.HOSTS),
        created=instant,
        image_id=ci.image_id,
    )
    servers.boot(draft, ci.tenant, runner, ci.network)
    servers.remove(draft, ci.tenant, runner, instant + draft.seconds(3 * MINUTE, 40 * MINUTE))
