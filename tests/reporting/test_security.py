"""Who is let in where, as a table made of the OpenAPI document; and what nobody may break."""

import hashlib
import hmac
import json
import logging
import re
import socket
import time

import pytest
import sqlalchemy

from harness.reporting import access, admin
from harness.reporting.access import Needs
from harness.reporting.app import ROUTES, create_app
from harness.reporting.frame import LARGEST_BODY
from harness.reporting.schema import METADATA
from harness.reporting.settings import Settings

UNKNOWN = "00000000-0000-4000-8000-000000000000"
ROLES = ("project", "read_all", "admin")
OPEN = {"/healthz", "/readyz", "/metrics"}


def operations():
    """Every operation of the document with what it says it needs."""
    document = create_app(Settings(db_url="sqlite:////tmp/never-opened.db")).openapi()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            security = operation.get("security")
            yield path, method.upper(), next(iter(security[0])) if security else "none"


OPERATIONS = sorted(operations())


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """One API for the whole table, with a token of every kind."""
    from harness.service.listener import Listener  # noqa: PLC0415

    url = f"sqlite:///{tmp_path_factory.mktemp('security')}/s.db"
    admin.migrate(url)
    partner = admin.create_project(url, "partner", "one")
    tokens = {
        "ingest": admin.create_ingest_credential(url, "openstack", "os-sim").token,
        "project": admin.create_api_token(url, "project", [partner]).token,
        "read_all": admin.create_api_token(url, "read_all").token,
        "admin": admin.create_api_token(url, "admin").token,
        "internal": "the-internal-secret",
    }
    revoked = {
        "ingest": admin.create_ingest_credential(url, "openstack", "os-sim"),
        "api": admin.create_api_token(url, "admin"),
    }
    assert admin.revoke_ingest_credential(url, revoked["ingest"].id)
    assert admin.revoke_api_token(url, revoked["api"].id)
    app = create_app(Settings(db_url=url, internal_token=tokens["internal"]))
    with Listener(app, "127.0.0.1", 0) as listener:
        yield listener.port, url, tokens, {name: each.token for name, each in revoked.items()}
    app.state.service.close()


def call(port, method, path, authorization):
    """Send a request without following the contract in anything but its target."""
    import requests  # noqa: PLC0415

    headers = {} if authorization is None else {"Authorization": authorization}
    target = re.sub(r"{[^}]*}", UNKNOWN, path)
    return requests.request(
        method, f"http://127.0.0.1:{port}{target}", headers=headers, data=b"{", timeout=30
    )


def test_the_document_knows_every_route_and_nothing_is_open_by_accident():
    assert {(each.documented_path, each.method) for each in ROUTES} == {
        (path, method) for path, method, _ in OPERATIONS
    }
    assert {path for path, _, needs in OPERATIONS if needs == "none"} == OPEN
    assert {needs for _, _, needs in OPERATIONS} == {each.value for each in Needs}


@pytest.mark.parametrize(("path", "method", "needs"), OPERATIONS)
def test_a_token_opens_what_it_is_for_and_nothing_else(guarded, path, method, needs):
    port, _, tokens, revoked = guarded
    admitted = {
        "none": {None, "ingest", "project", "read_all", "admin", "internal"},
        "ingest": {"ingest"},
        "internal": {"internal"},
    }.get(needs) or set(ROLES[ROLES.index(needs) :])
    for name, token in [*tokens.items(), (None, None)]:
        status = call(port, method, path, token and f"Bearer {token}").status_code
        if name in admitted:
            assert status not in {401, 403}, (name, status)
        elif name in {None, "internal"} or needs == "internal":
            assert status == 401, (name, status)
        else:
            assert status == 403, (name, status)
    if needs == "none":
        return
    for wrong in (
        "",
        "Bearer",
        "Bearer ",
        "Basic dXNlcjpwYXNz",
        f"Basic {tokens.get(needs, 'x')}",
        "Bearer tly_i_" + "0" * 64,
        "Bearer tly_a_" + "0" * 64,
        f"Bearer {tokens['admin'][:-1]}",
        f"Bearer {tokens['ingest']}x",
        f"Bearer {hashlib.sha256(tokens['admin'].encode()).hexdigest()}",
        f"Bearer {revoked['ingest']}",
        f"Bearer {revoked['api']}",
        "Bearer ' OR 1=1 --",
        "Bearer \xff\xfe",
    ):
        answer = call(port, method, path, wrong.encode("latin-1"))
        assert answer.status_code == 401, wrong
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert answer.json()["type"] == "urn:tally:error:unauthorized"


def test_a_closed_internal_door_opens_for_nobody(serve, sqlite_url):
    api = serve(sqlite_url)
    shut = create_app(Settings(db_url=sqlite_url)).state.service
    for authorization in (None, "Bearer ", "Bearer x", f"Bearer {api.tokens['admin']}"):
        with pytest.raises(Exception, match="bearer token"):
            shut.doorkeeper.admit(Needs.INTERNAL, authorization)
    shut.close()


def test_events_of_another_cloud_are_refused_by_scope(api, event):
    for members in ({"cloud": "os-other"}, {"platform": "hetzner"}):
        answer = api.ingest(event(**members)).json()
        assert answer["rejected"] == [{"index": 0, "event_id": "e-1", "reason": "scope"}]
    assert api.get("/api/v1/rejected-events").json()["items"] == []


def test_a_project_token_sees_its_projects_and_no_others(serve, sqlite_url, event):
    api = serve(sqlite_url)
    mine, theirs = [
        api.call(
            "POST",
            "/api/v1/projects",
            json={"platform": "openstack", "cloud": "os-sim", "external_id": name},
        ).json()["id"]
        for name in ("mine", "theirs")
    ]
    token = admin.create_api_token(sqlite_url, "project", [mine]).token
    api.ingest(
        [
            event(event_id="a", resource_id="a", project_id="mine"),
            event(event_id="b", resource_id="b", project_id="theirs"),
            event(event_id="c", resource_id="c", project_id="mine"),
            event(
                event_id="d",
                resource_id="c",
                project_id="theirs",
                timestamp="2026-07-02T00:00:00Z",
                event_type="volume.transfer.accept.end",
            ),
        ]
    )

    def seen(path, **params):
        return api.get(path, token=token, **params)

    assert [each["event_id"] for each in seen("/api/v1/events").json()["items"]] == ["a", "c"]
    assert [each["resource_id"] for each in seen("/api/v1/resources").json()["items"]] == ["a"]
    window = {"from": "2026-07-01T00:00:00Z", "to": "2026-08-01T00:00:00Z"}
    counted = seen(
        "/api/v1/stats/events", group_by="cloud,event_type", interval="1d", **window
    ).json()
    assert sum(each["count"] for each in counted["items"]) == 2
    counted = seen("/api/v1/stats/resources", group_by="cloud,resource_type").json()
    assert sum(each["count"] for each in counted["items"]) == 1
    for path in ("/api/v1/events", "/api/v1/resources"):
        assert seen(path, project_id="theirs").status_code == 403
        assert seen(path, project_id="mine", cloud="os-other").status_code == 403
        assert seen(path, project_id="mine").status_code == 200
    for resource, events, lifecycle in (("a", 200, 200), ("b", 404, 404), ("c", 200, 404)):
        base = f"/api/v1/resources/os-sim/volume/{resource}"
        assert seen(f"{base}/events").status_code == events
        assert seen(f"{base}/lifecycle").status_code == lifecycle
    assert seen(f"/api/v1/projects/{mine}/summary", **window).status_code == 200
    assert seen(f"/api/v1/projects/{theirs}/summary", **window).status_code == 403


def test_tokens_are_nowhere_but_with_their_owner(serve, sqlite_url, event, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    api = serve(sqlite_url)
    api.ingest(event())
    api.ingest(event(), token="tly_i_" + "9" * 64)
    api.get("/api/v1/events", token=api.tokens["ingest"])
    with api.service.store.engine.connect() as connection:
        stored = repr(
            [connection.execute(sqlalchemy.select(each)).all() for each in METADATA.sorted_tables]
        )
    said = caplog.text + "".join(capfd.readouterr()) + repr(api.service.settings)
    issued = admin.create_api_token(sqlite_url, "admin")
    assert issued.token not in repr(issued)
    for token in [*api.tokens.values(), "9" * 64]:
        assert token not in stored
        assert token not in said
    for name in ("ingest", "admin", "read_all"):
        assert hashlib.sha256(api.tokens[name].encode()).hexdigest() in stored


def test_comparisons_take_the_same_time_for_every_token(api, monkeypatch):
    compared = []
    constant = hmac.compare_digest

    def compare(one, other):
        compared.append((one, other))
        return constant(one, other)

    monkeypatch.setattr(access.hmac, "compare_digest", compare, raising=True)
    assert api.get("/api/v1/events").status_code == 200
    assert api.call("POST", "/internal/projection/rebuild", token="wrong").status_code == 401
    digests = {api.tokens["admin"], "wrong", api.tokens["internal"]}
    assert {text for pair in compared for text in pair} == {
        hashlib.sha256(each.encode()).hexdigest() for each in digests
    }


HOSTILE = [
    "'; DROP TABLE events; --",
    '"quoted" OR ""=""',
    "%_\\%",
    "a/../b",
    "\u202e\u0000"[:1] + "x",
    "\U0001f4a9",
    "${jndi:x}",
    "<script>",
    "line\nbreak",
    "x" * 512,
]
FIELDS = ["event_id", "resource_type", "resource_id", "project_id"]


@pytest.mark.parametrize("text", HOSTILE)
def test_every_string_is_taken_as_it_is(either_api, event, text):
    api = either_api
    short = text[:256]
    members = {field: short if field == "event_id" else text for field in FIELDS}
    body = event(**members, payload={"state": text, "size": {text: text}, "provider": {text: 1}})
    assert api.ingest(body).json()["accepted"] == 1
    (stored,) = api.get("/api/v1/events", resource_id=None, project_id=text).json()["items"]
    assert {field: stored[field] for field in FIELDS} == members
    assert stored["payload"] == body["payload"]
    (row,) = api.get("/api/v1/resources", state=text).json()["items"]
    assert (row["size"], row["state"]) == ({text: text}, text)
    assert api.get("/api/v1/events", project_id=text[:511] + "'").json()["items"] == []
    project = {
        "platform": text,
        "cloud": text,
        "external_id": text,
        "name": text,
        "metadata": {text: text},
    }
    answer = api.call("POST", "/api/v1/projects", json=project)
    assert answer.status_code == 201
    assert {name: answer.json()[name] for name in project} == project


@pytest.mark.parametrize("field", [*FIELDS, "event_type", "platform", "cloud"])
def test_a_nul_reaches_no_column(either_api, event, field):
    answer = either_api.ingest(event(**{field: "a\x00b"})).json()
    assert answer["rejected"][0]["reason"].startswith("schema: ")


@pytest.mark.parametrize(
    "target",
    [
        "/api/v1/events?cloud=a%00b",
        "/api/v1/resources?state=%00",
        "/api/v1/resources/a%00/b/c/events",
        "/api/v1/projects/%00",
        "/api/v1/projects?external_id=%00",
        "/api/v1/events?cursor=WyJcdTAwMDAiLCJcdTAwMDAiXQ",
    ],
)
def test_a_nul_in_a_target_is_a_bad_request(either_api, target):
    assert either_api.get(target).status_code in {400, 404}


def test_a_nul_in_a_body_is_a_bad_request(either_api):
    body = {"platform": "openstack", "cloud": "c", "external_id": "a\x00b"}
    answer = either_api.call("POST", "/api/v1/projects", json=body)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["loc"] == "body.external_id"


def raw(api, head, *chunks, pause=0.0):
    """Send bytes as they are, and return the status of what comes back."""
    port = int(api.base.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(head)
        try:
            for chunk in chunks:
                connection.sendall(chunk)
                time.sleep(pause)
        except (BrokenPipeError, ConnectionResetError):
            pass
        try:
            return int(connection.recv(65536).split(b" ", 2)[1])
        except ConnectionResetError:
            return 0


def head(api, *lines, token="ingest"):
    return "\r\n".join(
        [
            "POST /api/v1/events HTTP/1.1",
            "Host: x",
            f"Authorization: Bearer {api.tokens[token]}",
            *lines,
            "",
            "",
        ]
    ).encode()


def test_a_body_that_says_it_is_too_large_is_not_read(api):
    assert raw(api, head(api, f"Content-Length: {LARGEST_BODY + 1}")) == 413


def test_a_body_that_grows_too_large_is_stopped_on_its_way(api):
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    assert raw(api, head(api, "Transfer-Encoding: chunked"), *[chunk] * 9) == 413


def test_a_body_as_large_as_allowed_is_read(api):
    body = b"[" + b" " * (LARGEST_BODY - 2) + b"]"
    assert api.ingest(body).json() == {"accepted": 0, "duplicates": 0, "rejected": []}
    assert api.ingest(body + b" ").status_code == 413


def test_nothing_is_read_of_who_is_not_let_in(api):
    assert raw(api, head(api, f"Content-Length: {LARGEST_BODY}", token="admin")) == 403


def test_a_slow_client_keeps_nobody_waiting(api, event):
    began = time.monotonic()
    port = int(api.base.rpartition(":")[2])
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
    try:
        for connection in slow:
            connection.sendall(head(api, "Content-Length: 1000") + b"[")
        assert api.ingest(event()).json()["accepted"] == 1
        assert time.monotonic() - began < 20
    finally:
        for connection in slow:
            connection.close()


def test_a_body_that_never_ends_is_given_up(serve, sqlite_url, monkeypatch):
    monkeypatch.setattr("harness.reporting.frame.BODY_SECONDS", 0.3)
    api = serve(sqlite_url)
    assert raw(api, head(api, "Content-Length: 1000"), b"[") == 400


def test_a_request_id_is_adopted_or_made(api):
    answer = api.call("GET", "/healthz", headers={"X-Request-ID": "abc-1._Z"})
    assert answer.headers["X-Request-ID"] == "abc-1._Z"
    for wrong in ("", "a b", "x" * 65, "ü"):
        answer = api.call("GET", "/nowhere", headers={"X-Request-ID": wrong.encode()})
        assert re.fullmatch(r"[0-9a-f-]{36}", answer.headers["X-Request-ID"])
        assert answer.json() == {
            "type": "urn:tally:error:not_found",
            "title": "Not found",
            "status": 404,
            "detail": "the API has no such path",
        }


def test_a_fault_is_told_with_the_request_id_and_without_its_inside(api, monkeypatch):
    def fail(*_):
        raise RuntimeError("secret inside")

    monkeypatch.setattr("harness.reporting.reading.events", fail)
    answer = api.get("/api/v1/events")
    assert answer.status_code == 500
    assert answer.headers["X-Request-ID"] in answer.json()["detail"]
    assert "secret" not in json.dumps(answer.json())
