"""The fake OpenStack API as plain HTTP."""

import json
from dataclasses import replace

import pytest

from harness.calendar import rfc3339
from harness.calendar.instant import DAY
from harness.cloud.app import run_app
from harness.cloud.documents import UnknownFlavor
from harness.cloud.publication import Publication

LOGIN = {
    "auth": {
        "identity": {
            "methods": ["password"],
            "password": {
                "user": {
                    "name": "tally-sync",
                    "password": "tally-dev-sync-password",
                    "domain": {"name": "Default"},
                }
            },
        },
        "scope": {"system": {"all": True}},
    }
}
GUARDED = [
    "/compute/v2.1/",
    "/image/",
    "/network/",
    "/load-balancer/",
    "/compute/v2.1/servers/detail",
    "/compute/v2.1/flavors/detail",
    "/volume/v3/volumes/detail",
    "/volume/v3/types",
    "/network/v2.0/floatingips",
    "/image/v2/images",
    "/load-balancer/v2.0/lbaas/loadbalancers",
]


@pytest.fixture(scope="module")
def served(serve, month, oracle, standing):
    return serve(run_app(month, oracle, standing, Publication(10, 0)))


@pytest.fixture
def client(served, clock):
    client = served.another()
    client.headers["Host"] = "sim.example:8080"
    return client


@pytest.fixture
def cloud(client):
    answer = client.post("/v3/auth/tokens", json=LOGIN)
    client.headers["X-Auth-Token"] = answer.headers["X-Subject-Token"]
    return client


def test_a_login_gives_the_token_of_the_run(client):
    first, second = (client.post("/v3/auth/tokens", json=LOGIN) for _ in range(2))
    assert first.status_code == 201
    assert first.headers["X-Subject-Token"] == second.headers["X-Subject-Token"]
    assert first.headers["content-type"] == "application/json"
    token = first.json()["token"]
    assert set(token) == {
        "methods", "issued_at", "expires_at", "audit_ids", "user", "project", "roles", "catalog"
    }  # fmt: skip
    assert token["user"] == {
        "id": "8f1e4b2c9a744d1e9c0b5a6d3e7f8091",
        "name": "tally-sync",
        "password_expires_at": None,
        "domain": {"id": "default", "name": "Default"},
    }
    assert [(s["type"], s["name"], s["endpoints"][0]["url"]) for s in token["catalog"]] == [
        ("compute", "nova", "http://sim.example:8080/compute/v2.1"),
        ("block-storage", "cinderv3", "http://sim.example:8080/volume/v3"),
        ("network", "neutron", "http://sim.example:8080/network"),
        ("image", "glance", "http://sim.example:8080/image"),
        ("load-balancer", "octavia", "http://sim.example:8080/load-balancer"),
    ]


def password(**members):
    body = json.loads(json.dumps(LOGIN))
    body["auth"]["identity"]["password"]["user"].update(members)
    return json.dumps(body)


@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", "{}", '{"auth": {}}', password(name="admin"), password(password="guess"),
     password(password=None), password(domain="x" * 1024)],
    ids=range(9),
)  # fmt: skip
def test_no_login_is_refused(client, body):
    answer = client.post("/v3/auth/tokens", data=body)
    assert answer.status_code == 401
    assert "X-Subject-Token" not in answer.headers
    assert answer.json() == {
        "error": {
            "code": 401,
            "title": "Unauthorized",
            "message": "no such user, or another password",
        }
    }


@pytest.mark.parametrize("path", GUARDED)
@pytest.mark.parametrize("token", [None, "", "of-an-earlier-run"])
def test_every_other_route_demands_the_token(client, path, token):
    answer = client.get(path, headers={} if token is None else {"X-Auth-Token": token})
    assert answer.status_code == 401
    assert answer.json()["error"]["message"] == "this run issued another token; log in again"


@pytest.mark.parametrize(
    "path",
    ["/v3/projects", "/v3", "/", "/compute/v2.1/servers", "/image/v2/images/", "/volume/v3/"],
)
def test_paths_nobody_claims(client, path):
    assert client.get(path).status_code == 404


def test_version_documents(cloud):
    assert cloud.get("/compute/v2.1/").json() == {
        "version": {"id": "v2.1", "status": "CURRENT", "version": "2.96", "min_version": "2.1"}
    }
    assert cloud.get("/image/").json() == {"versions": [{"id": "v2.15", "status": "CURRENT"}]}
    for path in ("/network/", "/load-balancer/"):
        assert cloud.get(path).json() == {"versions": [{"id": "v2.0", "status": "CURRENT"}]}


def test_without_its_slash_a_version_document_links_to_its_root(cloud):
    (version,) = cloud.get("/image").json()["versions"]
    assert version["links"] == [{"rel": "self", "href": "http://sim.example:8080/image/v2/"}]


def test_the_listings_hold_one_member_each_and_start_empty(cloud):
    for path, member in [
        ("/compute/v2.1/servers/detail", "servers"),
        ("/volume/v3/volumes/detail", "volumes"),
        ("/network/v2.0/floatingips", "floatingips"),
        ("/image/v2/images", "images"),
        ("/load-balancer/v2.0/lbaas/loadbalancers", "loadbalancers"),
    ]:
        answer = cloud.get(path, params={"all_tenants": "True", "limit": 1})
        assert answer.json() == {member: []}


def test_flavors_and_volume_types_stand_in_their_order(cloud):
    flavors = cloud.get("/compute/v2.1/flavors/detail").json()["flavors"]
    assert [flavor["name"] for flavor in flavors] == [
        "m1.small", "m1.medium", "m1.large", "m1.xlarge", "c1.large"
    ]  # fmt: skip
    assert flavors[2] == {
        "id": "8d2c1e40-0b7a-4a3e-9d61-5b8c7a2f1e93",
        "name": "m1.large",
        "ram": 8192,
        "disk": 40,
        "vcpus": 4,
        "swap": "",
        "rxtx_factor": 1,
        "OS-FLV-EXT-DATA:ephemeral": 40,
        "OS-FLV-DISABLED:disabled": False,
        "os-flavor-access:is_public": True,
        "description": None,
    }
    types = cloud.get("/volume/v3/types").json()["volume_types"]
    assert [kind["name"] for kind in types] == ["ssd", "hdd", "standard"]


def resized(oracle):
    """An instance with more than one flavor, and its second interval."""
    return next(
        (r, r.intervals[6])
        for r in oracle.resources
        if r.resource_id == "079faae9-9d39-426f-a963-769cb12aa629"
    )


def test_a_server_is_the_interval_it_is_served_from(cloud, oracle, clock):
    resource, interval = resized(oracle)
    clock.move(interval.start)
    listed = cloud.get("/compute/v2.1/servers/detail").json()["servers"]
    server = next(s for s in listed if s["id"] == resource.resource_id)
    assert server == {
        "id": resource.resource_id,
        "name": resource.resource_id,
        "status": "ACTIVE",
        "tenant_id": interval.project_id,
        "user_id": "8f1e4b2c9a744d1e9c0b5a6d3e7f8091",
        "created": "2026-07-01T03:17:02Z",
        "updated": "2026-07-09T17:11:32Z",
        "hostId": "5c1f9a3b7d2e4680a9c3b5d7e1f2a4c6",
        "OS-EXT-STS:task_state": None,
        "OS-EXT-STS:vm_state": "active",
        "OS-EXT-STS:power_state": 1,
        "OS-EXT-AZ:availability_zone": "nova",
        "OS-SRV-USG:launched_at": "2026-07-01T03:17:02.000000",
        "OS-SRV-USG:terminated_at": None,
        "flavor": {
            "id": "1b7f4c20-3e5a-4d18-8f92-2a6c9b0d7e41",
            "original_name": "m1.small",
            "vcpus": 1,
            "ram": 2048,
            "disk": 20,
            "ephemeral": 0,
            "swap": 0,
            "disabled": False,
            "is_public": True,
            "extra_specs": {},
        },
        "image": {"id": "0b1c2d3e4f50461783940516273849ab"},
        "addresses": {},
        "security_groups": [{"name": "default"}],
        "metadata": {},
    }


def test_deleted_servers_within_a_window_open_at_its_start(cloud, oracle, clock):
    gone = next(
        r
        for r in oracle.resources
        if r.resource_type == "instance" and r.intervals[-1].end < oracle.end
    )
    end = gone.intervals[-1].end

    def listed(since, at):
        clock.move(at)
        answer = cloud.get(
            "/compute/v2.1/servers/detail",
            params={"changes-since": rfc3339(since), "deleted": "true"},
        )
        return {server["id"]: server for server in answer.json()["servers"]}

    assert gone.resource_id not in listed(end - 60, end - 1)
    assert gone.resource_id in listed(end - 60, end)
    assert gone.resource_id in listed(end - 1, end)
    assert gone.resource_id not in listed(end, end + 60)
    server = listed(end - 60, end)[gone.resource_id]
    assert server["status"] == "DELETED"
    assert server["OS-EXT-STS:vm_state"] == "deleted"
    assert server["OS-EXT-STS:power_state"] == 0
    assert server["OS-SRV-USG:terminated_at"] == rfc3339(end)[:-1] + ".000000"


def test_changes_since_alone_lists_what_lives(cloud, oracle, clock):
    clock.move(oracle.start + 10 * DAY)
    plain = cloud.get("/compute/v2.1/servers/detail").json()
    since = {"changes-since": "2026-07-10T00:00:00+02:00"}
    assert cloud.get("/compute/v2.1/servers/detail", params=since).json() == plain
    assert cloud.get("/compute/v2.1/servers/detail", params={"deleted": "true"}).json() == plain
    empty = {"changes-since": "", "deleted": "true"}
    assert cloud.get("/compute/v2.1/servers/detail", params=empty).json() == plain


@pytest.mark.parametrize("since", ["yesterday", "2026-07-01", "2026-07-01T00:00:00", "1"])
@pytest.mark.parametrize("also", [{}, {"deleted": "true"}])
def test_changes_since_has_to_be_an_instant(cloud, since, also):
    answer = cloud.get("/compute/v2.1/servers/detail", params={"changes-since": since, **also})
    assert (answer.status_code, answer.text) == (
        400,
        "changes-since: write the instant as in 2026-07-01T00:00:00Z",
    )
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


def test_behind_the_month_its_end_is_answered(cloud, oracle, clock):
    answers = []
    for at in (oracle.end, oracle.end + 90 * DAY):
        clock.move(at)
        answers.append(cloud.get("/compute/v2.1/servers/detail").json())
    assert answers[0] == answers[1]
    assert len(answers[0]["servers"]) == 12
    answer = cloud.get(
        "/compute/v2.1/servers/detail",
        params={"changes-since": rfc3339(oracle.end - DAY), "deleted": "true"},
    )
    assert not {s["id"] for s in answer.json()["servers"]} & {
        s["id"] for s in answers[0]["servers"]
    }


def test_balancers_list_as_many_listeners_and_pools_as_they_hold(cloud, oracle, clock):
    clock.move(oracle.start + 14 * DAY)
    listed = cloud.get("/load-balancer/v2.0/lbaas/loadbalancers").json()["loadbalancers"]
    balancer = next(b for b in listed if b["listeners"])
    name = balancer["id"]
    assert balancer["listeners"][0] == {"id": f"{name}-listener-1"}
    assert balancer["pools"][-1] == {"id": f"{name}-pool-{len(balancer['pools'])}"}


def test_a_flavor_of_another_world_is_refused_at_the_start(month, oracle, clock):
    index, resource = next(
        (i, r) for i, r in enumerate(oracle.resources) if r.resource_type == "instance"
    )
    odd = replace(resource, intervals=(replace(resource.intervals[0], size={"flavor": "m1.nano"}),))
    resources = (*oracle.resources[:index], odd, *oracle.resources[index + 1 :])
    with pytest.raises(UnknownFlavor, match=r'cannot list flavor "m1\.nano", which'):
        run_app(month, replace(oracle, resources=resources), clock, Publication(1, 0))


def test_metrics_can_be_left_out(serve, month, oracle, clock):
    client = serve(run_app(month, oracle, clock, Publication(1, 0), metrics=False))
    assert client.get("/metrics").status_code == 404
