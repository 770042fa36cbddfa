"""With seeds and no path, ``pytest --tally-seed=1..5`` collects the packaged drills only."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]


def pytest_configure(config: pytest.Config) -> None:
    """Turn the collection to the packaged drills when seeds are named and no path is."""
    from pytest_tally.plugin import asked  # noqa: PLC0415 - absent when the plugin is switched off

    pathless = config.args_source is not pytest.Config.ArgsSource.ARGS
    if config.pluginmanager.hasplugin("tally") and pathless and asked(config):
        config.args = [str(Path(__file__).parent / "pytest_tally" / "drills")]
