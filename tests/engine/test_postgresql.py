"""The engine on PostgreSQL, over the Reporting API's own tables."""

import csv
import json
import os
import shutil
import threading
import uuid
from decimal import Decimal

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from harness.calendar import Period
from harness.engine import DatabaseError, Engine, PeriodBusy, Samples
from harness.engine.instant import now
from harness.engine.lock import locked
from harness.engine.migrate import VERSION_TABLE
from harness.engine.reporting import snapshot
from harness.engine.schema import metadata
from harness.reporting import admin
from harness.service import database
from harness.stack.interface import Unavailable
from harness.stack.postgresql import PrivatePostgres

SIZE = {"vcpus": 4, "ram_gb": 8.5, "disk_gb": 80, "flavor": "m1.large"}
SECOND = 1_000_000


@pytest.fixture(scope="module")
def server():
    try:
        made = PrivatePostgres()
    except Unavailable as error:
        if "local" in os.environ.get("TALLY_REQUIRE_STACKS", "").split(","):
            pytest.fail(str(error))
        pytest.skip(str(error))
    with made:
        yield made


@pytest.fixture
def urls(server):
    """The addresses of an engine's and a Reporting API's database, the latter migrated."""
    own, source = server.create_database("engine"), server.create_database("reporting")
    admin.migrate(source)
    yield own, source
    server.drop_database("engine")
    server.drop_database("reporting")


@pytest.fixture
def shared(urls, open_warehouse):
    made = open_warehouse(urls[1])
    yield made
    made.store.dispose()


@pytest.fixture
def engine(urls, shared):
    with Engine(*urls, (Samples([("b", 1772500000 * SECOND, 3 << 30)]),)) as made:
        made.migrate()
        made.migrate()
        made.import_pricing("2026-03")
        yield made


def lived(warehouse):
    for name in ("b", "B", "a-b", "a_b", "ä"):
        warehouse.tell(
            "x.create", "2026-03-01", resource=("instance", name), state="active", size=SIZE
        )
        warehouse.tell("x.change", "2026-03-11", resource=("instance", name), state="shutoff")
    warehouse.tell(
        "x.create", "2026-03-02", resource=("image", "i"), state="active", size={"size_gb": 1}
    )
    warehouse.relate(
        warehouse.register("garden", "alpha", "gardener"), warehouse.register("os-prod", "proj-456")
    )


def told(engine, late, rows, documents):
    """Run, finalize, correct; everything an export says, without ids and times."""
    first = engine.run("2026-03")
    engine.finalize("2026-03", first.run_id)
    late()
    found = [
        (resource.resource, resource.events) for resource in engine.detect_late("2026-03").resources
    ]
    second = engine.correct("2026-03")
    tables = [rows(first.run_id), rows(second.run_id), rows(second.run_id, "deltas.csv")]
    for row in (row for table in tables for row in table):
        for name in ("run_id", "corrects_run_id"):
            row.pop(name)
    papers = [
        {name: paper for name, paper in documents(run.run_id).items() if name != "run.json"}
        for run in (first, second)
    ]
    for paper in papers[1].values():
        paper.pop("corrects_run_id")
    return first.candidates, found, tables, papers


@pytest.fixture
def both(tmp_path, open_warehouse, empty):
    """An engine of the same make on SQLite."""
    warehouse = open_warehouse(f"sqlite:///{tmp_path}/reporting.db")
    shutil.copy(empty, tmp_path / "engine.db")
    with Engine(
        f"sqlite:///{tmp_path}/engine.db",
        warehouse.url,
        (Samples([("b", 1772500000 * SECOND, 3 << 30)]),),
    ) as made:
        yield made, warehouse
    warehouse.store.dispose()


def reader(engine, tmp_path, form):
    """The fixtures `rows` and `documents`, for any engine."""

    def rows(run_id, table="rated.csv"):
        out = tmp_path / str(uuid.uuid4())
        engine.export(run_id, "csv", out)
        with (out / table).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def documents(run_id):
        out = tmp_path / str(uuid.uuid4())
        engine.export(run_id, "json", out)
        return {
            path.name: json.loads(path.read_text(), parse_float=Decimal) for path in out.iterdir()
        }

    return rows if form == "csv" else documents


def test_postgresql_and_sqlite_say_the_same(engine, shared, both, tmp_path):
    answers = []
    for made, warehouse in ((engine, shared), both):
        lived(warehouse)

        def late(warehouse=warehouse):
            warehouse.clock = now()
            warehouse.tell("x.delete", "2026-03-20", resource=("instance", "b"))

        answers.append(
            told(made, late, reader(made, tmp_path, "csv"), reader(made, tmp_path, "json"))
        )
    assert answers[0] == answers[1]
    candidates, found, tables, _ = answers[0]
    assert candidates == 6
    assert found == [(("os-prod", "openstack", "instance", "b"), 1)]
    assert [row["resource_id"] for row in tables[0][::8]] == ["B", "a-b", "a_b", "b", "ä"]


def test_one_run_of_a_period_at_a_time(engine, shared):
    lived(shared)
    with locked(engine._store, Period(2026, 3)):
        with pytest.raises(PeriodBusy):
            engine.run("2026-03")
        assert engine.run("2026-04").candidates == 6
    assert engine.run("2026-03").candidates == 6


def test_a_run_reads_one_snapshot(engine, shared):
    lived(shared)
    with snapshot(engine._source) as frozen:
        histories = frozen.histories(0, 2**62)
        first = next(histories)
        shared.tell("x.create", "2026-03-05", resource=("instance", "z"), state="active", size=SIZE)
        names = [
            first.resource.resource_id,
            *(history.resource.resource_id for history in histories),
        ]
        assert "z" not in names


def test_events_of_a_transaction_under_way_count_as_late(engine, shared):
    """What is received before the snapshot and committed after it must not fall between."""
    lived(shared)
    begun, committed = threading.Event(), threading.Event()
    store = database.engine(engine.reporting_database_url)

    def ingest():
        with store.begin() as connection:
            received = connection.execute(
                sa.text("select floor(extract(epoch from now()) * 1000000)")
            ).scalar()
            connection.execute(
                sa.text(
                    "insert into events values ('slow', 1773000000000000, 'x.change', 'openstack', 'os-prod',"
                    " 'instance', 'b', 'proj-456', 'collector', '{\"state\":\"paused\"}', :received)"
                ),
                {"received": int(received)},
            )
            begun.set()
            committed.wait(30)

    writer = threading.Thread(target=ingest)
    writer.start()
    assert begun.wait(30)
    run = engine.run("2026-03")
    committed.set()
    writer.join()
    engine.finalize("2026-03", run.run_id)
    assert [found.events for found in engine.detect_late("2026-03").resources] == [1]
    store.dispose()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_migrations_make_the_tables_of_the_schema(kind, request, tmp_path):
    url = f"sqlite:///{tmp_path}/e.db" if kind == "sqlite" else request.getfixturevalue("urls")[0]
    with Engine(url) as made:
        made.migrate()
        with made._store.begin() as connection:
            options = {"version_table": VERSION_TABLE, "compare_type": kind == "postgresql"}
            context = MigrationContext.configure(connection, opts=options)
            assert compare_metadata(context, metadata) == []


def test_an_address_that_does_not_answer_shows_no_password():
    with (
        Engine("postgresql://tally:secret@127.0.0.1:1/x") as lost,
        pytest.raises(DatabaseError) as caught,
    ):
        lost.periods()
    assert "secret" not in str(caught.value)
