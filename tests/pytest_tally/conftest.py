"""Every test of the plugin starts without variables of the plugin or of an xdist worker."""

import pytest

from pytest_tally.options import TABLE


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    for option in TABLE:
        monkeypatch.delenv(option.environment, raising=False)
    # A pytest run of a test's own is no worker, though this one may be: syrupy would not report.
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID"):
        monkeypatch.delenv(name, raising=False)


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
