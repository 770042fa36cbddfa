"""Whole drills from pytest, on the embedded stack: what a person sees when they pass and fail."""

import json
import subprocess
import sys

import pytest

EMBEDDED = ("--tally-stack=embedded", "--tally-period=2026-07", "-p", "no:cacheprovider")

BROKEN = """
    from dataclasses import replace

    import pytest
    from harness.collector.mapping import MAPPINGS
    from harness.collector.rules import instance_size

    @pytest.fixture(autouse=True, scope="session")
    def _root_disk_only():
        for event_type, entry in list(MAPPINGS.items()):
            if entry.size is instance_size:
                MAPPINGS[event_type] = replace(
                    entry, size=lambda payload: instance_size({**payload, "ephemeral_gb": 0})
                )
"""


def test_packaged_drills_and_tests_of_ones_own_share_a_month(pytester):
    pytester.makepyfile(
        test_own="""
        def test_counters(tally_skip_counters):
            assert tally_skip_counters["compute.instance.update"] == 2672
            assert list(tally_skip_counters)[:2] == ["compute.instance.update", "compute.instance.exists"]

        def test_month(tally_month, tally_seed, tally_verdict, tally_stack, tally_config):
            assert tally_month.month.seed == tally_seed == 1
            assert tally_verdict.seconds["total"] > 0
            assert tally_stack.kind == tally_config.stack == "embedded"
        """
    )
    result = pytester.runpytest_subprocess(
        "-v", "--pyargs", "pytest_tally.drills", "test_own.py", "--tally-seed=1",
        "--tally-artifacts=kept", *EMBEDDED,
    )  # fmt: skip
    result.assert_outcomes(passed=3)
    text = result.stdout.str()
    assert "tally-harness " in text
    assert (
        ": embedded, in-memory bus, services in this process, SQLite; seeds 1, 2026-07, os-sim"
        in text
    )
    result.stdout.fnmatch_lines(["*= tally =*", "month *published *seconds"])
    rows = [line.split() for line in result.outlines if line.startswith("2026-07-seed-1")]
    assert [row[:9] for row in rows] == [
        ["2026-07-seed-1", "15741", "1812", "13929", "0", "1812", "0", "0", "857"]
    ], "one month, drilled once"
    verdict = json.loads((pytester.path / "kept/2026-07-seed-1/verdict.json").read_text())
    assert verdict["matches"] is True


def test_a_failed_drill_names_resources_and_how_to_see_it_again(pytester):
    pytester.makeconftest(BROKEN)
    pytester.makepyfile(
        """
        def test_equal(tally_verdict, tally_month):
            assert tally_verdict == tally_month

        def test_passed(tally_verdict):
            assert tally_verdict.passed
        """
    )
    result = pytester.runpytest_subprocess("--tally-seed=1", "--tally-artifacts=kept", *EMBEDDED)
    result.assert_outcomes(failed=2)
    text = result.stdout.str()
    assert "the month is not billed as it was lived" in text
    assert "disk_gb 40.0000" in text
    assert "oracle: 80.0000" in text
    assert "export: 40.0000" in text
    assert "19 of 857 resources differ" in text
    assert f"full report: {pytester.path}/kept/2026-07-seed-1/verdict.json" in text
    result.stdout.fnmatch_lines(["*- tally -*", "seed 1, 2026-07, os-sim, on embedded"])
    reproduce = "--tally-seed=1 --tally-period=2026-07 --tally-stack=embedded"
    assert f"  reproduce: pytest --pyargs pytest_tally.drills {reproduce}" in result.outlines
    assert "runner.py" not in text, "frames of the plugin are hidden"


@pytest.mark.slow
def test_marks_choose_the_month(pytester):
    pytester.makepyfile(
        """
        import pytest

        pytestmark = pytest.mark.tally_period("2026-07")

        @pytest.mark.tally_seed(2)
        @pytest.mark.tally_cloud("öther cloud")
        @pytest.mark.tally_faults("missing-create")
        def test_marked(tally_verdict, tally_month):
            assert tally_verdict == tally_month
            assert tally_verdict.touched == len(tally_verdict.differences) == 10
            assert tally_verdict.cloud == "öther cloud"
        """
    )
    result = pytester.runpytest_subprocess("--tally-stack=embedded")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["2026-07-seed-2-missing-create öther cloud*10 *"])


@pytest.mark.slow
def test_workers_of_xdist_share_what_the_controller_started_and_report_back(pytester):
    result = pytester.runpytest_subprocess(
        "--pyargs", "pytest_tally.drills", "--tally-seed=1..2", "-n", "2", *EMBEDDED
    )
    result.assert_outcomes(passed=2)
    months = [line.split()[0] for line in result.outlines if line.startswith("2026-07-seed-")]
    assert sorted(months) == ["2026-07-seed-1", "2026-07-seed-2"]


def test_a_stack_that_is_not_to_be_had_is_said_without_a_traceback(pytester):
    pytester.makepyfile("def test_drill(tally_verdict): pass")
    result = pytester.runpytest_inprocess("--tally-seed=1", "--tally-stack=external")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "tally: the stack external needs the broker's address" in result.stderr.str()
    assert "Traceback" not in result.stderr.str()
    quiet = pytester.runpytest_inprocess("-q", "--tally-seed=1", "--tally-stack=external")
    quiet.assert_outcomes(errors=1)
    assert "tally: the stack external needs the broker's address" in quiet.stdout.str()


def test_an_installed_pipeline_takes_one_month(pytester):
    result = pytester.runpytest_inprocess("--tally-seed=1..2", "--tally-stack=external")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "takes one month per run" in result.stderr.str()


@pytest.mark.parametrize(
    ("arguments", "collected"),
    [
        (("--tally-seed=1..2",), ["test_month[seed-1]", "test_month[seed-2]"]),
        (("--tally-seed=1", "tests/drill/test_table.py"), ["test_most_frequent_first"]),
    ],
)
def test_this_repository_collects_its_drills_where_only_seeds_are_named(
    pytestconfig, arguments, collected
):
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", *arguments],
        cwd=pytestconfig.rootpath,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = [line.partition("::")[2] for line in found.splitlines() if "::" in line]
    assert len(names) == len(collected)
    assert all(name.startswith(start) for name, start in zip(names, collected, strict=True))
