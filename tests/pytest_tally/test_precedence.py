"""Mark before command line before environment before ini before default."""

import pytest

from harness.calendar import Period


def test_default(ask):
    assert ask("config.cloud, config.period, config.faults, config.stack") == (
        f"os-sim {Period.last_ended()} () auto"
    )


def test_ini(pytester, ask):
    pytester.makeini("[pytest]\ntally_cloud = from-ini\ntally_period = 2026-01\n")
    assert ask("config.cloud, config.period") == "from-ini 2026-01"


def test_environment_before_ini(pytester, ask, monkeypatch):
    pytester.makeini("[pytest]\ntally_cloud = from-ini\n")
    monkeypatch.setenv("TALLY_SIM_CLOUD", "from-environment")
    assert ask("config.cloud") == "from-environment"


def test_command_line_before_environment(ask, monkeypatch):
    monkeypatch.setenv("TALLY_SIM_CLOUD", "from-environment")
    assert ask("config.cloud", "--tally-cloud=from-command-line") == "from-command-line"


@pytest.fixture
def marked(pytester):
    """Runs a marked test and returns the month it is about."""

    def run(marks, *arguments):
        pytester.makepyfile(
            f"""
            import pytest
            from pytest_tally.fixtures import _key

            {marks}
            class TestAll:
                def test_ask(self, request, tally_seed, capsys):
                    with capsys.disabled():
                        print("\\nasked:", *_key(request, tally_seed).__getstate__())
            """
        )
        result = pytester.runpytest_inprocess("-q", *arguments)
        return [
            line.removeprefix("asked: ") for line in result.outlines if line.startswith("asked: ")
        ]

    return run


def test_mark_before_command_line(marked):
    assert (
        marked(
            '@pytest.mark.tally_cloud("from-mark")',
            "--tally-seed=4",
            "--tally-cloud=from-command-line",
        )[0].split()[0]
        == "4"
    )
    assert (
        "from-mark"
        in marked(
            '@pytest.mark.tally_cloud("from-mark")',
            "--tally-seed=4",
            "--tally-cloud=from-command-line",
        )[0]
    )


def test_seeds_of_a_mark_need_no_option(marked):
    assert [line.split()[0] for line in marked('@pytest.mark.tally_seed(1, "3..4")')] == [
        "1",
        "3",
        "4",
    ]
