"""Whose statement a cost appears on."""

from decimal import Decimal

from harness.engine.attribution import Owner, attribute
from harness.engine.reporting import Project, Relation

A, B, C, D = (Project(name, "openstack", "cloud", name) for name in "abcd")


def relations(*pairs, kind="infrastructure_tenant"):
    return [Relation(f"r{index}", *pair, kind) for index, pair in enumerate(pairs)]


def claims(*pairs):
    found = attribute([A, B, C, D], relations(*pairs))
    codes = [warning.code for warning in found.warnings]
    return {target[1]: root.project_id for target, (root, _) in found.claims.items()}, codes


def test_no_relations():
    assert claims() == ({}, [])


def test_a_target_goes_to_its_root():
    found = attribute([A, B], relations(("a", "b")))
    assert found.claims == {
        ("cloud", "b"): (Owner("cloud", "a", "openstack"), "infrastructure_tenant")
    }
    assert found.registered == {("cloud", "a"), ("cloud", "b")}


def test_a_chain_goes_to_its_first():
    assert claims(("b", "c"), ("a", "b")) == ({"b": "a", "c": "a"}, [])


def test_the_first_claim_wins_by_id():
    assert claims(("a", "c"), ("b", "c")) == ({"c": "a"}, ["attribution_multiple_paths"])
    assert claims(("b", "c"), ("a", "c")) == ({"c": "b"}, ["attribution_multiple_paths"])


def test_the_shorter_path_wins_over_the_lower_id():
    assert claims(("a", "b"), ("b", "d"), ("c", "d")) == (
        {"b": "a", "d": "c"},
        ["attribution_multiple_paths"],
    )


def test_a_cycle_nobody_reaches_stands_alone():
    assert claims(("a", "b"), ("b", "a")) == ({}, ["attribution_cycle"] * 2)


def test_a_cycle_that_is_reached_is_claimed():
    found, codes = claims(("a", "b"), ("b", "c"), ("c", "b"))
    assert found == {"b": "a", "c": "a"}
    assert codes == ["attribution_multiple_paths"]


def bill(warehouse, project):
    warehouse.tell(
        "floatingip.create.end",
        "2026-03-01",
        resource=("floating_ip", f"ip-{project}"),
        state="active",
        size={"ip_version": 4},
        project=project,
    )


def test_a_root_without_usage_gets_a_statement_and_targets_none(engine, warehouse, documents):
    for project in ("t1", "t2", "alone"):
        bill(warehouse, project)
    root = warehouse.register("garden", "alpha", "gardener")
    warehouse.relate(root, warehouse.register("os-prod", "t2"))
    warehouse.relate(root, warehouse.register("os-prod", "t1"))
    run = engine.run("2026-03")
    papers = documents(run.run_id)
    assert sorted(papers) == [
        "run.json",
        "statement-garden%2Falpha.json",
        "statement-os-prod%2Falone.json",
    ]
    alpha = papers["statement-garden%2Falpha.json"]
    assert alpha["line_items"] == []
    assert alpha["platform"] == "gardener"
    assert [entry["project_id"] for entry in alpha["related_costs"]] == ["t1", "t2"]
    assert (alpha["total"], str(alpha["total"])) == (Decimal("7.44"), "7.44")
    assert run.stats["unregistered_projects"] == [
        {"cloud": "os-prod", "project_id": "alone", "resources": 1}
    ]


def test_relations_count_when_valid_at_any_time_of_the_period(engine, warehouse, documents):
    for project in ("ended", "touched", "coming", "other"):
        bill(warehouse, project)
    root = warehouse.register("garden", "alpha", "gardener")
    targets = {
        name: warehouse.register("os-prod", name)
        for name in ("ended", "touched", "coming", "other")
    }
    warehouse.relate(root, targets["ended"], valid_to="2026-03-01")
    warehouse.relate(root, targets["touched"], valid_to="2026-03-01T00:00:01")
    warehouse.relate(root, targets["coming"], valid_from="2026-04-01")
    warehouse.relate(root, targets["other"], kind="member_of")
    alpha = documents(engine.run("2026-03").run_id)["statement-garden%2Falpha.json"]
    assert [entry["project_id"] for entry in alpha["related_costs"]] == ["touched"]


def test_warnings_reach_the_stats(engine, warehouse):
    bill(warehouse, "t")
    target = warehouse.register("os-prod", "t")
    for name in ("alpha", "beta"):
        warehouse.relate(warehouse.register("garden", name, "gardener"), target)
    (warning,) = engine.run("2026-03").stats["attribution_warnings"]
    assert warning["code"] == "attribution_multiple_paths"
    assert "os-prod/t" in warning["detail"]


def test_a_resource_that_changed_hands_is_on_both_statements(engine, warehouse, documents):
    bill(warehouse, "first")
    warehouse.tell(
        "floatingip.update.end",
        "2026-03-11",
        resource=("floating_ip", "ip-first"),
        state="active",
        project="second",
    )
    papers = documents(engine.run("2026-03").run_id)
    assert [
        papers[f"statement-os-prod%2F{name}.json"]["total"] for name in ("first", "second")
    ] == [
        Decimal("1.20"),
        Decimal("2.52"),
    ]
