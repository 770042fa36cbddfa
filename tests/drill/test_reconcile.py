"""Months whose cloud is reconciled with their events while they are published."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.calendar import rfc3339
from harness.calendar.instant import HOUR
from harness.drill import prepare
from harness.drill.reconcile import Reconciled, reconcile
from harness.oracle.live import live
from harness.stack.embedded import EmbeddedStack
from harness.stack.options import Options

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    # openstacksdk warns of its own future on every listing.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]


@pytest.fixture(scope="module")
def stack() -> Iterator[EmbeddedStack]:
    opened = EmbeddedStack.start(Options())
    yield opened
    opened.close()


def carry_out(
    stack: EmbeddedStack, *faults: str, every: int, from_start: bool = False
) -> Reconciled:
    subject = prepare(1, "2026-07", faults=faults)
    with stack.month(subject.name, cloud=subject.month.cloud) as opened:
        first = subject.oracle.start if from_start else None
        done = reconcile(subject, opened, every=every, first=first)
    assert done.balancers == {
        resource.resource_id: (interval.size["listeners"], interval.size["pools"])
        for resource, interval in live(subject.oracle, subject.oracle.end, "loadbalancer")
    }
    assert done.syncs[-1].at == subject.oracle.end
    return done


def test_a_clean_month_books_the_sizes_of_balancers_and_nothing_else(stack: EmbeddedStack) -> None:
    done = carry_out(stack, every=12 * HOUR)
    assert len(done.syncs) == 62
    assert done.booked == (0, 6, 0)
    assert done.comparison.matches
    assert done.comparison.compared == 857


def test_missing_creates_are_made_good_from_the_start_of_the_month(stack: EmbeddedStack) -> None:
    """No difference remains: the cloud dates the 18 at the month's start, where the oracle cuts them."""
    done = carry_out(stack, "missing-create", every=48 * HOUR, from_start=True)
    assert (done.syncs[0].created, done.syncs[0].updated) == (18, 0)
    assert done.booked == (18, 6, 0)
    assert done.comparison.matches
    assert done.comparison.compared == 857


def test_held_deletes_of_instances_are_dated_by_the_platform(stack: EmbeddedStack) -> None:
    """Nova says when a server went away; of anything else a sync only sees that it is gone."""
    month = prepare(1, "2026-07", faults=("held-back",)).month
    held: dict[str, set[str]] = {}
    for transition in month.held:
        held.setdefault(transition.resource_id, set()).add(transition.event_type)
    done = carry_out(stack, "held-back", every=24 * HOUR)
    differences = {d.resource_id: d for d in done.comparison.differences}
    assert all(d.touched_by == ("held-back",) for d in differences.values())
    deletes = {name for name, types in held.items() if types == {"compute.instance.delete.end"}}
    assert len(deletes) > 20
    assert not deletes & differences.keys()
    volumes = {name for name, types in held.items() if types == {"volume.delete.end"}}
    instants = {sync.at for sync in done.syncs}
    for name in volumes:
        assert differences[name].word == "wrong-interval"
        assert rfc3339(min(at for at in instants if at > differences[name].end)) in str(
            differences[name].actual
        )
