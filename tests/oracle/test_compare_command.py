"""``tally-harness compare`` as it is called."""

import subprocess
import sys

import pytest

from harness.cli import main
from harness.oracle import document


@pytest.fixture
def call(bench):
    bench.write()
    document.write(bench.oracle, bench.directory / "oracle.json")

    def calling(**flags):
        values = {
            "oracle": str(bench.directory / "oracle.json"),
            "export": str(bench.directory),
            "pricing": "2026-03",
        }
        return main(["compare", *(f"--{k}={v}" for k, v in (values | flags).items())])

    return calling


def test_a_match_exits_0(call, capsys):
    assert call() == 0
    out, err = capsys.readouterr()
    assert out.endswith("the export matches the oracle over 4 resources\n")
    assert err == ""


def test_differences_exit_1_with_their_number_on_stderr(bench, call, capsys):
    bench.drop(bench.find("i-1"))
    bench.write()
    assert call() == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == "instance i-1: the export does not bill it"
    assert err == "Error: 1 resources differ from the oracle\n"


@pytest.mark.parametrize("flag", ["oracle", "export", "pricing"])
def test_each_flag_is_required(call, capsys, flag):
    assert call(**{flag: ""}) == 2
    assert capsys.readouterr().err == f"Error: --{flag}: must be set\n"


def test_the_first_missing_flag_is_named(capsys):
    assert main(["compare"]) == 2
    assert capsys.readouterr().err == "Error: --oracle: must be set\n"


def test_an_unreadable_model_is_named(call, capsys):
    assert call(pricing="/no/such.yaml") == 1
    assert "reading the pricing model /no/such.yaml" in capsys.readouterr().err


def test_an_oracle_of_format_1_is_refused(bench, call, capsys):
    path = bench.directory / "oracle.json"
    path.write_text(path.read_text().replace('"format": 4', '"format": 1'))
    assert call() == 1
    assert "states format 1 and this build writes format 4" in capsys.readouterr().err


def test_it_reads_no_environment(bench, call):
    result = subprocess.run(
        [
            sys.executable,
            "-m",
            "harness",
            "compare",
            f"--oracle={bench.directory}/oracle.json",
            f"--export={bench.directory}",
            "--pricing=2026-03",
        ],
        capture_output=True,
        text=True,
        env={},
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    "size",
    ["1e200", "1e999999999999999999999", "[" * 5000 + "]" * 5000],
    ids=["e200", "e9", "deep"],
)
def test_a_size_nobody_can_reckon_with_is_refused(bench, call, capsys, size):
    path = bench.directory / "oracle.json"
    path.write_text(path.read_text().replace('"vcpus": 1', f'"vcpus": {size}', 1))
    assert call() == 1
    assert f"Error: reading {path}: " in capsys.readouterr().err
