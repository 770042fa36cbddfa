"""What the reading routes refuse to serve in one piece, and the size schemas."""

import pytest
import sqlalchemy

from harness.reporting import instant
from harness.reporting.schema import CURRENT_RESOURCES, EVENTS

MAY = {"from": "2026-05-01T00:00:00Z", "to": "2026-05-02T00:00:00Z"}
STEP = {
    "platform": "openstack",
    "cloud": "os-sim",
    "resource_type": "volume",
    "resource_id": "v-1",
    "project_id": "p-1",
    "event_type": "volume.create.end",
    "source": "collector",
    "payload": '{"state":"available","size":{}}',
    "received_at": 0,
}


def insert(api, table, rows):
    with api.service.store.write() as transaction:
        transaction.connection.execute(sqlalchemy.insert(table), rows)


@pytest.mark.parametrize(
    ("path", "wanted", "loc"),
    [
        ("resources", {}, "query.group_by"),
        ("resources", {"group_by": "cloud"}, "query.group_by"),
        ("resources", {"group_by": "cloud,resource_type,size"}, "query.group_by"),
        ("resources", {"group_by": "cloud,resource_type,cloud"}, "query.group_by"),
        ("resources", {"group_by": "cloud,resource_type", "status": "x"}, "query.status"),
        ("events", {"group_by": "cloud,event_type", "interval": "1d"}, "query.from"),
        ("events", {"group_by": "cloud,event_type", **MAY}, "query.interval"),
        ("events", {"group_by": "cloud,event_type", "interval": "1m", **MAY}, "query.interval"),
        ("events", {"group_by": "cloud,source", "interval": "1d", **MAY}, "query.group_by"),
        ("events", {"interval": "1d", **MAY}, "query.group_by"),
    ],
)
def test_statistics_that_are_not_asked_for_rightly(api, path, wanted, loc):
    answer = api.get(f"/api/v1/stats/{path}", **wanted)
    assert answer.status_code == 400
    assert loc in [each["loc"] for each in answer.json()["errors"]]


def test_resources_are_not_counted_as_of_an_instant(api):
    answer = api.get("/api/v1/stats/resources", group_by="cloud,resource_type", at="now")
    assert (answer.status_code, answer.json()["type"]) == (501, "urn:tally:error:not_implemented")


@pytest.mark.parametrize(("to", "status"), [("2027-02-05", 200), ("2027-02-06", 422)])
def test_event_statistics_cover_400_days(api, to, status):
    answer = api.get(
        "/api/v1/stats/events",
        group_by="cloud,event_type",
        interval="1d",
        **{"from": "2026-01-01T00:00:00Z", "to": f"{to}T00:00:00Z"},
    )
    assert answer.status_code == status
    if status != 200:
        assert answer.json()["type"] == "urn:tally:error:result_too_large"


@pytest.mark.parametrize(("groups", "status"), [(10_000, 200), (10_001, 422)])
def test_statistics_answer_10000_rows(api, groups, status):
    at = instant.parse("2026-05-01T12:34:56Z")
    numbers = range(groups)
    insert(
        api,
        EVENTS,
        [
            STEP | {"event_id": f"e{number}", "timestamp": at, "event_type": f"t{number}"}
            for number in numbers
        ],
    )
    resource = {
        name: STEP[name] for name in ("platform", "cloud", "resource_type", "resource_id")
    } | {"state": "x", "size": "{}", "first_event_at": at, "last_event_at": at}
    insert(
        api,
        CURRENT_RESOURCES,
        [
            resource
            | {"resource_id": f"r{number}", "project_id": f"p{number}", "last_event_type": "t"}
            for number in numbers
        ],
    )
    counted = [
        api.get("/api/v1/stats/events", group_by="event_type,cloud", interval="1h", **MAY),
        api.get("/api/v1/stats/resources", group_by="cloud,resource_type,project_id"),
    ]
    for answer in counted:
        assert answer.status_code == status
        if status == 200:
            assert sum(each["count"] for each in answer.json()["items"]) == groups
        else:
            assert answer.json()["type"] == "urn:tally:error:result_too_large"
    if status == 200:
        assert counted[0].json()["items"][0]["bucket"] == "2026-05-01T12:00:00Z"


@pytest.mark.parametrize(("events", "status"), [(10_000, 200), (10_001, 422)])
def test_a_history_is_10000_events_long(api, event, events, status):
    api.ingest(event(event_id="first", timestamp="2026-01-01T00:00:00Z"))
    at = instant.parse("2026-05-01T00:00:00Z")
    steps = [
        STEP | {"event_id": f"e{number}", "timestamp": at + number, "event_type": "volume.x"}
        for number in range(1, events)
    ]
    insert(api, EVENTS, steps)
    for path in ("events", "lifecycle"):
        answer = api.get(f"/api/v1/resources/os-sim/volume/v-1/{path}")
        assert answer.status_code == status
        if status == 200:
            assert len(answer.json().get("items") or answer.json()["events"]) == events
        else:
            assert answer.json()["type"] == "urn:tally:error:history_too_long"


def test_a_resource_with_slashes_in_its_id_is_found(api, event):
    api.ingest(event(resource_id="a/b/events"))
    answer = api.get("/api/v1/resources/os-sim/volume/a/b/events/lifecycle").json()
    assert [(each["from"], each["to"]) for each in answer["intervals"]] == [
        ("2026-07-01T00:00:00Z", None)
    ]
    assert api.get("/api/v1/resources/os-sim/volume/nothing/lifecycle").status_code == 404


def test_sizes_without_a_schema_are_refused_where_that_is_wanted(serve, sqlite_url, event):
    strange = event(event_id="s", resource_type="share", payload={"state": "x", "size": {"n": 1}})
    bare = strange | {"event_id": "b", "event_type": "share.x.end", "payload": {"state": "x"}}
    strict = serve(sqlite_url, require_size_schema=True)
    answer = strict.ingest([strange, bare]).json()
    assert answer["accepted"] == 1
    (refused,) = answer["rejected"]
    assert refused["event_id"] == "s"
    assert refused["reason"].startswith("size_schema: ")
    assert serve(sqlite_url).ingest(strange).json()["accepted"] == 1


def test_a_size_schema_holds_from_the_moment_it_is_put(api, event):
    path = "/api/v1/resource-types/openstack/share"
    small = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 1}}}
    assert api.get(path).status_code == 404
    sized = [
        event(event_id=str(n), resource_type="share", payload={"state": "x", "size": {"n": n}})
        for n in range(3)
    ]
    assert api.ingest(sized[2]).json()["accepted"] == 1
    put = api.call("PUT", path, json={"size_schema": small})
    assert (put.status_code, put.json()["size_schema"]) == (200, small)
    assert api.get(path).json() == put.json()
    again = [sized[1], event(**sized[2] | {"event_id": "again"})]
    answer = api.ingest(again).json()
    assert (answer["accepted"], answer["rejected"][0]["event_id"]) == (1, "again")
    assert api.call("PUT", path, json={"size_schema": {}}).json()["size_schema"] == {}
    assert api.ingest(again[1]).json()["accepted"] == 1
    listed = api.get("/api/v1/resource-types", limit=1000).json()["items"]
    assert len(listed) == 6
    assert "share" in [each["resource_type"] for each in listed]


@pytest.mark.parametrize(
    ("platform", "schema", "status"),
    [
        ("openstack", {"type": "wrong"}, 422),
        ("openstack", {"$ref": "https://example.org/schema"}, 422),
        ("openstack", {"$ref": "#/$defs/none"}, 422),
        ("openstack", {"description": "x" * 65536}, 422),
        ("meta", {}, 422),
        ("openstack", [], 400),
    ],
)
def test_what_is_no_size_schema(api, platform, schema, status):
    path = f"/api/v1/resource-types/{platform}/share"
    assert api.call("PUT", path, json={"size_schema": schema}).status_code == status
    assert api.get(path).status_code == 404


def longest(operation):
    """The parameters of an operation, each one character too long, of four bytes a character."""
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "query":
            schema = parameter["schema"]
            for each in (schema, *schema.get("anyOf", ())):
                if "maxLength" in each:
                    yield parameter["name"], "\U000940ca" * (each["maxLength"] + 1)


def test_what_the_document_lets_a_query_hold_is_answered(api):
    document = api.get("/openapi.json", token=None).json()
    asked = 0
    for path, methods in document["paths"].items():
        query = dict(longest(methods.get("get", {})))
        if query:
            answer = api.get(path.replace("{id}", "x"), **query)
            assert answer.headers["content-type"] == "application/problem+json", (path, answer.text)
            asked += 1
    assert asked > 5
