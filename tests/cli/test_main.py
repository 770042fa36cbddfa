"""The root command: help, versions, exit statuses."""

import importlib
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from harness.cli import main
from harness.cli.main import COMMANDS
from harness.errors import HarnessError, UsageError


@pytest.fixture
def failing(monkeypatch):
    """Makes `compare` raise what a test wants."""

    def install(error):
        def run(_):
            raise error

        module = SimpleNamespace(configure=lambda _: None, run=run)
        monkeypatch.setattr(importlib, "import_module", lambda _: module)

    return install


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (HarnessError("it broke"), 1, "Error: it broke\n"),
        (UsageError("--x: wrong"), 2, "Error: --x: wrong\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
    ],
)
def test_exceptions_become_exit_statuses(failing, capsys, error, status, text):
    failing(error)
    assert main(["compare"]) == status
    assert capsys.readouterr().err == text


@pytest.mark.parametrize("arguments", [[], ["no-such"], ["--no-such"], ["compare", "--no-such"]])
def test_a_wrong_call_is_a_usage_error(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: tally-harness" in capsys.readouterr().err


def test_help_lists_every_command_in_order(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    places = [text.index(f"\n    {name}") for name in COMMANDS]
    assert places == sorted(places)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_needs_no_environment(command):
    result = subprocess.run(
        [sys.executable, "-m", "harness", command, "--help"],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(f"usage: tally-harness {command}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["run", "replay"])
def test_a_signal_ends_a_month_while_its_command_is_imported(command, number, monkeypatch, capsys):
    monkeypatch.setattr(importlib, "import_module", lambda _: signal.raise_signal(number))
    before = signal.getsignal(number)
    assert main([command]) == 0
    assert signal.getsignal(number) is before
    assert capsys.readouterr() == ("", "")
