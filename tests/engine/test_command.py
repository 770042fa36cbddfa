"""``tally-harness engine`` from migration to correction."""

import re
import shutil

import pytest

from harness.cli import main

SIZE = {"vcpus": 4, "ram_gb": 8, "disk_gb": 80, "flavor": "f"}


@pytest.fixture
def call(tmp_path, warehouse, monkeypatch, capsys):
    """Call the engine's command; return its exit status and what it printed."""
    for name in ("DB_URL_FILE", "VM_URL", "ATTRIBUTING_RELATION_TYPES"):
        monkeypatch.delenv(f"TALLY_ENGINE_{name}", raising=False)
    monkeypatch.setenv("TALLY_ENGINE_DB_URL", f"sqlite:///{tmp_path}/engine.db")
    monkeypatch.setenv("TALLY_ENGINE_REPORTING_DB_URL", warehouse.url)
    monkeypatch.setenv("TALLY_ENGINE_COUNTER_SOURCES", "")

    def called(*arguments):
        status = main(["engine", *map(str, arguments)])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return called


def found(text):
    """The first run id in a text."""
    return re.search(r"[0-9a-f]{8}-[0-9a-f-]{27}", text)[0]


def test_a_period_from_migration_to_correction(call, warehouse, tmp_path):
    assert call("migrate")[0] == 0
    assert (tmp_path / "engine.db").stat().st_mode & 0o777 == 0o600
    assert call("pricing", "list") == (0, "no pricing model is imported\n", "")
    assert call("periods", "list") == (0, "no period was billed yet\n", "")
    assert "2026-03-01T00:00:00Z" in call("pricing", "import", "2026-03")[1]
    assert "nothing changes" in call("pricing", "import", "2026-03")[1]
    assert call("pricing", "list")[1].startswith(
        "2026-03 valid_from=2026-03-01T00:00:00Z currency=EUR imported_at="
    )

    warehouse.tell("x.create", "2026-03-01", resource=("instance", "a"), state="active", size=SIZE)
    warehouse.tell("x.create", "2026-03-01", resource=("image", "i"), state="active", size={})
    status, out, _ = call("run", "--period", "2026-03")
    assert status == 0
    first = found(out)
    assert "candidates 2, usage records 2, rated records 4, statements 1" in out
    assert "counter_source_failed: openstack/instance" in out
    assert (
        "metering 0, counter 1, attribution 0, unpriced resource types 1, unreadable fields 0, unregistered projects 1"
        in out
    )
    assert call("run", "--period", "2026-03", "--clouds", "elsewhere")[1].count("superseded") == 1
    run_id = found(call("run", "--period", "2026-03")[1])

    assert call("finalize", "--period", "2026-03", "--run", first)[0] == 1
    assert call("finalize", "--period", "2026-03", "--run", run_id) == (
        0,
        f"2026-03 is closed over run {run_id}\n",
        "",
    )
    assert f"2026-03 finalized finalized_run={run_id} finalized_at=" in call("periods", "list")[1]
    assert "nothing was received since" in call("detect-late", "--period", "2026-03")[1]
    status, _, err = call("run", "--period", "2026-03")
    assert (status, err.startswith("Error: 2026-03 is finalized")) == (1, True)

    for index in range(102):
        warehouse.tell(
            "x.create", "2026-03-31", resource=("floating_ip", f"{index:03}"), state="up", size={}
        )
    out = call("detect-late", "--period", "2026-03")[1]
    assert out.count("events 1, the last one received") == 100
    assert "… and 2 resources more" in out
    assert "engine correct --period 2026-03" in out
    out = call("correct", "--period", "2026-03")[1]
    correction = found(out)
    assert f"corrects run {run_id}" in out
    assert "deltas 102, credit notes 1" in out
    assert "takes the place of correction" in call("correct", "--period", "2026-03")[1]
    assert call("export", "--run", correction, "--format", "csv", "--out", tmp_path / "x")[0] == 1
    correction = found(call("correct", "--period", "2026-03")[1])
    out = call("finalize", "--period", "2026-03", "--run", correction)[1]
    assert out == f"2026-03: correction {correction} is finalized\n"
    out = call("correct", "--period", "2026-03")[1]
    assert "nothing changes: deltas 0" in out

    out = call("export", "--run", correction, "--format", "csv", "--out", tmp_path / "csv")[1]
    assert "rated records 106" in out
    assert "deltas 102" in out
    out = call("export", "--run", correction, "--format", "json", "--out", tmp_path / "json")[1]
    assert "run.json and 1 credit notes" in out
    assert (tmp_path / "json" / "credit-note-os-prod%2Fproj-456.json").exists()
    status, _, err = call(
        "export", "--run", correction, "--format", "json", "--out", tmp_path / "json"
    )
    assert status == 1
    assert "holds files already" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "--period"),
        (["run", "--period", "2026-3"], "YYYY-MM"),
        (["run", "--period", "2026-03", "--clouds", "a,,b"], "empty member"),
        (["finalize", "--period", "2026-03", "--run", "x"], "not a uuid"),
        (["export", "--run", "x", "--format", "csv", "--out", "y"], "not a uuid"),
        ([], "COMMAND"),
        (["pricing"], "COMMAND"),
    ],
)
def test_usage_errors(call, capsys, arguments, words):
    with pytest.raises(SystemExit) as stopped:
        call(*arguments)
    assert stopped.value.code == 2
    assert words in capsys.readouterr().err


def test_the_environment_is_checked(call, empty, tmp_path, monkeypatch):
    shutil.copy(empty, tmp_path / "engine.db")
    run_id = "00000000-0000-4000-8000-000000000000"
    status, _, err = call("export", "--run", run_id, "--format", "xml", "--out", tmp_path / "x")
    assert (status, "json or csv" in err) == (2, True)
    sources = tmp_path / "sources.yaml"
    sources.write_text("- {}\n")
    monkeypatch.setenv("TALLY_ENGINE_COUNTER_SOURCES", str(sources))
    status, _, err = call("run", "--period", "2026-03")
    assert (status, "[0].kind" in err) == (2, True)
    monkeypatch.setenv("TALLY_ENGINE_COUNTER_SOURCES", "")
    monkeypatch.setenv("TALLY_ENGINE_REPORTING_DB_URL", "")
    status, _, err = call("run", "--period", "2026-03")
    assert (status, "TALLY_ENGINE_REPORTING_DB_URL" in err) == (2, True)
    monkeypatch.setenv("TALLY_ENGINE_DB_URL", "")
    status, _, err = call("periods", "list")
    assert (status, "TALLY_ENGINE_DB_URL" in err) == (2, True)
    monkeypatch.setenv("TALLY_ENGINE_DB_URL", "mysql://x")
    status, _, err = call("periods", "list")
    assert (status, "no database URL" in err) == (2, True)
