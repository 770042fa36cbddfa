"""Syncs that must not be carried out: twice at once, and of a cloud that answers by halves.

The Reporting API is the real one, openstacksdk its client, and the cloud the simulated one behind
a door that a test may hold shut or tear pages at.
"""

import asyncio
import contextlib
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
import yaml
from starlette.responses import PlainTextResponse, Response

from harness.calendar import rfc3339
from harness.calendar.instant import DAY, HOUR
from harness.cloud.app import run_app
from harness.cloud.identity import PASSWORD, USER
from harness.cloud.publication import Publication
from harness.oracle.live import live
from harness.reporting import admin
from harness.reporting.app import create_app
from harness.reporting.settings import Settings
from harness.service.listener import Listener

# openstacksdk and its dependencies warn about what they are about to drop.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]

VOLUMES = "/volume/v3/volumes/detail"


class Door:
    """Stands before the cloud; what reaches its listing of volumes goes by `way`, if there is one."""

    def __init__(self, app):
        self.app = app
        self.way = None

    async def __call__(self, scope, receive, send):
        if self.way is None or scope.get("path") != VOLUMES:
            await self.app(scope, receive, send)
            return
        await (await self.way(self, scope, receive))(scope, receive, send)

    async def volumes(self, scope, receive):
        """Return what the cloud answers, as a document."""
        body = bytearray()

        async def collect(message):
            body.extend(message.get("body", b""))

        await self.app(scope, receive, collect)
        return json.loads(body)


async def without_its_next_page(door, scope, receive):
    if b"marker" in scope["query_string"]:
        return PlainTextResponse("the database is away", 500)
    document = await door.volumes(scope, receive)
    half = document["volumes"][: len(document["volumes"]) // 2]
    host = dict(scope["headers"])[b"host"].decode()
    following = f"http://{host}{VOLUMES}?marker={half[-1]['id']}"
    links = [{"rel": "next", "href": following}]
    return answer({"volumes": half, "volumes_links": links})


async def torn(door, scope, receive):
    text = json.dumps(await door.volumes(scope, receive))
    return Response(text[: len(text) // 2], media_type="application/json")


async def with_one_that_says_nothing(door, scope, receive):
    document = await door.volumes(scope, receive)
    half = document["volumes"][: len(document["volumes"]) // 2]
    return answer({"volumes": [*half[:-1], half[-1] | {"status": ""}]})


def answer(document):
    return Response(json.dumps(document), media_type="application/json")


class Api:
    """A Reporting API, and what it has stored of the cloud."""

    def __init__(self, port, token):
        self.base = f"http://127.0.0.1:{port}"
        self.token = token

    def sync(self, at):
        return requests.post(
            f"{self.base}/internal/sync/os-sim",
            json={"at": rfc3339(at)},
            headers={"Authorization": "Bearer internal-secret"},
            timeout=60,
        )

    def volumes(self):
        found = requests.get(
            f"{self.base}/api/v1/resources",
            params={"cloud": "os-sim", "resource_type": "volume", "limit": 1000},
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=60,
        ).json()
        assert found["next_cursor"] is None
        return {item["resource_id"] for item in found["items"]}


@pytest.fixture
def door(month, oracle, clock):
    return Door(run_app(month, oracle, clock, Publication(1, 0), metrics=False))


@pytest.fixture
def api(door, tmp_path, monkeypatch):
    """A Reporting API that reconciles with the cloud behind the door."""
    url = f"sqlite:///{tmp_path}/reporting.db"
    admin.migrate(url)
    token = admin.create_api_token(url, "read_all").token
    with contextlib.ExitStack() as stack:
        cloud = stack.enter_context(Listener(door, "127.0.0.1", 0))
        account = {
            "auth": {
                "auth_url": f"http://127.0.0.1:{cloud.port}/v3",
                "username": USER,
                "password": PASSWORD,
                "project_name": "service",
                "user_domain_name": "Default",
                "project_domain_name": "Default",
            },
            "region_name": "RegionOne",
        }
        (tmp_path / "clouds.yaml").write_text(yaml.safe_dump({"clouds": {"sim": account}}))
        monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
        config = tmp_path / "tally-clouds.yaml"
        config.write_text(
            "clouds:\n- {cloud: os-sim, platform: openstack, adapter: openstack,\n"
            "   adapter_config: {os_cloud: sim, include_octavia: true}}\n"
        )
        settings = Settings(
            db_url=url,
            internal_token="internal-secret",
            clouds=config,
            sync_allow_at=True,
            sync_settle=0,
            log_level="ERROR",
        )
        app = create_app(settings)
        stack.callback(app.state.service.close)
        yield Api(stack.enter_context(Listener(app, "127.0.0.1", 0)).port, token)


def test_a_sync_is_refused_while_another_runs(api, door, clock, oracle):
    reached, opened = threading.Event(), threading.Event()

    async def shut(door, scope, receive):
        reached.set()
        await asyncio.to_thread(opened.wait, 60)
        return answer(await door.volumes(scope, receive))

    at = oracle.start + 36 * HOUR
    clock.move(at)
    door.way = shut
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(api.sync, at)
        try:
            assert reached.wait(30)
            refused = api.sync(at)
            assert not first.done()
        finally:
            opened.set()
        assert first.result().status_code == 200
    assert refused.status_code == 409
    assert refused.json()["type"] == "urn:tally:error:conflict"
    assert first.result().json()["stats"]["created"] > 50
    nothing = {"created": 0, "updated": 0, "deleted": 0}
    assert api.sync(at).json()["stats"] == nothing


@pytest.mark.parametrize(
    ("way", "status"),
    [(without_its_next_page, 500), (torn, 500), (with_one_that_says_nothing, 200)],
)
def test_a_cloud_that_answers_half_a_listing_closes_nothing(api, door, clock, oracle, way, status):
    early, late = oracle.start + DAY, oracle.start + 3 * DAY
    clock.move(early)
    assert api.sync(early).status_code == 200
    before = api.volumes()
    assert before == lives(oracle, early)
    clock.move(late)
    door.way = way
    assert api.sync(late).status_code == status
    assert before <= api.volumes()
    door.way = None
    assert api.sync(late).json()["stats"]["deleted"] > 0
    assert api.volumes() == lives(oracle, late)
    assert before - lives(oracle, late), "there was something to close"


def lives(oracle, at):
    return {resource.resource_id for resource, _ in live(oracle, at, "volume")}
