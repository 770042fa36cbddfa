"""A bad day ends in the verdict of a quiet one: nothing lost, nothing stored twice.

A whole month goes through processes and a real RabbitMQ each time. The full measure, twenty kills
and three restarts, is ``tally-harness drill --seed 1 --stack local --chaos
kill-collector,restart-broker``; here a day of it.
"""

import os
import subprocess

import pytest

from harness.calendar import Period
from harness.drill import prepare, run
from harness.drill.chaos import plan
from harness.stack import Options, Unavailable, open_stack

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def subject():
    return prepare(1, Period(2026, 7))


@pytest.fixture(scope="module")
def stack():
    try:
        opened = open_stack("local", Options())
    except Unavailable as error:
        if "local" in os.environ.get("TALLY_REQUIRE_STACKS", "").split(","):
            pytest.fail(str(error))
        pytest.skip(str(error))
    yield opened
    opened.close()


def storm(subject, stack, names, seed=1):
    chaos = plan(names, seed)
    verdict = run(subject, stack, name=f"chaos-{names.partition('=')[0]}", chaos=chaos)
    assert verdict.passed, verdict.lines()
    assert verdict.matches
    assert verdict.accounting.stored == 1812
    assert verdict.accounting.problems == ()
    return chaos, verdict.accounting


def test_kills_and_a_restart(subject, stack):
    chaos, accounting = storm(subject, stack, "kill-collector=3,restart-broker=1")
    assert chaos.struck == {"kill-collector": 3, "restart-broker": 1}
    assert sum(accounting.consumed.values()) >= 1812
    assert sum(accounting.skipped.values()) >= 13929


def mountable():
    command = ["unshare", "--mount", "mount", "-t", "tmpfs", "tally-test", "/mnt"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_everything_between_the_parts(subject, stack):
    names = "cut-connections=2,delay-connections,clock-jumps=3,reporting-500,reporting-413"
    names += ",reporting-429,reporting-down,reporting-truncated,reporting-rejecting,reporting-slow"
    if mountable():
        names += ",disk-full=1"
    chaos, accounting = storm(subject, stack, names)
    assert chaos.struck["cut-connections"] == 2
    assert sum(chaos.struck[name] for name in chaos.struck if name.startswith("reporting")) > 3
    assert sum(accounting.consumed.values()) >= 1812
