"""The registry: projects, the relations between them, and their summaries."""

import pytest

WINDOW = {"from": "2026-07-01T00:00:00Z", "to": "2026-08-01T00:00:00Z"}
UNKNOWN = "00000000-0000-4000-8000-000000000000"
TYPE = "infrastructure_tenant"


def register(api, external_id, **members):
    body = {"platform": "openstack", "cloud": "os-sim", "external_id": external_id, **members}
    return api.call("POST", "/api/v1/projects", json=body)


@pytest.fixture
def projects(api):
    """The ids of projects a, b and c."""
    return {name: register(api, name).json()["id"] for name in "abc"}


def relate(api, source, target, relation_type=TYPE, **members):
    body = {"target_id": target, "relation_type": relation_type, **members}
    return api.call("POST", f"/api/v1/projects/{source}/relations", json=body)


def refused(answer, status, kind="validation", loc=None):
    """Hold a refusal to its status, its type, and the place it names."""
    document = answer.json()
    assert (answer.status_code, document["type"]) == (status, f"urn:tally:error:{kind}"), document
    if loc is not None:
        assert loc in [each["loc"] for each in document["errors"]]


def test_a_project_is_registered_once_and_changed(api):
    answer = register(api, "a", name="A", metadata={"n": 1.50})
    assert answer.status_code == 201
    path = answer.headers["Location"]
    assert api.get(path).json() == answer.json()
    refused(register(api, "a", platform="other"), 409, "conflict")
    assert register(api, "a", cloud="os-other").status_code == 201
    changed = api.call("PATCH", path, json={"metadata": {"m": 2}}).json()
    assert (changed["name"], changed["metadata"]) == ("A", {"m": 2})
    changed = api.call("PATCH", path, json={"name": None}).json()
    assert (changed["name"], changed["metadata"]) == (None, {"m": 2})
    listed = api.get("/api/v1/projects", external_id="a", limit=1).json()
    assert [each["cloud"] for each in listed["items"]] == ["os-other"]
    rest = api.get("/api/v1/projects", external_id="a", cursor=listed["next_cursor"]).json()
    assert ([each["cloud"] for each in rest["items"]], rest["next_cursor"]) == (["os-sim"], None)
    refused(api.call("PATCH", f"/api/v1/projects/{UNKNOWN}", json={}), 404, "not_found")


@pytest.mark.parametrize(
    ("members", "status", "loc"),
    [
        ({"platform": "meta"}, 422, "body.cloud"),
        ({"cloud": "partner"}, 422, "body.cloud"),
        ({"platform": "meta", "cloud": "partner"}, 422, "body.cloud"),
        ({"metadata": {"x": "y" * 65536}}, 422, "body.metadata"),
        ({"external_id": ""}, 400, "body.external_id"),
        ({"metadata": []}, 400, "body.metadata"),
        ({"surplus": 1}, 400, "body.surplus"),
    ],
)
def test_what_is_no_project(api, members, status, loc):
    body = {"platform": "openstack", "cloud": "os-sim", "external_id": "a", **members}
    refused(api.call("POST", "/api/v1/projects", json=body), status, loc=loc)


@pytest.mark.parametrize("platform", ["meta", "partner"])
def test_a_virtual_project_is_its_own_cloud(api, platform):
    assert register(api, "v", platform=platform, cloud=platform).status_code == 201


def test_what_is_no_relation(api, projects):
    a, b = projects["a"], projects["b"]
    refused(relate(api, UNKNOWN, b), 404, "not_found")
    refused(relate(api, a, UNKNOWN), 422, loc="body.target_id")
    refused(relate(api, a, a), 422, loc="body.target_id")
    refused(relate(api, a, b, valid_from="yesterday"), 400, loc="body.valid_from")
    refused(relate(api, a, b, metadata={"x": "y" * 65536}), 422, loc="body.metadata")
    for key in ((a, UNKNOWN), (b, relate(api, a, b).json()["id"])):
        path = "/api/v1/projects/{}/relations/{}".format(*key)
        refused(api.call("PATCH", path, json={}), 404, "not_found")
        refused(api.call("DELETE", path), 404, "not_found")


def test_one_relation_of_a_kind_is_active_at_a_time(api, projects):
    a, b = projects["a"], projects["b"]
    first = relate(api, a, b, valid_from="2026-01-01T00:00:00Z")
    assert first.status_code == 201
    path = first.headers["Location"]
    refused(relate(api, a, b), 409, "conflict")
    assert relate(api, a, b, "member_of").status_code == 201
    refused(
        api.call("PATCH", path, json={"valid_to": "2026-01-01T00:00:00Z"}),
        422,
        loc="body.valid_to",
    )
    ended = api.call("PATCH", path, json={"valid_to": "2026-02-01T00:00:00Z"})
    assert ended.json()["valid_to"] == "2026-02-01T00:00:00Z"
    refused(relate(api, a, b, valid_from="2026-01-31T00:00:00Z"), 409, "conflict")
    second = relate(api, a, b, valid_from="2026-02-01T00:00:00Z")
    assert second.status_code == 201
    refused(api.call("PATCH", path, json={"valid_to": None}), 409, "conflict")

    def listed(**wanted):
        items = api.get(f"/api/v1/projects/{b}/relations", relation_type=TYPE, **wanted).json()
        return [each["id"] for each in items["items"]]

    one, two = first.json()["id"], second.json()["id"]
    assert listed() == listed(direction="incoming") == [one, two]
    assert listed(direction="outgoing") == []
    assert listed(at="2025-12-31T23:59:59.999999Z") == []
    assert listed(at="2026-01-01T00:00:00Z") == listed(at="2026-01-31T23:59:59Z") == [one]
    assert listed(at="2026-02-01T00:00:00Z") == [two]
    where = second.headers["Location"]
    assert [api.call("DELETE", where).status_code for _ in range(2)] == [204, 204]
    assert listed(at="2200-01-01T00:00:00Z") == []
    assert relate(api, a, b).status_code == 201


def test_cost_does_not_go_round(api, projects):
    a, b, c = (projects[name] for name in "abc")
    january = relate(api, a, b, valid_from="2026-01-01T00:00:00Z").headers["Location"]
    assert relate(api, b, c, valid_from="2026-03-01T00:00:00Z").status_code == 201
    refused(relate(api, c, a), 422, "relation_cycle")
    refused(relate(api, b, a), 422, "relation_cycle")
    assert relate(api, c, a, "member_of").status_code == 201
    api.call("PATCH", january, json={"valid_to": "2026-02-01T00:00:00Z"})
    assert relate(api, c, a, valid_from="2026-02-01T00:00:00Z").status_code == 201
    refused(
        api.call("PATCH", january, json={"valid_to": "2026-04-01T00:00:00Z"}),
        422,
        "relation_cycle",
    )
    assert api.call("PATCH", january, json={"valid_to": "2026-03-01T00:00:00Z"}).status_code == 200


def test_relations_are_followed_as_far_as_wanted(api, projects):
    a, b, c = (projects[name] for name in "abc")
    relate(api, a, b)
    relate(api, b, c, "member_of")
    relate(api, c, a, "member_of")

    def found(**depth):
        items = api.get(f"/api/v1/projects/{a}/related", **depth).json()["items"]
        return [
            (each["project"]["external_id"], each["depth"], each["relation_type"], each["path"])
            for each in items
        ]

    assert found() == [("b", 1, TYPE, [a, b])]
    assert found(depth=10) == [("b", 1, TYPE, [a, b]), ("c", 2, "member_of", [a, b, c])]
    for depth in (0, 11):
        refused(api.get(f"/api/v1/projects/{a}/related", depth=depth), 400, loc="query.depth")
    refused(api.get(f"/api/v1/projects/{UNKNOWN}/related"), 404, "not_found")


GOOD = {"type": "discount", "rate": "0.125", "scope": "openstack.instance"}


@pytest.mark.parametrize(
    ("entries", "place"),
    [
        ({}, ""),
        ([], ""),
        ([GOOD] * 65, ""),
        ([GOOD, 7], ".1"),
        ([GOOD | {"type": "gift"}], ".0.type"),
        ([GOOD | {"rate": 0.1}], ".0.rate"),
        ([GOOD | {"rate": "1.000001"}], ".0.rate"),
        ([GOOD | {"rate": "0.1234567"}], ".0.rate"),
        ([GOOD | {"rate": "-0.1"}], ".0.rate"),
        ([GOOD | {"scope": "openstack."}], ".0.scope"),
        ([GOOD | {"scope": ""}], ".0.scope"),
        ([GOOD | {"description": "x" * 501}], ".0.description"),
        ([GOOD | {"note": ""}], ".0.note"),
        ([{}], ".0.rate"),
    ],
)
def test_what_is_no_pricing_adjustment(api, projects, entries, place):
    answer = relate(api, projects["a"], projects["b"], metadata={"pricing_adjustments": entries})
    refused(answer, 422, loc=f"body.metadata.pricing_adjustments{place}")


def test_pricing_adjustments_stay_as_they_began(api, projects):
    metadata = {"pricing_adjustments": [GOOD, GOOD | {"scope": "all", "rate": "1"}], "note": "x"}
    path = relate(api, projects["a"], projects["b"], metadata=metadata).headers["Location"]
    refused(api.call("PATCH", path, json={"metadata": {}}), 409, "conflict")
    kept = metadata | {"note": "y"}
    assert api.call("PATCH", path, json={"metadata": kept}).json()["metadata"] == kept


def test_a_summary_is_of_its_project_and_window(api, event, projects):
    api.ingest(
        [
            event(event_id="1", project_id="a", timestamp="2026-06-30T00:00:00Z"),
            event(
                event_id="2",
                project_id="b",
                event_type="volume.transfer.accept.end",
                timestamp="2026-07-01T00:00:10Z",
            ),
            event(event_id="3", resource_id="w", project_id="a", timestamp="2026-07-31T23:00:00Z"),
            event(event_id="4", resource_id="x", project_id="a", timestamp="2026-07-02T00:00:00Z"),
            event(
                event_id="5",
                resource_id="x",
                project_id="a",
                event_type="volume.delete.end",
                timestamp="2026-07-02T00:00:01Z",
            ),
        ]
    )
    answer = api.get(f"/api/v1/projects/{projects['a']}/summary", **WINDOW)
    # 10 s of the volume handed on, the window's last hour, and one second.
    assert '"total_minutes":60.1833' in answer.text
    assert answer.json() == {
        "project": {"id": projects["a"], "cloud": "os-sim", "external_id": "a"},
        "resource_types": [
            {
                "resource_type": "volume",
                "active_now": 1,
                "created": 2,
                "deleted": 1,
                "total_minutes": 60.1833,
            }
        ],
    }
    assert (
        api.get(f"/api/v1/projects/{projects['c']}/summary", **WINDOW).json()["resource_types"]
        == []
    )
    refused(api.get(f"/api/v1/projects/{UNKNOWN}/summary", **WINDOW), 404, "not_found")
    refused(api.get(f"/api/v1/projects/{projects['a']}/summary"), 400, loc="query.from")
