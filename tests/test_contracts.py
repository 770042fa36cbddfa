"""The import contracts hold, and each can fail: a check that cannot is none."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def lint(directory):
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"],
        cwd=directory,
        env={"PYTHONPATH": str(directory), "PATH": "/usr/bin:/bin", "HOME": str(directory)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path):
    """A copy of the packages and the contracts, to be broken."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in ("harness", "pytest_tally"):
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    return tmp_path


def test_the_contracts_hold():
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout


#: Package, what it must not import, and the contract that says so.
THEFTS = [
    ("harness/prng", "harness.month", "prng, calendar, oslo, timeline and pricing stand alone"),
    ("harness/timeline", "harness.pricing", "those five do not know each other either"),
    ("harness/month", "harness.oracle", "the month knows nothing behind it"),
    ("harness/oracle", "harness.timeline", "the oracle never sees the pipeline"),
    ("harness/oracle", "harness.engine", "the oracle never sees the pipeline"),
    ("harness/oracle", "harness.collector", "the oracle never sees the pipeline"),
    ("harness/collector", "harness.month", "the pipeline never sees the month or the oracle"),
    ("harness/engine", "harness.oracle", "the pipeline never sees the month or the oracle"),
    (
        "harness/engine",
        "harness.reporting",
        "collector, Reporting API and engine meet on the wire only",
    ),
    ("harness/recording", "harness.collector", "the broker side knows messages, not months"),
    ("harness/cloud", "harness.engine", "the cloud's faces show the oracle, not the pipeline"),
    ("harness/stack", "harness.month", "stacks know services, not months"),
    ("harness/drill", "harness.cli", "nothing below the command line knows it"),
    ("harness/drill", "pytest", "the harness never imports pytest"),
    ("pytest_tally", "harness.month", "the plugin talks to drills and stacks"),
]


@pytest.mark.parametrize(("package", "stolen", "contract"), THEFTS)
def test_a_broken_contract_is_found(copy, package, stolen, contract):
    (copy / package / "thief.py").write_text(f'"""Breaks a rule."""\nimport {stolen}\n')
    result = lint(copy)
    assert result.returncode == 1
    assert f"{contract} BROKEN" in " ".join(result.stdout.split())


def test_every_contract_is_broken_once():
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    names = {contract["name"] for contract in document["tool"]["importlinter"]["contracts"]}
    assert names == {contract for _, _, contract in THEFTS}
