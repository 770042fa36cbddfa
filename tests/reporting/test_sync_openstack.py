"""Reconciling the simulated cloud with openstacksdk, unmodified, as its client."""

import json

import msgspec
import pytest
import sqlalchemy

from harness.broker.clock import VirtualClock
from harness.calendar import Period
from harness.cloud.app import run_app
from harness.cloud.publication import Publication
from harness.month import generate
from harness.oracle.fold import fold
from harness.reporting import instant
from harness.reporting.instant import DAY, HOUR, MINUTE, rfc3339
from harness.reporting.schema import EVENTS, SIZE_NAMES, SYNC_RUNS
from harness.service.listener import Listener

# openstacksdk and its dependencies warn about what they are about to drop.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]

START = instant.parse("2026-07-01T00:00:00Z")
END = instant.parse("2026-08-01T00:00:00Z")


class Standing(VirtualClock):
    """A clock that is moved by hand."""

    def __init__(self, seconds):
        super().__init__(seconds, 0)

    def move(self, seconds):
        self._base = seconds


@pytest.fixture(scope="module")
def simulated():
    """The simulated cloud of seed 1, and its clock."""
    month = generate(1, Period(2026, 7), "os-sim")
    oracle = fold(month)
    clock = Standing(oracle.start)
    app = run_app(month, oracle, clock, Publication(1, 0), metrics=False)
    with Listener(app, "127.0.0.1", 0) as listener:
        yield listener.port, clock


@pytest.fixture
def cloud(simulated, tmp_path, monkeypatch):
    """The settings that let the API reconcile the simulated cloud."""
    port, clock = simulated
    (tmp_path / "clouds.yaml").write_text(
        json.dumps(
            {
                "clouds": {
                    "sim": {
                        "auth": {
                            "auth_url": f"http://127.0.0.1:{port}/v3",
                            "username": "tally-sync",
                            "password": "tally-dev-sync-password",
                            "project_name": "service",
                            "user_domain_name": "Default",
                            "project_domain_name": "Default",
                        },
                        "region_name": "RegionOne",
                    }
                }
            }
        )
    )
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    config = tmp_path / "tally-clouds.yaml"
    config.write_text(
        "clouds:\n- {cloud: os-sim, platform: openstack, adapter: openstack,\n"
        "   adapter_config: {os_cloud: sim, include_octavia: true}}\n"
    )
    return clock, {"clouds": config, "sync_allow_at": True, "sync_settle": 0}


def until(month, start, end):
    """The events with start <= timestamp < end, as bodies of at most 500."""
    chosen = [
        line
        for line in month
        if start <= instant.parse(msgspec.json.decode(line)["timestamp"]) < end
    ]
    for at in range(0, len(chosen), 500):
        yield b"[" + b",".join(chosen[at : at + 500]) + b"]"


def synced(api, clock, at):
    clock.move(at // instant.SECOND)
    answer = api.call("POST", "/internal/sync/os-sim", token="internal", json={"at": rfc3339(at)})
    assert answer.status_code == 200, answer.text
    return answer.json()["stats"]


@pytest.mark.slow
def test_a_month_with_syncs_books_the_load_balancers_and_nothing_else(
    serve, sqlite_url, month, cloud
):
    clock, settings = cloud
    api = serve(sqlite_url, **settings)
    at, totals = START, {"created": 0, "updated": 0, "deleted": 0}
    while at < END:
        # Twice a day in the week in which balancers change, daily afterwards.
        following = min(at + (12 if at < START + 7 * DAY else 24) * HOUR, END)
        for body in until(month, at, following):
            assert api.ingest(body).json()["rejected"] == []
        at = following
        # The simulated cloud answers for the last instant before the next event may come.
        for kind, amount in synced(api, clock, at - instant.SECOND).items():
            totals[kind] += amount
    assert totals == {"created": 0, "updated": 6, "deleted": 0}
    with api.service.store.read() as connection:
        booked = connection.execute(
            sqlalchemy.select(EVENTS).where(EVENTS.c.source == "reconciliation")
        ).all()
        runs = connection.execute(sqlalchemy.select(SYNC_RUNS)).all()
        names = connection.execute(sqlalchemy.select(SIZE_NAMES)).all()
    assert {row.event_type for row in booked} == {"sync.update"}
    assert {row.resource_type for row in booked} == {"loadbalancer"}
    assert {row.status for row in runs} == {"completed"}
    assert sorted(row.name for row in names) == ["hdd", "ssd", "standard"]
    counted = api.get("/metrics", token=None).text
    assert 'tally_sync_runs_total{cloud="os-sim",status="completed"} 38.0' in counted


def test_deletes_that_never_came_are_dated_by_the_platform(serve, sqlite_url, month, cloud):
    clock, settings = cloud
    api = serve(sqlite_url, **settings)
    at = START + 36 * HOUR
    held = {}
    for body in until(month, START, at):
        kept = []
        for item in msgspec.json.decode(body):
            moment = instant.parse(item["timestamp"])
            if item["event_type"] == "compute.instance.delete.end" and moment > at - 20 * HOUR:
                held[item["resource_id"]] = item["timestamp"]
            else:
                kept.append(item)
        api.ingest(kept)
    assert len(held) > 5
    assert synced(api, clock, at)["deleted"] == len(held)
    with api.service.store.read() as connection:
        booked = connection.execute(
            sqlalchemy.select(EVENTS).where(EVENTS.c.event_type == "sync.delete")
        ).all()
    assert {row.resource_id: rfc3339(row.timestamp) for row in booked} == held
    assert synced(api, clock, at + MINUTE)["deleted"] == 0


def test_creates_that_never_came_are_dated_by_the_platform(serve, db_url, cloud, month):
    clock, settings = cloud
    api = serve(db_url, **settings)
    at = START + 36 * HOUR
    stats = synced(api, clock, at)
    assert stats["created"] > 50
    assert synced(api, clock, at) == {"created": 0, "updated": 0, "deleted": 0}
    live = {}
    for line in month:
        item = msgspec.json.decode(line)
        if instant.parse(item["timestamp"]) <= at:
            if ".delete" in item["event_type"]:
                live.pop(item["resource_id"], None)
            elif item["resource_type"] != "loadbalancer":
                before = live.get(item["resource_id"], {})
                live[item["resource_id"]] = {
                    "created": before.get("created", item["timestamp"]),
                    "state": item["payload"]["state"],
                    "size": item["payload"].get("size", before.get("size")),
                    "project": item["project_id"],
                }
    rows = {}
    cursor = {}
    while True:
        page = api.get("/api/v1/resources", limit=1000, **cursor).json()
        for row in page["items"]:
            if row["resource_type"] != "loadbalancer":
                rows[row["resource_id"]] = {
                    "created": row["created_at"],
                    "state": row["state"],
                    "size": row["size"],
                    "project": row["project_id"],
                }
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert rows == live


def test_a_cloud_that_cannot_be_asked_fails_the_run(serve, sqlite_url, cloud, tmp_path):
    _, settings = cloud
    config = json.loads((tmp_path / "clouds.yaml").read_text())
    config["clouds"]["sim"]["auth"]["password"] = "wrong-password"
    (tmp_path / "clouds.yaml").write_text(json.dumps(config))
    api = serve(sqlite_url, **settings)
    answer = api.call("POST", "/internal/sync/os-sim", token="internal")
    assert answer.status_code == 500
    assert answer.json()["type"] == "urn:tally:error:internal"
    with api.service.store.read() as connection:
        (run,) = connection.execute(sqlalchemy.select(SYNC_RUNS)).all()
    assert run.status == "failed"
    assert 'status="failed"' in api.get("/metrics", token=None).text


def test_what_a_sync_refuses(serve, sqlite_url, cloud):
    _, settings = cloud
    api = serve(sqlite_url, **settings | {"sync_allow_at": False})

    def sync(name, body=None):
        return api.call("POST", f"/internal/sync/{name}", token="internal", json=body)

    assert sync("os-sim", {"at": "2026-07-01T00:00:00Z"}).status_code == 400
    assert sync("os-other").status_code == 404
    with api.service.store.hold("sync:os-sim"):
        assert sync("os-sim").status_code == 409
