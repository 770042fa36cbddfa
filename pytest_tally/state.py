"""What the plugin keeps on a pytest config: the resolved options and the runner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_tally.config import TallyConfig, resolve
from pytest_tally.runner import Runner

if TYPE_CHECKING:
    from harness.drill import Verdict

CONFIG: pytest.StashKey[TallyConfig] = pytest.StashKey()
RUNNER: pytest.StashKey[Runner] = pytest.StashKey()
VERDICT: pytest.StashKey[Verdict] = pytest.StashKey()


def config_of(config: pytest.Config) -> TallyConfig:
    """Return the run's options; a worker has them from its controller."""
    if CONFIG not in config.stash:
        handed = workerinput(config).get("tally_config")
        config.stash[CONFIG] = resolve(config) if handed is None else TallyConfig.load(handed)
    return config.stash[CONFIG]


def runner_of(config: pytest.Config) -> Runner:
    """Return the run's runner; what it starts is stopped when the run ends."""
    if RUNNER not in config.stash:
        handed = workerinput(config)
        runner = Runner(
            config_of(config),
            services=handed.get("tally_services"),
            worker=handed.get("workerid", ""),
        )
        config.add_cleanup(runner.close)
        config.stash[RUNNER] = runner
    return config.stash[RUNNER]


def workerinput(config: pytest.Config) -> dict[str, Any]:
    """Return what an xdist controller handed over; empty outside a worker."""
    handed: dict[str, Any] = getattr(config, "workerinput", {})
    return handed
