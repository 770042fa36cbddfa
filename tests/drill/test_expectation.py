"""What the switches are documented to do, worked out of the month and not read from a table."""

from collections import Counter

import pytest

from harness.drill import prepare, released

#: Switch; on the bus, consumed, skipped, unparseable, repeats; touched resources; types that differ.
SEED_1 = [
    ((), (15741, 1812, 13929, 0, 0), 0, {}),
    (("pre-existing",), (15741, 1812, 13929, 0, 0), 18, {}),
    (("missing-create",), (15557, 1752, 13805, 0, 0), 18, {"instance": 5, "volume": 8, "floating_ip": 5}),
    (("duplicates",), (15827, 1898, 13929, 0, 86), 85, {}),
    (("reordering",), (15741, 1812, 13929, 0, 0), 87, {}),
    (("refused-shapes",), (15828, 1812, 13996, 20, 0), 84, {}),
    (("held-back",), (15657, 1728, 13929, 0, 0), 81, {"instance": 61, "volume": 15, "floating_ip": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("faults", "figures", "touched", "differing"), SEED_1)
def test_figures_of_seed_1(faults, figures, touched, differing):
    subject = prepare(1, "2026-07", faults=faults)
    expectation = subject.expectation
    assert figures == (
        expectation.published,
        sum(expectation.consumed.values()),
        sum(expectation.skipped.values()),
        expectation.unparseable,
        expectation.repeats,
    )
    assert len(subject.month.touched) == touched
    billed = {key for key in expectation.differing if key[0] not in {"image", "loadbalancer"}}
    assert Counter(kind for kind, _ in billed) == differing
    assert expectation.differing <= subject.month.touched.keys()


def test_what_is_stored_is_the_oracles_counts_short_of_what_is_held():
    subject = prepare(1, "2026-07", faults=("duplicates", "held-back"))
    expectation = subject.expectation
    missing = Counter(subject.counts) - Counter(expectation.stored)
    assert missing.total() == 84
    assert Counter(expectation.stored) - Counter(subject.counts) == {}
    assert sum(expectation.stored.values()) == len(expectation.events) == 1728


def test_after_the_release_nothing_is_missing_and_nothing_differs():
    subject = released(prepare(1, "2026-07", faults=("held-back",)))
    assert subject.expectation.published == 15741
    assert subject.expectation.stored == subject.counts
    assert not subject.expectation.differing


@pytest.mark.parametrize("seed", [2, 3, 4, 5])
@pytest.mark.parametrize("fault", ["missing-create", "held-back"])
def test_other_seeds_differ_in_touched_resources_only(seed, fault):
    subject = prepare(seed, "2026-07", faults=(fault,))
    differing = subject.expectation.differing
    assert differing
    assert differing <= subject.month.touched.keys()
    if fault == "missing-create":
        assert differing == subject.month.touched.keys()


def test_a_confirm_that_says_nothing_new_can_be_missed():
    """Seed 1 holds one message back whose absence nobody can see: the confirm of a resize."""
    subject = prepare(1, "2026-07", faults=("held-back",))
    unseen = subject.month.touched.keys() - subject.expectation.differing
    assert [transition.event_type for transition in subject.month.held if
            ("instance", transition.resource_id) in unseen] == ["compute.instance.resize.confirm.end"]  # fmt: skip
