"""A run that does not ask for drills: nothing added, nothing loaded, and without the plugin."""

import subprocess
import sys

import pytest

HEAVY = (
    "pika",
    "testcontainers",
    "deepdiff",
    "sqlalchemy",
    "requests",
    "uvicorn",
    "fastapi",
    "msgspec",
)
TEST = "def test_plain(): pass\n"


def test_nothing_is_printed(pytester):
    pytester.makepyfile(TEST)
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=1)
    assert "tally" not in result.stdout.str().replace("plugins: ", "").replace("tally-harness", "")


def test_nothing_heavy_is_loaded(pytester):
    """syrupy is loaded by pytest itself, through its own entry point, and left out here."""
    path = pytester.makepyfile(
        f"""
        import sys

        def test_loaded():
            assert "pytest_tally.plugin" in sys.modules
            loaded = [name for name in {HEAVY!r} if name in sys.modules]
            assert not loaded
            ours = sorted(n for n in sys.modules if n.partition(".")[0] in ("harness", "pytest_tally"))
            assert ours == {["harness", "harness.drill", "harness.drill.options", "pytest_tally", "pytest_tally.fixtures", "pytest_tally.marks", "pytest_tally.options", "pytest_tally.plugin", "pytest_tally.recordings"]!r}
            assert not [n for n in sys.modules if n.startswith("syrupy")]
        """
    )  # fmt: skip
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:syrupy", "-p", "no:hypothesispytest",
         "-p", "no:schemathesis", "-p", "no:cacheprovider", str(path)],
        capture_output=True, text=True, check=False, cwd=pytester.path,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_plugin_can_be_switched_off(pytester):
    pytester.makepyfile(TEST)
    pytester.runpytest_subprocess("-p", "no:tally").assert_outcomes(passed=1)
    result = pytester.runpytest_subprocess("-p", "no:tally", "--tally-seed=1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("without", ["no:xdist", "no:cacheprovider", "no:terminal"])
def test_other_plugins_can_be_switched_off(pytester, without):
    pytester.makepyfile(TEST)
    assert pytester.runpytest_subprocess("-p", without, "-W", "error").ret == 0


def test_a_test_may_be_called_like_a_mark_of_its_own(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("tally", [1])
        def test_tally(tally):
            pass
        """
    )
    pytester.runpytest_inprocess().assert_outcomes(passed=1)
