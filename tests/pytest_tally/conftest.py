"""Every test of the plugin starts without variables of the plugin."""

import pytest

from pytest_tally.options import TABLE


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    for option in TABLE:
        monkeypatch.delenv(option.environment, raising=False)


@pytest.fixture
def ask(pytester):
    """Runs a test that prints one expression over `config`, and returns what it printed."""

    def run(expression, *arguments):
        pytester.makepyfile(
            f"""
            def test_ask(tally_config, capsys):
                config = tally_config
                with capsys.disabled():
                    print("\\nasked:", {expression})
            """
        )
        result = pytester.runpytest_inprocess("-q", *arguments)
        result.assert_outcomes(passed=1)
        return next(
            line.removeprefix("asked: ") for line in result.outlines if line.startswith("asked: ")
        )

    return run
