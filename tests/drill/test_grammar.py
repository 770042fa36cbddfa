"""How seeds, periods and switches are written."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.drill import grammar
from harness.errors import UsageError

SEEDS = st.integers(0, grammar.LARGEST_SEED)


@given(st.lists(SEEDS, min_size=1, max_size=20, unique=True))
@settings(max_examples=50, deadline=None)
def test_a_list_reads_as_it_is_written(numbers):
    assert grammar.seeds(",".join(map(str, numbers))) == tuple(numbers)


@given(SEEDS, st.integers(0, 50))
@settings(max_examples=50, deadline=None)
def test_a_range_holds_both_ends(first, length):
    last = min(first + length, grammar.LARGEST_SEED)
    assert grammar.seeds(f"{first}..{last}") == tuple(range(first, last + 1))


def test_a_seed_named_twice_is_taken_once():
    assert grammar.seeds("1..3, 2,3..4") == (1, 2, 3, 4)


def test_a_range_that_runs_backwards_is_called_so():
    with pytest.raises(
        UsageError, match=r'^"5\.\.2" in "1,5\.\.2" runs backwards and names no seeds'
    ):
        grammar.seeds("1,5..2")


@pytest.mark.parametrize(
    "text", ["", "x", "1..", "..1", "1-5", "2..1", "1,", "٣", "18446744073709551616"]
)
def test_another_form_is_refused(text):
    with pytest.raises(UsageError, match=r"names no seeds; write a number, a range 1..5 or a list"):
        grammar.seeds(text)


def test_switches_come_in_canonical_order_each_once():
    assert grammar.faults("held-back,duplicates,held-back") == ("duplicates", "held-back")
    assert grammar.faults("") == ()
