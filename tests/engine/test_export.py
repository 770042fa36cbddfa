"""Files of an export: names, modes, bytes, and what a failure leaves."""

import csv
import json
import os
import signal
import stat
import subprocess
import sys
from decimal import Decimal

import pytest

from harness.engine import Engine, ExportRefused
from harness.engine import engine as facade
from harness.engine.export import Directory, file_names
from harness.engine.export.tables import guard
from harness.engine.schema import runs

SIZE = {"vcpus": 4, "ram_gb": 8, "disk_gb": 80, "flavor": "f"}


@pytest.fixture
def run(engine, warehouse):
    warehouse.tell("compute.instance.create.end", "2026-03-01", state="active", size=SIZE)
    warehouse.tell("compute.instance.power_off", 1773000000_123456, state="shutoff")
    finished = engine.run("2026-03")
    engine.finalize("2026-03", finished.run_id)
    return finished.run_id


def contents(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.parametrize("form", ["csv", "json"])
def test_two_exports_of_a_finalized_run_are_identical(engine, run, tmp_path, form):
    for name in ("one", "two"):
        engine.export(run, form, tmp_path / name)
    assert contents(tmp_path / "one") == contents(tmp_path / "two") != {}


def test_modes(engine, run, tmp_path):
    os.umask(0)
    for form in ("csv", "json"):
        out = tmp_path / form
        engine.export(run, form, out)
        assert stat.S_IMODE(out.stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in out.iterdir()} == {0o600}
    os.umask(0o022)


def test_json_is_indented_and_keeps_the_digits(engine, run, tmp_path):
    engine.export(run, "json", tmp_path / "out")
    text = (tmp_path / "out" / "statement-os-prod%2Fproj-456.json").read_text()
    assert text.startswith('{\n  "billing_period": {\n    "from": "2026-03-01T00:00:00Z",\n')
    assert text.endswith("}\n")
    assert '"egress_gb": 0.00,' in text
    assert '"egress_gb": 0.0000,' in text
    assert '"state_modifier": 0.5000' in text
    summary = json.loads((tmp_path / "out" / "run.json").read_text(), parse_float=Decimal)
    assert list(summary) == [
        "run_id",
        "kind",
        "corrects_run_id",
        "period_from",
        "period_to",
        "status",
        "pricing_version",
        "clouds",
        "started_at",
        "completed_at",
        "stats",
        "statements",
    ]
    (entry,) = summary["statements"]
    assert list(entry) == ["file", "cloud", "project_id", "total", "currency"]
    document = json.loads(text, parse_float=Decimal)
    assert list(document) == [
        "billing_period",
        "project_id",
        "platform",
        "line_items",
        "related_costs",
        "total",
        "currency",
    ]
    assert list(document["line_items"][0]) == [
        "resource_type",
        "resource_id",
        "platform",
        "description",
        "periods",
        "total",
    ]
    assert list(document["line_items"][0]["periods"][0]) == [
        "state",
        "hours",
        "usage",
        "cost",
        "state_modifier",
    ]


def test_csv_bytes(engine, run, tmp_path):
    engine.export(run, "csv", tmp_path / "out")
    content = (tmp_path / "out" / "rated.csv").read_bytes()
    assert b"\r" not in content
    lines = content.decode().splitlines()
    assert lines[0] == (
        "run_id,kind,corrects_run_id,period_from,period_to,cloud,platform,resource_type,resource_id,"
        "project_id,state,from_ts,to_ts,dimension,quantity,amount,currency"
    )
    assert lines[1] == (
        f"{run},regular,,2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,os-prod,openstack,instance,abc-123,"
        "proj-456,active,2026-03-01T00:00:00Z,2026-03-08T20:00:00.123456Z,disk_gb,80.0000,15.04,EUR"
    )


def test_a_period_without_records_is_a_header(engine, tmp_path):
    engine.export(engine.run("2026-03").run_id, "csv", tmp_path / "out")
    assert (tmp_path / "out" / "rated.csv").read_text().count("\n") == 1


def test_formulas_are_guarded_and_numbers_are_not(engine, warehouse, rows):
    for index, name in enumerate(
        ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "a=b", "'q", 'say "hi", you\nthere']
    ):
        warehouse.tell(
            "floatingip.create.end",
            "2026-03-01",
            resource=("floating_ip", name),
            state="=up",
            size={"ip_version": 4},
            project=f"-{index}",
        )
    table = rows(engine.run("2026-03").run_id)
    assert sorted(row["resource_id"] for row in table) == sorted(
        ["'=1+1", "'+1", "'-1", "'@x", "'\tx", "'\rx", "a=b", "'q", 'say "hi", you\nthere']
    )
    assert {row["state"] for row in table} == {"'=up"}
    assert {row["amount"] for row in table} == {"3.72"}
    assert guard("") == ""


def test_deltas_keep_their_sign(engine, warehouse, run, tmp_path):
    warehouse.tell("compute.instance.power_off", "2026-03-01T00:00:01", state="shutoff")
    engine.export(engine.correct("2026-03").run_id, "csv", tmp_path / "out")
    with (tmp_path / "out" / "deltas.csv").open(newline="") as file:
        table = list(csv.reader(file))
    assert ",".join(table[0]) == (
        "run_id,corrects_run_id,period_from,period_to,cloud,platform,resource_type,resource_id,"
        "project_id,dimension,old_amount,new_amount,delta,currency"
    )
    assert [row[9:13] for row in table[1:]] == [
        ["disk_gb", "37.28", "29.76", "-7.52"],
        ["ram_gb", "18.64", "14.88", "-3.76"],
        ["vcpus", "37.28", "29.76", "-7.52"],
    ]


def test_file_names():
    names = file_names(
        "statement", ["os-prod/proj-456", "a%2Fb/%25", "os/Aa", "os/aA", "os/" + "x" * 200]
    )
    assert names["os-prod/proj-456"] == "statement-os-prod%2Fproj-456.json"
    assert names["a%2Fb/%25"] == "statement-a%252Fb%2F%2525.json"
    for key in ("os/Aa", "os/aA", "os/" + "x" * 200):
        assert len(names[key]) == len("statement-") + 64 + len(".json")
    assert len(set(names.values())) == 5


def test_awkward_projects_have_files_of_their_own(engine, warehouse, documents):
    for project in ("../../etc", "a/b", "ä", "Upper", "upper", "x" * 300):
        warehouse.tell(
            "floatingip.create.end",
            "2026-03-01",
            resource=("floating_ip", project[:20]),
            state="up",
            size={"ip_version": 4},
            project=project,
        )
    papers = documents(engine.run("2026-03").run_id)
    assert len(papers) == 7
    assert {papers[entry["file"]]["project_id"] for entry in papers["run.json"]["statements"]} == {
        "../../etc",
        "a/b",
        "ä",
        "Upper",
        "upper",
        "x" * 300,
    }


def test_the_directory_has_to_be_empty(engine, run, tmp_path):
    out = tmp_path / "out"
    engine.export(run, "csv", out)
    before = contents(out)
    with pytest.raises(ExportRefused, match="holds files already"):
        engine.export(run, "json", out)
    assert contents(out) == before
    with pytest.raises(ExportRefused, match="Not a directory"):
        engine.export(run, "csv", out / "rated.csv")


def write(out, *, halfway):
    """Write one file, then fail, in the middle of a second one or after the first."""
    with Directory(out) as directory:
        with directory.file("whole") as file:
            file.write(b"x")
        if halfway:
            with directory.file("half") as file:
                file.write(b"x")
                raise RuntimeError
        raise RuntimeError


@pytest.mark.parametrize("halfway", [True, False])
def test_a_failure_removes_what_was_written(tmp_path, halfway):
    out = tmp_path / "new"
    with pytest.raises(RuntimeError):
        write(out, halfway=halfway)
    assert not out.exists()
    out.mkdir()
    with pytest.raises(RuntimeError):
        write(out, halfway=halfway)
    assert list(out.iterdir()) == []


def test_a_file_has_its_name_only_once_it_is_whole(tmp_path):
    with Directory(tmp_path / "out") as directory, directory.file("run.json") as file:
        file.write(b"x")
        file.flush()
        assert not (tmp_path / "out" / "run.json").exists()
    assert (tmp_path / "out" / "run.json").read_bytes() == b"x"


def test_a_run_that_changes_while_it_is_read_is_not_exported(engine, run, tmp_path, monkeypatch):
    write = facade.write_documents

    def overtaken(connection, found, directory):
        count = write(connection, found, directory)
        connection.rollback()
        with engine._store.begin() as other:
            other.execute(runs.update().values(status="superseded"))
        return count

    monkeypatch.setattr(facade, "write_documents", overtaken)
    with pytest.raises(ExportRefused, match="is superseded now and was finalized"):
        engine.export(run, "json", tmp_path / "out")
    assert not (tmp_path / "out").exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from harness.engine import Engine
from harness.engine.export import directory

rename, left = Path.rename, [int(sys.argv[4])]

def last_breath(path, target):
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    return rename(path, target)

Path.rename = last_breath
Engine(sys.argv[1]).export(sys.argv[2], "json", Path(sys.argv[3]))
"""


@pytest.mark.parametrize("renames", [0, 1, 2])
def test_a_killed_export_leaves_no_summary(engine, warehouse, tmp_path, renames):
    for project in ("a", "b"):
        warehouse.tell(
            "x.create",
            "2026-03-01",
            resource=("floating_ip", project),
            state="up",
            size={},
            project=project,
        )
    run_id = engine.run("2026-03").run_id
    out = tmp_path / "out"
    arguments = [sys.executable, "-c", KILLED, engine.database_url, run_id, str(out), str(renames)]
    assert subprocess.run(arguments, check=False, timeout=60).returncode == -signal.SIGKILL
    left = contents(out)
    assert "run.json" not in left
    assert len([name for name in left if name.startswith("statement")]) == renames
    assert all(json.loads(left[name]) for name in left if name.startswith("statement"))


def test_unknown_runs_and_formats(engine, tmp_path):
    with pytest.raises(Exception, match="no run"):
        engine.export("00000000-0000-4000-8000-000000000000", "csv", tmp_path / "out")
    with pytest.raises(Exception, match="json or csv"):
        engine.export("00000000-0000-4000-8000-000000000000", "xml", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert isinstance(engine, Engine)
