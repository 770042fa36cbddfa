"""The import contracts hold, and each can fail: a check that cannot is none."""

import shutil
import subprocess
import sys
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


@pytest.mark.parametrize(
    ("room", "stolen", "contract"),
    [
        ("oracle", "harness.timeline", "the oracle never sees the pipeline"),
        ("oracle", "harness.engine", "the oracle never sees the pipeline"),
        ("oracle", "harness.collector", "the oracle never sees the pipeline"),
        ("collector", "harness.month", "the pipeline never sees the month or the oracle"),
        ("engine", "harness.oracle", "the pipeline never sees the month or the oracle"),
        ("month", "harness.oracle", "the month knows nothing behind it"),
        ("drill", "pytest", "the harness never imports pytest"),
    ],
)
def test_a_broken_contract_is_found(copy, room, stolen, contract):
    (copy / "harness" / room / "thief.py").write_text(f'"""Breaks a rule."""\nimport {stolen}\n')
    result = lint(copy)
    assert result.returncode == 1
    assert f"{contract} BROKEN" in " ".join(result.stdout.split())
