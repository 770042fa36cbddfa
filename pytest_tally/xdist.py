"""With pytest-xdist: the controller starts the services, workers share them and report back."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import HarnessError, UsageError
from pytest_tally.report import Row
from pytest_tally.state import config_of, runner_of


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Start the services before the first worker; refuse a stack that cannot be shared."""
    try:
        runner_of(config).stack().handover()
    except UsageError as error:
        pytest.exit(f"tally: {error}", returncode=pytest.ExitCode.USAGE_ERROR)
    except HarnessError as error:
        pytest.exit(f"tally: {error}", returncode=pytest.ExitCode.TESTS_FAILED)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hand the options and the services' addresses to a worker."""
    node.workerinput["tally_config"] = config_of(node.config).dump()
    node.workerinput["tally_services"] = dict(runner_of(node.config).stack().handover())


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the rows of a worker that has ended; one that crashed has none."""
    output = getattr(node, "workeroutput", None) or {}
    runner_of(node.config).rows.extend(Row(**row) for row in output.get("tally_rows", ()))
