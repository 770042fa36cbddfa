"""What syncs have to book, and how a drill says that they did not."""

from dataclasses import replace

from harness.calendar.instant import HOUR
from harness.drill import prepare
from harness.drill.reconcile import Reconciled
from harness.drill.syncs import Sync, balancers, expect_syncs
from harness.oracle.compare import Comparison

MATCH = Comparison("2026-03", 857, (), {}, 6, 0, ())


def test_a_clean_month_needs_the_sizes_of_balancers_only():
    subject = prepare(1, "2026-07")
    oracle = subject.oracle
    syncs = expect_syncs(subject, range(oracle.start + 12 * HOUR, oracle.end + 1, 12 * HOUR))
    assert len(syncs) == 62
    assert sum(sync.updated for sync in syncs) == 6
    assert {(sync.created, sync.deleted) for sync in syncs} == {(0, 0)}


def test_what_was_not_heard_of_is_created_once():
    subject = prepare(1, "2026-07", faults=("missing-create",))
    oracle = subject.oracle
    first, second = expect_syncs(subject, (oracle.start, oracle.start + HOUR))
    assert (first.created, second.created) == (18, 0)
    assert expect_syncs(prepare(1, "2026-07"), (oracle.start,)) == (Sync(oracle.start, 0, 0, 0),)


def test_findings_name_the_sync_and_the_balancer():
    oracle = prepare(1, "2026-07").oracle
    lived = balancers(oracle, oracle.end)
    sync = Sync(oracle.start, 0, 6, 0)
    done = Reconciled((sync,), MATCH, lived, (sync,), lived)
    assert done.findings() == ()
    (finding,) = replace(done, syncs=(replace(sync, updated=5),)).findings()
    assert finding == (
        "the sync at 2026-07-01T00:00:00Z booked 0 creates, 5 updates, 0 deletes "
        "instead of 0 creates, 6 updates, 0 deletes"
    )
    name = min(lived)
    (finding,) = replace(done, balancers={**lived, name: (9, 9)}).findings()
    assert name in finding
    (finding,) = replace(done, balancers={k: v for k, v in lived.items() if k != name}).findings()
    assert f"{name} ends with None" in finding
