"""The drills of reconciliation, which are run when they are named.

::

    pytest --pyargs pytest_tally.drills.reconcile --tally-seed=1

They run on the embedded stack, whichever one the run is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from harness.calendar.instant import DAY, HOUR
from harness.drill import Subject
from harness.drill.reconcile import Reconciled, reconcile

if TYPE_CHECKING:
    from harness.stack.embedded import EmbeddedStack

pytestmark = [
    # openstacksdk warns of its own future on every listing.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]


@pytest.fixture(scope="module")
def embedded() -> Iterator[EmbeddedStack]:
    """An embedded stack, whose Reporting API can be told where the fake cloud is."""
    from harness.stack.embedded import EmbeddedStack
    from harness.stack.options import Options

    opened = EmbeddedStack.start(Options())
    yield opened
    opened.close()


@pytest.mark.tally_faults
def test_a_clean_month_books_nothing_but_the_sizes_of_load_balancers(
    tally_month: Subject, embedded: EmbeddedStack
) -> None:
    """Syncs twice a day find nothing amiss but the sizes, which no notification states."""
    done = _carry_out(tally_month, embedded, "twice-a-day", every=12 * HOUR)
    assert done.findings() == ()
    created, _, deleted = done.booked
    assert (created, deleted) == (0, 0)


@pytest.mark.tally_faults("missing-create")
def test_creates_that_never_came_are_made_good(
    tally_month: Subject, embedded: EmbeddedStack
) -> None:
    """No difference remains where syncs begin with the month.

    The resources whose creates are lacking were there before it. The first sync finds all of
    them and dates each to when the cloud says it began, for which the cloud answers with the
    month's first instant; there the oracle cuts them as well.
    """
    done = _carry_out(
        tally_month, embedded, "made-good", every=2 * DAY, first=tally_month.oracle.start
    )
    assert done.findings() == ()
    touched = sum("missing-create" in resource.faults for resource in tally_month.oracle.resources)
    assert done.syncs[0].created == touched > 0
    assert sum(sync.created for sync in done.syncs[1:]) == 0


@pytest.mark.tally_faults
def test_one_sync_sizes_every_load_balancer(tally_month: Subject, embedded: EmbeddedStack) -> None:
    """At the end of the month one sync gives each of them the size the cloud says."""
    oracle = tally_month.oracle
    done = _carry_out(tally_month, embedded, "at-the-end", every=oracle.end - oracle.start)
    assert done.findings() == ()
    assert done.booked == (0, len(done.balancers), 0)


def _carry_out(
    subject: Subject, stack: EmbeddedStack, name: str, *, every: int, first: int | None = None
) -> Reconciled:
    with stack.month(f"{subject.name}-{name}", cloud=subject.month.cloud) as opened:
        return reconcile(subject, opened, every=every, first=first)
