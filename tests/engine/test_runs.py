"""Runs and periods: what follows on what, and what is refused."""

import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
import yaml

from harness.calendar import Period, PeriodError
from harness.engine import (
    CounterFailure,
    DatabaseError,
    Engine,
    ExportRefused,
    InvariantsViolated,
    PeriodBusy,
    PricingRefused,
    RunRefused,
)
from harness.engine.instant import now
from harness.engine.lock import locked
from harness.engine.runs import STALE_AFTER, find
from harness.engine.schema import rated_records, runs
from harness.errors import UsageError
from harness.pricing import parse, read

SIZE = {"vcpus": 4, "ram_gb": 8, "disk_gb": 80, "flavor": "f"}
NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def billed(warehouse):
    warehouse.tell("compute.instance.create.end", "2026-03-01", state="active", size=SIZE)
    return warehouse


def status(engine, run_id):
    with engine._store.begin() as connection:
        return find(connection, run_id).status


def statuses(engine):
    with engine._store.begin() as connection:
        query = sa.select(runs.c.status).order_by(runs.c.started_at)
        return list(connection.execute(query).scalars())


def test_a_new_run_takes_the_place_of_the_completed_one(engine, billed):
    first = engine.run("2026-03")
    second = engine.run("2026-03")
    assert list(second.superseded) == [first.run_id]
    assert [status(engine, run.run_id) for run in (first, second)] == ["superseded", "completed"]
    (period,) = engine.periods()
    assert (str(period.period), period.status, period.finalized_run) == ("2026-03", "grace", None)


def test_finalizing_closes_the_period(engine, billed):
    first = engine.run("2026-03")
    second = engine.run("2026-03")
    for refused, words in ((first.run_id, "is superseded"), (NOBODY, "no run")):
        with pytest.raises(RunRefused, match=words):
            engine.finalize("2026-03", refused)
    with pytest.raises(RunRefused, match="is of 2026-03"):
        engine.finalize("2026-04", second.run_id)
    engine.finalize("2026-03", second.run_id)
    (period,) = engine.periods()
    assert (period.status, period.finalized_run) == ("finalized", second.run_id)
    with pytest.raises(RunRefused, match=f"{second.run_id}.*engine correct --period 2026-03"):
        engine.run("2026-03")
    with pytest.raises(RunRefused, match="is finalized"):
        engine.finalize("2026-03", second.run_id)


def test_late_events_and_corrections_need_a_finalized_period(engine, billed):
    engine.run("2026-03")
    for call in (engine.detect_late, engine.correct):
        with pytest.raises(RunRefused, match="no finalized run"):
            call("2026-03")


def test_corrections_follow_one_another(engine, billed, rows):
    first = engine.run("2026-03")
    engine.finalize("2026-03", first.run_id)
    assert engine.detect_late("2026-03").resources == []
    none = engine.correct("2026-03")
    assert (none.deltas, none.statements) == (0, 0)
    billed.tell("compute.instance.power_off", "2026-03-11", state="shutoff")
    billed.tell("compute.instance.power_on", "2026-04-01", state="active")
    late = engine.detect_late("2026-03")
    assert (late.run_id, [found.events for found in late.resources]) == (first.run_id, [1])
    assert late.resources[0].last_received_at > late.snapshot_at
    second = engine.correct("2026-03")
    assert list(second.superseded) == [none.run_id]
    assert second.deltas == 3
    engine.finalize("2026-03", second.run_id)
    (period,) = engine.periods()
    assert period.finalized_run == first.run_id
    assert engine.detect_late("2026-03").run_id == second.run_id
    assert engine.detect_late("2026-03").resources == []
    billed.tell("compute.instance.power_on", "2026-03-21", state="active")
    third = engine.correct("2026-03")
    assert third.corrects_run_id == second.run_id
    assert [row["delta"] for row in rows(third.run_id, "deltas.csv")] == ["10.56", "5.28", "10.56"]
    assert {row["corrects_run_id"] for row in rows(third.run_id)} == {second.run_id}
    assert status(engine, first.run_id) == "finalized"


def test_a_correction_keeps_version_and_clouds(engine, billed):
    billed.tell(
        "volume.create.end",
        "2026-03-01",
        cloud="other",
        resource=("volume", "v"),
        state="a",
        size={"size_gb": 1, "type": "ssd"},
    )
    first = engine.run("2026-03", ["os-prod"])
    assert first.candidates == 1
    engine.finalize("2026-03", first.run_id)
    newer = read("2026-03").document() | {
        "version": "2026-03b",
        "valid_from": "2026-03-01T00:00:00.000001Z",
    }
    engine_model = parse(newer)
    assert engine_model.version == "2026-03b"
    correction = engine.correct("2026-03")
    assert (correction.candidates, correction.pricing_version, correction.deltas) == (
        1,
        "2026-03",
        0,
    )


def test_a_violation_fails_the_whole_run(engine, billed):
    healthy = engine.run("2026-03")
    billed.tell("compute.instance.delete.end", "2026-03-05")
    billed.tell("compute.instance.power_on", "2026-03-06", state="active")
    with pytest.raises(InvariantsViolated, match="of 1 resources"):
        engine.run("2026-03")
    with engine._store.begin() as connection:
        failed = next(
            find(connection, run_id)
            for run_id in connection.execute(sa.select(runs.c.id)).scalars()
            if run_id != healthy.run_id
        )
        kept = connection.execute(sa.select(sa.func.count()).select_from(rated_records)).scalar()
    assert failed.status == "failed"
    (violation,) = failed.stats["violations"]
    assert (violation["rule"], violation["resource_id"], violation["to"]) == (
        "coverage",
        "abc-123",
        "2026-04-01T00:00:00Z",
    )
    assert "contradicts" in failed.stats["error"]
    assert kept == 4
    assert status(engine, healthy.run_id) == "completed"
    with pytest.raises(ExportRefused, match="is failed"):
        engine.export(failed.id, "csv", engine_out(engine))


def engine_out(engine):
    return Path(engine.database_url.removeprefix("sqlite:///")).parent / "never"


def test_a_required_source_that_fails_fails_the_run(billed, engine):
    class Broken:
        platform, resource_type, metric, required = "openstack", "instance", "egress_gb", True

        def quantity(self, record, events):
            raise CounterFailure("no answer")

    failing = Engine(engine.database_url, engine.reporting_database_url, (Broken(),))
    with failing, pytest.raises(CounterFailure, match="no answer"):
        failing.run("2026-03")
    assert statuses(engine) == ["failed"]


def test_no_valid_pricing_model(engine, billed):
    with pytest.raises(PricingRefused, match="2026-02-01T00:00:00Z"):
        engine.run("2026-02")
    assert engine.periods() == []


def test_pricing_imports(engine, tmp_path):
    document = read("2026-03").document()
    path = tmp_path / "model.yaml"

    def imported(**members):
        path.write_text(yaml.safe_dump(document | members))
        return engine.import_pricing(path)[1]

    assert imported() is False
    with pytest.raises(PricingRefused, match="other prices"):
        imported(currency="USD")
    with pytest.raises(PricingRefused, match="taken by version 2026-03"):
        imported(version="2026-03b")
    assert imported(version="2026-04", valid_from="2026-04-01T00:00:00Z") is True
    assert [str(model)[:42] for model in engine.pricing_models()] == [
        "2026-03 valid_from=2026-03-01T00:00:00Z cu",
        "2026-04 valid_from=2026-04-01T00:00:00Z cu",
    ]


def test_the_newest_model_valid_at_the_start_is_taken(engine, billed, tmp_path):
    path = tmp_path / "model.yaml"
    for version, valid_from in (("b", "2026-03-01T00:00:01Z"), ("c", "2026-02-01T00:00:00Z")):
        path.write_text(
            yaml.safe_dump(
                read("2026-03").document() | {"version": version, "valid_from": valid_from}
            )
        )
        engine.import_pricing(path)
    assert engine.run("2026-03").pricing_version == "2026-03"
    assert engine.run("2026-04").pricing_version == "b"


def test_one_run_of_a_period_at_a_time(engine, billed):
    with locked(engine._store, Period(2026, 3)):
        with pytest.raises(PeriodBusy, match="2026-03"):
            engine.run("2026-03")
        assert engine.run("2026-04").candidates == 1
    assert engine.run("2026-03").candidates == 1


def test_an_interrupted_run_is_reclaimed_after_two_hours(engine, billed):
    first = engine.run("2026-03")
    for age, expected in ((STALE_AFTER - 60_000_000, []), (STALE_AFTER + 1, [first.run_id])):
        with engine._store.begin() as connection:
            connection.execute(
                sa.update(runs)
                .where(runs.c.id == first.run_id)
                .values(status="running", started_at=now() - age)
            )
        assert list(engine.run("2026-03").reclaimed) == expected
    assert status(engine, first.run_id) == "failed"


def test_a_killed_run_leaves_the_lock_free(engine, billed, tmp_path):
    code = (
        "import sys, time; from harness.engine.lock import locked; from harness.service import database;"
        "from harness.calendar import Period\n"
        "with locked(database.engine(sys.argv[1]), Period(2026, 3)): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, engine.database_url], stdout=subprocess.PIPE
    ) as child:
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(PeriodBusy):
            engine.run("2026-03")
        child.kill()
        child.wait()
    assert engine.run("2026-03").candidates == 1


def test_candidates(engine, warehouse):
    def tell(name, *events):
        for what, at in events:
            state, size = ("a", {"ip_version": 4}) if what == "x.create" else (None, None)
            warehouse.tell(what, at, resource=("floating_ip", name), state=state, size=size)

    tell("before", ("x.create", "2026-02-01"), ("x.delete", "2026-02-28T23:59:59"))
    tell("ends at the start", ("x.create", "2026-02-01"), ("x.delete", "2026-03-01"))
    tell("throughout", ("x.create", "2026-02-01"))
    tell("from the end", ("x.create", "2026-04-01"))
    run = engine.run("2026-03")
    assert (run.candidates, run.usage_records) == (2, 1)


def test_events_of_later_months_are_not_read(engine, billed, rows):
    billed.tell("compute.instance.delete.end", "2026-04-01")
    assert {row["to_ts"] for row in rows(engine.run("2026-03").run_id)} == {"2026-04-01T00:00:00Z"}


def test_a_candidate_without_history_is_warned_of(engine, warehouse):
    warehouse.tell("compute.instance.create.end", "2026-03-01", state="active", size=SIZE)
    with warehouse.store.begin() as connection:
        connection.exec_driver_sql("delete from events")
    run = engine.run("2026-03")
    (warning,) = run.stats["metering_warnings"]
    assert (warning["code"], warning["resource_id"]) == ("candidate_without_history", "abc-123")
    assert (run.candidates, run.usage_records) == (1, 0)


def test_a_history_without_create_is_warned_of(engine, warehouse):
    warehouse.tell("compute.instance.resize.end", "2026-03-02", state="active", size=SIZE)
    run = engine.run("2026-03")
    (warning,) = run.stats["metering_warnings"]
    assert warning["code"] == "history_starts_without_create"
    assert run.usage_records == 1


def test_a_counter_without_a_source_is_warned_of_once(engine, billed):
    billed.tell(
        "compute.instance.create.end",
        "2026-03-02",
        resource=("instance", "b"),
        state="active",
        size=SIZE,
    )
    with Engine(engine.database_url, engine.reporting_database_url) as bare:
        stats = bare.run("2026-03").stats
    (warning,) = stats["counter_warnings"]
    assert warning["code"] == "counter_source_failed"
    assert "egress_gb" in warning["detail"]


def test_usage_keeps_every_member_as_it_was_spelt(engine, warehouse):
    size = '{"vcpus":4,"ram_gb":8.50,"disk_gb":1.0E2,"flavor":"f","extra":123456789012345678901234567890}'
    warehouse.tell("compute.instance.create.end", "2026-03-01", state="active", size=size)
    engine.run("2026-03")
    with engine._store.begin() as connection:
        usage = connection.exec_driver_sql("select usage from usage_records").scalar()
    assert usage == (
        '{"vcpus":4,"ram_gb":8.50,"disk_gb":1.0E+2,"flavor":"f","extra":123456789012345678901234567890,'
        '"minutes":44640.0000,"count":1,"egress_gb":0.0000}'
    )


def test_an_amount_no_rated_record_can_hold(engine, warehouse):
    warehouse.tell(
        "compute.instance.create.end", "2026-03-01", state="active", size=SIZE | {"vcpus": 10**12}
    )
    with pytest.raises(Exception, match="at most 14 digits"):
        engine.run("2026-03")
    assert statuses(engine) == ["failed"]


def test_two_months_at_once_read_one_snapshot_each(engine, billed):
    first = engine.run("2026-03")
    billed.tell("compute.instance.power_off", "2026-03-11", state="shutoff")
    engine.finalize("2026-03", first.run_id)
    assert [found.events for found in engine.detect_late("2026-03").resources] == [1]


def test_mistakes_are_told(tmp_path, warehouse):
    with pytest.raises(PeriodError):
        Engine("sqlite:///x").run("2026-13")
    unmigrated = Engine(f"sqlite:///{tmp_path}/empty.db", warehouse.url)
    with unmigrated, pytest.raises(DatabaseError, match=r"no such table.*migrated"):
        unmigrated.run("2026-03")
    with Engine(f"sqlite:///{tmp_path}/e.db") as lonely:
        lonely.migrate()
        lonely.import_pricing("2026-03")
        with pytest.raises(UsageError, match="TALLY_ENGINE_REPORTING_DB_URL"):
            lonely.run("2026-03")
    assert "secret" not in repr(Engine("postgresql://u:secret@h/d", "postgresql://u:secret@h/d"))
