"""``tally-harness drill``: what it prints, what it refuses, and how it ends when interrupted."""

import os
import signal
import subprocess
import sys
import time

import pytest

from harness.cli import main
from harness.drill.options import MONTHS, STACK

COMMAND = [sys.executable, "-m", "harness", "drill", "--period", "2026-07", "--stack", "embedded"]


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    for option in (*MONTHS, *STACK):
        monkeypatch.delenv(option.environment, raising=False)


def test_report_on_stdout_progress_on_stderr_files_under_out(tmp_path):
    result = subprocess.run(
        [*COMMAND, "--seed", "1", "--faults", "missing-create", "--out", str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[:3] == [
        "seed 1, 2026-07, os-sim with missing-create, on embedded",
        "15557 published: 1752 consumed, 13805 skipped, 0 unparseable",
        "1752 stored, 0 duplicates, 0 rejected",
    ]
    assert sum("(touched by missing-create)" in line for line in lines) == 18
    assert lines[-1] == "1 of 1 months passed"
    assert "seed 1: publishing (" in result.stderr
    assert "\x1b" not in result.stderr, "plain where nobody looks at a terminal"
    kept = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")}
    assert kept == {
        f"seed-1/{name}"
        for name in ("oracle.json", "counters.json", "verdict.json", "export/rated.csv")
    }


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "--seed: must be set; write a number, a range 1..5"),
        (("--seed", "5..1"), '--seed: "5..1" in "5..1" runs backwards'),
        (("--seed", "1", "--period", "July"), '--period: "July" is not a YYYY-MM month'),
        (("--seed", "1", "--period", "2999-01"), "--period: "),
        (("--seed", "1", "--faults", "dupes"), '--faults: unknown fault switch "dupes"'),
        (("--seed", "1", "--cloud", "meta"), "--cloud: "),
        (
            ("--seed", "1", "--stack", "docker"),
            '--stack: "docker" must be one of auto, containers,',
        ),
        (("--seed", "1", "--chaos", "rain"), '"rain" is no disturbance'),
        (("--seed", "1", "--chaos-seed", "9" * 5000), "--chaos-seed: at most 20 digits"),
        (("--seed", "1..2", "--stack", "external"), "takes one month per run"),
        (("--seed", "1", "--stack", "external"), "needs the broker's address: --amqp-url"),
    ],
)
def test_a_wrong_call_is_refused_before_anything_starts(arguments, text, capsys):
    assert main(["drill", *arguments]) == 2
    captured = capsys.readouterr()
    assert text in captured.err
    assert captured.out == ""


def test_a_variable_stands_in_for_a_flag_and_is_named_when_it_is_wrong(monkeypatch, capsys):
    monkeypatch.setenv("TALLY_SIM_CLOUD", "partner")
    assert main(["drill", "--seed", "1"]) == 2
    assert "TALLY_SIM_CLOUD: " in capsys.readouterr().err


def test_help_lists_every_option_with_its_default(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["drill", "--help"])
    assert stop.value.code == 0
    text = "".join(capsys.readouterr().out.split())
    for option in (*MONTHS, *STACK):
        assert f"--{option.name}" in text
        assert f"({option.environment};default:{option.default})".replace(" ", "") in text


@pytest.mark.parametrize(
    ("sign", "phase"), [(signal.SIGINT, "publishing"), (signal.SIGTERM, "starting collector")]
)
def test_interrupted_it_leaves_nothing(tmp_path, sign, phase):
    """130, no traceback, no file of it left where temporary ones go, no empty directory."""
    temporary, out = tmp_path / "temporary", tmp_path / "out"
    temporary.mkdir()
    # A shell has what it starts in the background ignore SIGINT, and children inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(
            [*COMMAND, "--seed", "1..9", "--out", str(out)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": str(temporary)},
        )
    finally:
        signal.signal(signal.SIGINT, before)
    for line in process.stderr:
        if phase in line:
            break
    time.sleep(0.2)
    process.send_signal(sign)
    _, rest = process.communicate(timeout=120)
    assert process.returncode == 130, rest
    assert "Traceback" not in rest
    assert not list(temporary.iterdir())
    assert not list(out.glob("*"))
