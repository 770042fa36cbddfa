"""The fixture that lets something go wrong."""

import pytest

TEST = """
    def test_storm(tally_chaos):
        verdict = tally_chaos(1, "{names}", chaos_seed=5, period="2026-07")
        assert verdict.passed
        assert verdict.accounting.stored == 1812
"""


@pytest.mark.slow
def test_a_disturbed_month(pytester):
    pytester.makepyfile(TEST.format(names="kill-collector=1,clock-jumps=2"))
    result = pytester.runpytest_subprocess("--tally-stack=local", timeout=280)
    outcomes = result.parseoutcomes()
    assert outcomes in ({"passed": 1}, {"failed": 1})
    if outcomes == {"failed": 1}:  # no RabbitMQ on this machine
        result.stdout.fnmatch_lines(["*tally: rabbitmq-server is neither on PATH*"])


def test_what_cannot_be_disturbed_says_so(pytester):
    pytester.makepyfile(TEST.format(names="kill-collector=1"))
    result = pytester.runpytest_inprocess("--tally-stack=embedded")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*tally: chaos needs a collector that is a process*"])


def test_an_unknown_disturbance(pytester):
    pytester.makepyfile(TEST.format(names="rain"))
    result = pytester.runpytest_inprocess("--tally-stack=embedded")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(['*tally: --chaos: "rain" is no disturbance*'])
