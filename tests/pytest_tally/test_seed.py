"""`--tally-seed`: one case a seed, stable ids, and what is refused."""

import pytest

TEST = """
    def test_one(tally_seed):
        assert tally_seed in (1, 2, 3, 7)
"""


@pytest.fixture(autouse=True)
def _test(pytester):
    pytester.makepyfile(test_it=TEST)


@pytest.mark.parametrize(
    ("text", "cases"),
    [
        ("1", ["1"]),
        ("1..3", ["1", "2", "3"]),
        ("1,3,7", ["1", "3", "7"]),
        ("3,1..2", ["3", "1", "2"]),
    ],
)
def test_a_case_for_each_seed(pytester, text, cases):
    result = pytester.runpytest_inprocess("--collect-only", "-q", f"--tally-seed={text}")
    result.stdout.fnmatch_lines([f"test_it.py::test_one?seed-{case}?" for case in cases])
    assert len([line for line in result.outlines if "::" in line]) == len(cases)


def test_the_cases_run(pytester):
    pytester.runpytest_inprocess("-q", "--tally-seed=1..3").assert_outcomes(passed=3)


@pytest.mark.parametrize(
    "text", ["", "x", "1..", "5..1", "1,,2", "-1", "18446744073709551616", "1.5"]
)
def test_another_form_is_refused_with_the_grammar(pytester, text):
    result = pytester.runpytest_inprocess(f"--tally-seed={text}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "names no seeds; write a number, a range 1..5 or a list 1,3,7" in result.stderr.str()


def test_the_largest_seed_is_taken(pytester):
    pytester.runpytest_inprocess("--collect-only", "-q", "--tally-seed=18446744073709551615")


def test_a_mistyped_range_does_not_start_a_million_months(pytester):
    result = pytester.runpytest_inprocess("--tally-seed=1..1000000")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "more than 10000 seeds" in result.stderr.str()


def test_without_seeds_a_drill_is_skipped_and_says_how_to_ask(pytester):
    result = pytester.runpytest_inprocess("-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*name seeds, as in --tally-seed=1..5"])


def test_the_environment_names_seeds(pytester, monkeypatch):
    monkeypatch.setenv("TALLY_SEED", "1,2")
    pytester.runpytest_inprocess("-q").assert_outcomes(passed=2)


def test_the_ini_file_names_seeds(pytester):
    pytester.makeini("[pytest]\ntally_seed = 7\n")
    pytester.runpytest_inprocess("-q").assert_outcomes(passed=1)


def test_a_wrong_ini_value_is_a_usage_error_that_names_the_key(pytester):
    pytester.makeini("[pytest]\ntally_seed = seven\n")
    result = pytester.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert 'tally_seed: "seven" names no seeds' in result.stderr.str()
