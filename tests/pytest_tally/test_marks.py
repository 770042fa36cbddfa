"""Marks: registered, merged, refused when misspelt."""

import pytest

from pytest_tally.marks import MARKS, stated


def mark(name, *args, **kwargs):
    return pytest.Mark(name, args, kwargs, _ispytest=True)


def test_different_marks_add_up_and_the_nearest_wins():
    nearest_first = [
        mark("tally_faults", "reordering", "duplicates"),
        mark("tally_cloud", "near"),
        mark("tally_cloud", "far"),
        mark("slow"),
        mark("tally_faults", "held-back"),
        mark("tally_period", "2026-02"),
        mark("tally_seed", 1, "3..4"),
    ]
    assert stated(nearest_first) == {
        "faults": ("duplicates", "reordering"),
        "cloud": "near",
        "period": "2026-02",
        "seed": (1, 3, 4),
    }


def test_a_mark_without_switches_turns_all_off():
    assert stated([mark("tally_faults"), mark("tally_faults", "held-back")]) == {"faults": ()}


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (mark("tally_fault", "duplicates"), "tally_fault is no mark of tally; the marks are tally_seed(*seeds)"),
        (mark("tally_faults", "duplicate"), 'unknown fault switch "duplicate"; the switches are pre-existing,'),
        (mark("tally_faults", "pre-existing", "missing-create"), "exclude each other"),
        (mark("tally_faults", fault="duplicates"), "takes (*faults)"),
        (mark("tally_seed"), "names no seeds"),
        (mark("tally_seed", "1.."), "names no seeds"),
        (mark("tally_period", "July"), '"July" is not a YYYY-MM month'),
        (mark("tally_period"), "takes (period)"),
        (mark("tally_period", "2999-01"), "has not ended"),
        (mark("tally_cloud", ""), "must be set"),
        (mark("tally_cloud", "meta"), "is a virtual platform"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused(wrong, text):
    with pytest.raises(pytest.UsageError) as refusal:
        stated([wrong])
    assert text in str(refusal.value)


def test_a_misspelt_mark_stops_the_run_before_any_test(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.tally_fault("duplicates")
        def test_drill(tally_seed):
            raise AssertionError("never run")
        """
    )
    result = pytester.runpytest_inprocess("--tally-seed=1", "-W", "ignore", "--collect-only")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "tally_fault is no mark of tally" in result.stderr.str()


def test_marks_are_listed_with_their_signature(pytester):
    result = pytester.runpytest_inprocess("--markers")
    for name, known in MARKS.items():
        result.stdout.fnmatch_lines([f"@pytest.mark.{name}({known.signature}): {known.meaning}"])


def test_marks_are_known_to_strict_runs(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.tally_seed(1)
        @pytest.mark.tally_period("2026-07")
        @pytest.mark.tally_cloud("os-other")
        @pytest.mark.tally_faults("duplicates")
        def test_marked(tally_seed):
            pass
        """
    )
    pytester.runpytest_inprocess("--strict-markers").assert_outcomes(passed=1)
