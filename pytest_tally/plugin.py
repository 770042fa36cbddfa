"""The plugin: what it adds to a pytest run that asks for it, and nothing to one that does not.

Loading it imports the table of options and the fixtures' signatures. Everything else is imported
by the hook or the fixture that needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import Any

import pytest

from pytest_tally import marks, options, recordings
from pytest_tally.fixtures import (
    tally_chaos,
    tally_config,
    tally_drill,
    tally_make_month,
    tally_month,
    tally_seed,
    tally_skip_counters,
    tally_stack,
    tally_verdict,
)
from pytest_tally.recordings import tally_recording

__all__ = [
    "tally_chaos",
    "tally_config",
    "tally_drill",
    "tally_make_month",
    "tally_month",
    "tally_recording",
    "tally_seed",
    "tally_skip_counters",
    "tally_stack",
    "tally_verdict",
]

_NO_SEED = "no month to drill: name seeds, as in --tally-seed=1..5"

#: A green run that was to drill and did not must not look like one that did.
_NOTHING = (
    "tally: nothing was drilled or replayed: no test that ran asks for tally_verdict or "
    "tally_recording; the packaged ones do: pytest --pyargs pytest_tally.drills"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the group of options and the ini keys."""
    options.add(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marks known; in a run that asks for drills, resolve its options and join xdist."""
    marks.register(config)
    if not asked(config):
        return
    from pytest_tally.state import config_of

    config_of(config)
    recordings.chosen(config)  # refuses a path to none before anything is collected
    if config.pluginmanager.hasplugin("xdist"):
        from pytest_tally import xdist

        config.pluginmanager.register(xdist, "tally-xdist")


def asked(config: pytest.Config) -> bool:
    """Tell whether the run names seeds or recordings."""
    return names(config, "seed") or names(config, "recording")


def names(config: pytest.Config, name: str) -> bool:
    """Tell whether an option is given: on the command line, in the environment or in an ini."""
    return any(options.given(config, row)[0] for row in options.TABLE if row.name == name)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that needs a month once for each seed, and one on recordings once for each."""
    recordings.parametrize(metafunc)
    if "tally_seed" not in metafunc.fixturenames:
        return
    from pytest_tally.state import config_of

    try:
        seeds = marks.stated(metafunc.definition.iter_markers()).get("seed")
    except pytest.UsageError:
        seeds = ()  # the mark is refused for the whole run once everything is collected
    seeds = config_of(metafunc.config).seeds if seeds is None else seeds
    cases = [pytest.param(seed, id=f"seed-{seed}") for seed in seeds]
    metafunc.parametrize(
        "tally_seed",
        cases or [pytest.param(None, marks=pytest.mark.skip(reason=_NO_SEED), id="no-seed")],
        indirect=True,
        scope="session",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse misspelt marks and wrong arguments before anything runs."""
    for item in items:
        if any(mark.name.startswith("tally") for mark in item.iter_markers()):
            marks.stated(item.iter_markers())


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which stack was taken and why, which seeds, and where the parts listen."""
    if not asked(config) or config.option.collectonly:
        return None
    from importlib import metadata

    from harness.errors import HarnessError, UsageError
    from pytest_tally import report
    from pytest_tally.state import config_of, runner_of

    try:
        stack = runner_of(config).stack()
    except UsageError as error:
        raise pytest.UsageError(f"tally: {error}") from error
    except HarnessError as error:
        pytest.exit(f"tally: {error}", returncode=pytest.ExitCode.TESTS_FAILED)
    why = f" ({stack.reason})" if stack.reason else ""
    version = metadata.version("tally-harness")
    return report.header(version, f"{stack.kind}{why}, {stack.describe()}", config_of(config))


def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: object, right: object
) -> list[str] | None:
    """Word a verdict that is not its month as it was lived."""
    if op != "==" or "harness.drill.verdict" not in sys.modules:
        return None
    from harness.drill import Subject, Verdict
    from pytest_tally import report
    from pytest_tally.state import config_of

    verdict, other = (left, right) if isinstance(left, Verdict) else (right, left)
    if not isinstance(verdict, Verdict) or not isinstance(other, Subject):
        return None
    artifacts = config_of(config).artifacts
    where = "" if artifacts is None else str(artifacts / other.name / "verdict.json")
    return ["the month is not billed as it was lived", *report.words(verdict, where)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the words for a verdict beside a failure, whichever assertion it was."""
    report = yield
    if report.failed and report.when == "call" and "harness.drill.verdict" in sys.modules:
        from pytest_tally.report import section
        from pytest_tally.state import VERDICT

        verdict = item.stash.get(VERDICT, None)
        if verdict is not None and not verdict.passed:
            report.sections.append(("tally", section(verdict)))
    return report


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    """Print a row for each month, and below a failed one how to drill it again."""
    rows = _rows(config)
    if not rows:
        if asked(config) and exitstatus == pytest.ExitCode.OK and not config.option.collectonly:
            terminalreporter.write_line(_NOTHING, yellow=True)
        return
    from pytest_tally import report

    terminalreporter.section("tally")
    head, *lines = report.table(rows)
    terminalreporter.write_line(head, bold=True)
    for row, line in zip(rows, lines, strict=True):
        terminalreporter.write_line(line, green=row.passed, red=not row.passed)
        if not row.passed:
            terminalreporter.write_line(f"  reproduce: {row.reproduce}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In an xdist worker, hand the rows to the controller."""
    output = getattr(session.config, "workeroutput", None)
    rows = _rows(session.config)
    if output is not None and rows:
        output["tally_rows"] = [row.document() for row in rows]


def _rows(config: pytest.Config) -> list[Any]:
    if "pytest_tally.state" not in sys.modules:
        return []
    from pytest_tally.state import RUNNER

    runner = config.stash.get(RUNNER, None)
    return [] if runner is None else runner.rows
