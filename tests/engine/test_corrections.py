"""A correction is what a run after late events says, less what the finalized run said."""

import shutil
from collections import defaultdict
from decimal import Decimal

import msgspec
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.engine import Engine, Samples
from harness.engine.schema import project_statements, rated_records

PROJECTS = ["p", "q", "infra"]
FLAVORS = [
    {"vcpus": 1, "ram_gb": 2, "disk_gb": 7, "flavor": "a"},
    {"vcpus": 3, "ram_gb": 5, "disk_gb": 11, "flavor": "b"},
]

resources = st.lists(
    st.tuples(
        st.lists(
            st.tuples(
                st.integers(0, 2_678_399),
                st.sampled_from(["active", "shutoff", "shelved"]),
                st.none() | st.sampled_from(FLAVORS),
                st.sampled_from(PROJECTS),
                st.integers(0, 2),
            ),
            min_size=1,
            max_size=4,
            unique_by=lambda change: change[0],
        ),
        st.none() | st.integers(0, 2),
    ),
    min_size=1,
    max_size=4,
)


def totals(engine, run_id):
    with engine._store.begin() as connection:
        columns = project_statements.c
        query = sa.select(columns.key, columns.total).where(columns.run_id == run_id)
        return defaultdict(lambda: Decimal(0), connection.execute(query).all())


def booked(engine, run_id):
    with engine._store.begin() as connection:
        columns = rated_records.c
        query = sa.select(columns.amount).where(columns.run_id == run_id)
        return sum(connection.execute(query).scalars(), Decimal(0))


@pytest.mark.slow
@given(resources)
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_credit_notes_are_the_difference_to_the_cent(
    empty, open_warehouse, tmp_path_factory, found
):
    place = tmp_path_factory.mktemp("case")
    warehouse = open_warehouse(f"sqlite:///{place}/reporting.db")
    warehouse.relate(
        warehouse.register("garden", "alpha", "gardener"), warehouse.register("os-prod", "infra")
    )
    start = 1772323200_000_000

    def tell(wave):
        """Store the events that arrive in one wave: 0 in time, 1 and 2 late."""
        for index, (changes, deleted) in enumerate(found):
            kind = ("instance", f"i{index}")
            ordered = sorted(changes, key=lambda change: change[0])
            for position, (second, state, size, project, arrives) in enumerate(ordered):
                if arrives == wave:
                    what = "x.create" if position == 0 else "x.change"
                    warehouse.tell(
                        what,
                        start + second * 1_000_000,
                        resource=kind,
                        state=state,
                        size=size or FLAVORS[0] if position == 0 else size,
                        project=project,
                    )
            if deleted == wave:
                warehouse.tell(
                    "x.delete",
                    start + (ordered[-1][0] + 1) * 1_000_000,
                    resource=kind,
                    project=ordered[-1][3],
                )

    def engine(name):
        shutil.copy(empty, place / name)
        return Engine(
            f"sqlite:///{place}/{name}",
            warehouse.url,
            (Samples([("i0", start + 5_000_000, 1 << 33)]),),
        )

    with engine("corrected.db") as corrected:
        tell(0)
        first = corrected.run("2026-03")
        corrected.finalize("2026-03", first.run_id)
        tell(1)
        second = corrected.correct("2026-03")
        corrected.finalize("2026-03", second.run_id)
        tell(2)
        third = corrected.correct("2026-03")
        with engine("fresh.db") as fresh:
            run = fresh.run("2026-03")
            wanted = totals(fresh, run.run_id)
            assert booked(fresh, run.run_id) == sum(wanted.values())
            assert booked(fresh, run.run_id) == booked(corrected, third.run_id)
        before, notes = totals(corrected, first.run_id), totals(corrected, second.run_id)
        more = totals(corrected, third.run_id)
        for key in {*wanted, *before, *notes, *more}:
            assert wanted[key] - before[key] == notes[key] + more[key], key
    warehouse.store.dispose()


def test_a_credit_note_follows_the_attribution(engine, warehouse, documents):
    ip = {"resource": ("floating_ip", "f"), "project": "infra"}
    warehouse.relate(
        warehouse.register("garden", "alpha", "gardener"), warehouse.register("os-prod", "infra")
    )
    warehouse.tell(
        "floatingip.create.end", "2026-03-01", state="active", size={"ip_version": 4}, **ip
    )
    engine.finalize("2026-03", engine.run("2026-03").run_id)
    warehouse.tell("floatingip.delete.end", "2026-03-11", **ip)
    run = engine.correct("2026-03")
    papers = documents(run.run_id)
    note = papers["credit-note-garden%2Falpha.json"]
    assert list(note) == [
        "billing_period",
        "project_id",
        "platform",
        "corrects_run_id",
        "line_items",
        "related_costs",
        "total",
        "currency",
    ]
    assert note["related_costs"][0]["line_items"][0]["dimensions"] == {
        "count": {"old": Decimal("3.72"), "new": Decimal("1.20"), "delta": Decimal("-2.52")}
    }
    assert note["total"] == Decimal("-2.52")
    assert papers["run.json"]["kind"] == "correction"
    assert msgspec.json.encode(papers["run.json"]["stats"]["deltas"]) == b"1"
