from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.calendar import Period
from harness.cli import main
from harness.drill.files import MonthFilesError, write_month
from harness.month import FAULTS, generate
from harness.oracle.fold import fold

# Seed 1, 2026-07, os-sim.
FILES = {
    "events.jsonl": "9c02a888be8882d179b67dae1e956fea73552408e59c78d0e05eb8274e55a749",
    "notifications.jsonl": "06026f36fb269bf1661a1dc275ff8fe32e2c89646a01ec285e78c0863bab1cab",
    "oracle.json": "cbac749b1f96f6fdd561a2d8ce75ed6525eda58bc1697141f01b303f75cf4134",
}
HELD_BACK = "e0673c1fec12b5dabd5d9add34c4872afe37ca380f8588d6ca35e8d6722d544f"


def digests(directory: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in directory.iterdir()
    }


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TALLY_SIM_CLOUD", "TALLY_LOG_LEVEL"):
        monkeypatch.delenv(name, raising=False)


def test_writes_the_files_of_a_month(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "a" / "month"
    assert main(["run", "--period", "2026-07", "--out", str(out)]) == 0
    assert digests(out) == FILES
    starting, completed = map(json.loads, capsys.readouterr().out.splitlines())
    assert starting["msg"] == "starting"
    assert starting["service"] == "run"
    assert starting["period"] == "2026-07"
    assert starting["cloud"] == "os-sim"
    assert starting["transitions"] == starting["stream"] == 15741
    assert starting["billable"] == 1812
    assert starting["resources"] == 871
    assert completed["msg"] == "completed"
    assert (completed["published"], completed["total"]) == (0, 15741)


def test_what_is_held_back_has_a_file_of_its_own(tmp_path: Path) -> None:
    call = ["run", "--period", "2026-07", "--seed", "1", "--out", str(tmp_path)]
    assert main([*call, "--faults", "held-back"]) == 0
    assert digests(tmp_path)["held-back.jsonl"] == HELD_BACK
    assert digests(tmp_path)["events.jsonl"] == FILES["events.jsonl"]
    assert main(call) == 0
    assert digests(tmp_path) == FILES, "an earlier run's held-back.jsonl has to go"


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert main(["run", "--period", "2026-02", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_the_cloud_comes_from_the_flag_then_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = ["run", "--period", "2026-02", "--out", str(tmp_path)]
    monkeypatch.setenv("TALLY_SIM_CLOUD", "from-environment")
    assert main(call) == 0
    assert json.loads((tmp_path / "oracle.json").read_bytes())["cloud"] == "from-environment"
    assert main([*call, "--cloud", "from-flag"]) == 0
    assert json.loads((tmp_path / "oracle.json").read_bytes())["cloud"] == "from-flag"


def test_the_interval_places_the_traffic(tmp_path: Path) -> None:
    call = ["run", "--period", "2026-02", "--out", str(tmp_path)]
    figures = []
    for interval in ("5m", "1h"):
        assert main([*call, "--metrics-interval", interval]) == 0
        oracle = json.loads((tmp_path / "oracle.json").read_bytes())
        figures.append(sum(row["egress_bytes"] for row in oracle["traffic"]))
    assert figures[0] != figures[1]


REFUSALS = [
    (["--period", "2026-7"], '--period: "2026-7" is not a YYYY-MM month'),
    (["--period", "9998-12"], "--period: 9998-12 runs until 9999-01-01T00:00:00Z"),
    (["--seed", "-1"], '--seed: "-1" must be a whole number from 0 to 18446744073709551615'),
    (["--seed", "18446744073709551616"], "--seed: 18446744073709551616 must be a whole number"),
    (["--seed", "1" * 5000], "must be a whole number"),
    (["--seed", "1.0"], '--seed: "1.0" must be a whole number'),
    (["--seed", "٣"], "must be a whole number"),
    (["--cloud", ""], "--cloud: must be set"),
    (["--cloud", "a\0b"], r'--cloud: "a\u0000b" must not hold a NUL character'),
    (["--cloud", "meta"], '--cloud: "meta" is a virtual platform'),
    (["--cloud", "partner"], '--cloud: "partner" is a virtual platform'),
    (["--cloud", "z\udcfcrich"], "must be valid UTF-8 text"),
    (["--metrics-interval", "0s"], "--metrics-interval: 0s must be whole seconds"),
    (["--metrics-interval", "29s"], "--metrics-interval: 29s must be"),
    (["--metrics-interval", "30.5s"], "--metrics-interval: 30.5s must be"),
    (["--metrics-interval", "-5m"], "--metrics-interval: -300s must be"),
    (["--metrics-interval", "24h1s"], "--metrics-interval: 86401s must be"),
    (["--metrics-interval", "soon"], '--metrics-interval: "soon" is not a duration'),
    (
        ["--faults", "bogus"],
        '--faults: unknown fault switch "bogus"; the switches are ' + ", ".join(FAULTS),
    ),
    (["--faults", "duplicates,"], '--faults: unknown fault switch ""'),
    (["--faults", ' "duplicates'], r'--faults: unknown fault switch " \"duplicates"'),
    (
        ["--faults", "missing-create,pre-existing"],
        "--faults: pre-existing and missing-create exclude each other",
    ),
]


@pytest.mark.parametrize(
    ("flags", "text"), REFUSALS, ids=[f"{flags[0]}-{n}" for n, (flags, _) in enumerate(REFUSALS)]
)
def test_a_refusal_touches_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], text: str
) -> None:
    kept = tmp_path / "held-back.jsonl"
    kept.write_text("of an earlier run")
    assert main(["run", "--period=2026-07", f"--out={tmp_path}", "=".join(flags)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("Error: ")
    assert printed.err.count("\n") == 1
    assert text in printed.err
    assert list(tmp_path.iterdir()) == [kept]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("TALLY_SIM_CLOUD", "meta", 'TALLY_SIM_CLOUD: "meta" is a virtual platform'),
        ("TALLY_LOG_LEVEL", "info", 'TALLY_LOG_LEVEL: "info" must be one of'),
    ],
)
def test_a_variable_is_refused_like_a_flag(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
    text: str,
) -> None:
    monkeypatch.setenv(name, value)
    assert main(["run", "--period", "2026-07", "--out", str(tmp_path / "out")]) == 2
    assert text in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_run_without_a_destination_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--period", "2026-07"]) == 2
    assert "--out" in capsys.readouterr().err


def test_help_names_every_switch(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--help"])
    assert ended.value.code == 0
    text = "".join(capsys.readouterr().out.split())
    assert all(name in text for name in (*FAULTS, "300s"))


def test_a_directory_that_cannot_be_made_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main(["run", "--period", "2026-02", "--out", str(tmp_path / "file" / "out")]) == 1
    assert f"creating {tmp_path}/file/out: Not a directory" in capsys.readouterr().err


def test_every_stale_file_that_stays_is_named(tmp_path: Path) -> None:
    month = generate(1, Period.parse("2026-02"), "os-sim")
    for name in ("events.jsonl", "oracle.json"):
        (tmp_path / name).mkdir()
    (tmp_path / "held-back.jsonl").touch()
    with pytest.raises(MonthFilesError) as failure:
        write_month(tmp_path, month, fold(month))
    assert f"removing {tmp_path}/events.jsonl: " in str(failure.value)
    assert f"removing {tmp_path}/oracle.json: " in str(failure.value)
    assert not (tmp_path / "held-back.jsonl").exists()
    assert not (tmp_path / "notifications.jsonl").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    call = [sys.executable, "-m", "harness", "run", "--period", "2026-07", "--out", str(tmp_path)]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    process.stdout.readline()  # starting
    while process.poll() is None and not any(tmp_path.iterdir()):
        time.sleep(0.001)
    os.kill(process.pid, number)
    printed, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    if '"stopped"' in printed:  # else it was done before the signal came
        assert not list(tmp_path.glob("*.part"))
        assert set(digests(tmp_path).items()) < set(FILES.items())


def test_writing_files_loads_nothing_of_the_pipeline(tmp_path: Path) -> None:
    code = (
        "import sys; from harness.cli import main; "
        f"main(['run', '--period', '2026-02', '--out', {str(tmp_path)!r}]); "
        "heavy = {'pika', 'sqlalchemy', 'fastapi', 'requests', 'yaml', 'rich', 'pytest'}; "
        "print(*sorted(heavy & sys.modules.keys()), file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr.split() == []
