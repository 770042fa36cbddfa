"""Every message in one place: what adds up, and what each thing that does not is called."""

from dataclasses import replace

import pytest

from harness.drill.accounting import Sight, account, hold_against
from harness.drill.expectation import Expectation
from harness.drill.reporting import DeadLetter, StoredEvent, Tally
from harness.stack.interface import Counters

EXPECTED = Expectation(
    published=9,
    consumed={"volume.create.end": 3, "volume.retype": 2},
    skipped={"port.create.end": 3},
    unparseable=1,
    events=frozenset({("a", 1), ("b", 2), ("c", 3), ("d", 4)}),
    stored={("p", "volume.create.end"): 2, ("p", "volume.retype"): 2},
    differing=frozenset(),
)
NOTHING = Sight(Counters({}, {}, 0, 0, 0, 0), (), (), Tally(0, 0))


def event(event_id, event_type="volume.create.end", project_id="p"):
    return StoredEvent(event_id, "2026-07-01T00:00:01Z", event_type, "volume", "v1", project_id)


EVENTS = (event("a"), event("b"), event("c", "volume.retype"), event("d", "volume.retype"))
QUIET = Sight(
    Counters({"volume.create.end": 3, "volume.retype": 2}, {"port.create.end": 3}, 1, 4, 0, 0),
    EVENTS,
    (),
    Tally(1, 0),
)


def problems(after, *, before=NOTHING, published=9, disturbed=False):
    return account(EXPECTED, published, before, after, disturbed=disturbed).problems


def counters(**changes):
    return replace(QUIET, counters=replace(QUIET.counters, **changes))


def test_a_quiet_day_adds_up():
    balance = account(EXPECTED, 9, NOTHING, QUIET, disturbed=False)
    assert balance.problems == ()
    assert balance.document() == {
        "published": 9,
        "consumed": 5,
        "skipped": 3,
        "unparseable": 1,
        "stored": 4,
        "duplicates": 1,
        "dead_lettered": 0,
        "refused_by_scope": 0,
        "oversize": 0,
        "problems": [],
    }


def test_a_second_publication_stores_nothing():
    twice = Sight(
        Counters({"volume.create.end": 6, "volume.retype": 4}, {"port.create.end": 6}, 2, 4, 0, 0),
        EVENTS,
        (),
        Tally(6, 0),
    )
    balance = account(EXPECTED, 9, QUIET, twice, disturbed=False)
    assert balance.problems == ()
    assert (balance.stored, balance.duplicates) == (0, 5)


@pytest.mark.parametrize(
    ("after", "text"),
    [
        (counters(consumed={"volume.create.end": 3}), "consumed volume.retype: expected 2, found none"),
        (counters(skipped={"port.create.end": 2}), "skipped port.create.end: expected 3, found 2"),
        (counters(skipped={"port.create.end": 2}), "9 messages were published and 8 ended as"),
        (counters(unparseable=0), "0 bodies were counted as unparseable, expected 1"),
        (counters(buffered=1), "1 consumed events never left the outbox"),
        (counters(consumed={"volume.create.end": 4, "volume.retype": 2}),
         "6 notifications were consumed and 5 events ended as stored (4), duplicate (1)"),
        (replace(QUIET, tally=Tally(2, 0)), "absorbed 2 duplicates, the stream repeats 1"),
        (replace(QUIET, tally=Tally(1, 3)), "3 events were refused by the scope"),
        (replace(QUIET, dead_letters=(DeadLetter("schema: x"),)), "1 events were dead-lettered: schema: x"),
        (replace(QUIET, events=EVENTS[:3]), "event d was published and is not stored"),
        (replace(QUIET, events=(*EVENTS, event("z"))), "event z (volume.create.end of v1) is stored and was not published"),
        (replace(QUIET, events=(*EVENTS, event("a"))), "event a (volume.create.end of v1) is stored 2 times"),
    ],
)  # fmt: skip
def test_what_does_not_add_up_is_said(after, text):
    assert any(text in problem for problem in problems(after)), problems(after)


def test_a_lost_confirm_is_said():
    assert "8 messages were confirmed, the stream holds 9" in problems(QUIET, published=8)


def test_what_cannot_be_seen_is_not_judged():
    balance = account(EXPECTED, 9, Sight(), Sight(), disturbed=False)
    assert balance.problems == ()
    assert balance.consumed is None
    assert balance.rejected is None


def test_a_disturbed_collector_may_count_more_and_not_less():
    more = counters(consumed={"volume.create.end": 5, "volume.retype": 2, "volume.delete.end": 1})
    more = replace(more, tally=Tally(3, 0))
    assert problems(more, disturbed=True) == ("consumed volume.delete.end: expected none, found 0",)
    assert (
        problems(counters(consumed={"volume.create.end": 4, "volume.retype": 2}), disturbed=True)
        == ()
    )
    fewer = problems(counters(skipped={"port.create.end": 2}), disturbed=True)
    assert fewer == ("skipped port.create.end: expected 3, found 2",)


def test_a_failed_post_that_was_repeated_is_no_loss():
    after = replace(counters(delivery_errors=1), tally=Tally(3, 0))
    assert problems(after) == ()


def test_an_event_too_large_to_go_is_counted_where_it_ended():
    after = replace(counters(delivery_errors=1), events=EVENTS[:3])
    balance = account(EXPECTED, 9, NOTHING, after, disturbed=False)
    assert balance.oversize == 1
    assert balance.problems == ("event d was published and is not stored",)


def test_counts_name_project_and_type():
    expected = {("p", "volume.create.end"): 3, ("q", "volume.retype"): 1}
    counts = hold_against(expected, EVENTS)
    assert counts.document() == {
        "expected": 4,
        "stored": 4,
        "missing": [
            {"project_id": "p", "event_type": "volume.create.end", "count": 1},
            {"project_id": "q", "event_type": "volume.retype", "count": 1},
        ],
        "surplus": [{"project_id": "p", "event_type": "volume.retype", "count": 2}],
    }
    assert hold_against(expected, None).stored is None
