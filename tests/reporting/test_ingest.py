"""Batches: stored once, refused item by item, whole or not at all."""

import json

import msgspec
import pytest
import sqlalchemy

from harness.reporting.schema import AUDIT_LOG, CURRENT_RESOURCES, EVENTS, REJECTED_EVENTS


def stored(api, table):
    with api.service.store.read() as connection:
        return list(connection.execute(sqlalchemy.select(table)))


def test_a_month_is_stored_once(either_api, month):
    api = either_api
    for _ in range(2):
        answers = [
            api.ingest(b"[" + b",".join(month[at : at + 500]) + b"]").json()
            for at in range(0, len(month), 500)
        ]
    assert [each["duplicates"] for each in answers] == [500, 500, 500, 312]
    assert all(each["accepted"] == 0 and each["rejected"] == [] for each in answers)
    rows = stored(api, EVENTS)
    assert len(rows) == 1812
    assert {row.source for row in rows} == {"collector"}
    counted = api.get("/api/v1/stats/resources", group_by="cloud,resource_type", status="all")
    assert {row["resource_type"]: row["count"] for row in counted.json()["items"]} == {
        "floating_ip": 17,
        "image": 9,
        "instance": 671,
        "loadbalancer": 5,
        "volume": 169,
    }


def test_events_come_back_as_they_went_in(either_api, month):
    api = either_api
    api.ingest(b"[" + b",".join(month[:300]) + b"]")
    items, cursor = [], None
    while True:
        extra = {} if cursor is None else {"cursor": cursor}
        page = api.get("/api/v1/events", limit=70, **extra)
        items += page.json()["items"]
        cursor = page.json()["next_cursor"]
        if cursor is None:
            break
    sent = [json.loads(line) for line in month[:300]]
    sent.sort(key=lambda each: (each["timestamp"], each["event_id"]))
    for each in items:
        assert each.pop("received_at")
    assert items == sent


def test_one_event_alone_and_an_empty_batch(api, event):
    assert api.ingest(event()).json() == {"accepted": 1, "duplicates": 0, "rejected": []}
    audited = len(stored(api, AUDIT_LOG))
    assert api.ingest([]).json() == {"accepted": 0, "duplicates": 0, "rejected": []}
    assert len(stored(api, AUDIT_LOG)) == audited


def test_a_repetition_within_a_batch_is_a_duplicate(either_api, event):
    moved = event(timestamp="2026-07-01T00:00:00.000001Z")
    body = [event(), event(payload={"state": "x", "size": {"size_gb": 1, "type": "y"}}), moved]
    assert either_api.ingest(body).json() == {"accepted": 2, "duplicates": 1, "rejected": []}
    assert [json.loads(row.payload)["state"] for row in stored(either_api, EVENTS)] == [
        "available",
        "available",
    ]


def test_a_batch_in_which_everything_is_refused_is_still_200(either_api, event):
    api = either_api
    body = [
        event(cloud="os-other"),
        event(event_id=""),
        event(payload={"state": "available", "size": {"size_gb": 0, "type": "ssd"}}),
        7,
        event(resource_id="a\x00b"),
    ]
    answer = api.ingest(body)
    assert answer.status_code == 200
    refused = answer.json()["rejected"]
    assert [each["index"] for each in refused] == [0, 1, 2, 3, 4]
    assert refused[0]["reason"] == "scope"
    assert refused[1]["reason"].startswith("schema: event_id: must be 1..256 characters, got 0")
    assert refused[2]["reason"].startswith("size_schema: $.size_gb: ")
    assert [each["event_id"] for each in refused] == ["e-1", "", "e-1", "", "e-1"]
    assert "NUL" in refused[4]["reason"]
    letters = api.get("/api/v1/rejected-events").json()["items"]
    assert sorted(each["reason"] for each in letters) == sorted(
        each["reason"] for each in refused[1:]
    )
    assert json.loads(msgspec.json.encode(body[2])) in [each["raw"] for each in letters]
    (violation,) = [row for row in stored(api, AUDIT_LOG) if row.action == "events.scope_violation"]
    assert json.loads(violation.detail) == {
        "credential_platform": "openstack",
        "credential_cloud": "os-sim",
        "event_platform": "openstack",
        "event_cloud": "os-other",
    }
    (audited,) = [row for row in stored(api, AUDIT_LOG) if row.action == "events.ingest"]
    assert json.loads(audited.detail) == {"accepted": 0, "duplicates": 0, "rejected": 5}
    assert stored(api, EVENTS) == stored(api, CURRENT_RESOURCES) == []


def test_a_large_dead_letter_keeps_its_size_only(api, event):
    item = event(event_id="", filling="x" * 70_000)
    raw = msgspec.json.encode(item)
    api.ingest(b"[" + raw + b"]")
    (row,) = stored(api, REJECTED_EVENTS)
    assert json.loads(row.raw) == {"not_stored": {"bytes": len(raw)}}


def test_a_lone_surrogate_is_a_dead_letter_and_keeps_nothing_else_from_being_stored(api, event):
    bad = json.dumps(event(event_id="bad \ud800 one")).encode()
    good = json.dumps(event(event_id="good", filling=[1.5, {"a": "]"}])).encode()
    answer = api.ingest(b" [ " + bad + b" , " + good + b"\n]").json()
    assert answer["accepted"] == 1
    assert answer["rejected"][0]["index"] == 0
    assert answer["rejected"][0]["reason"].startswith("schema: ")
    assert api.get("/api/v1/rejected-events").json()["items"][0]["raw"]["event_id"] == (
        "bad \ud800 one"
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b'"text"',
        b"17",
        b"[1 2]",
        b"[}",
        b'{"event_id": "x"',
        b"[NaN]",
        b'["\xff"]',
        b"[" * 200_000 + b"]" * 200_000,
        b"[1,]",
        b'[1]{"a":2}',
        "[\U0001f4a9".encode("utf-16"),
    ],
)
def test_a_body_that_is_no_json_array_or_object_is_a_bad_request(api, body):
    answer = api.ingest(body)
    assert answer.status_code == 400
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["errors"][0]["loc"] == "body"


def test_a_batch_of_more_than_a_thousand_is_too_large(api):
    answer = api.ingest(b"[" + b",".join([b"1"] * 1001) + b"]")
    assert answer.status_code == 413
    assert answer.json()["detail"] == "a batch carries at most 1000 events"
    assert len(api.ingest(b"[" + b",".join([b"1"] * 1000) + b"]").json()["rejected"]) == 1000


def test_numbers_keep_their_digits(either_api, event):
    payload = b'{"state":"s","size":{"size_gb":1.50,"type":"t","big":12345678901234567890123456789.10},"x":1E+2}'
    item = msgspec.json.encode(event(payload=msgspec.Raw(payload)))
    either_api.ingest(item)
    assert b'"payload":' + payload in either_api.get("/api/v1/events").content
    assert b'"size_gb":1.50' in either_api.get("/api/v1/resources").content
    lifecycle = either_api.get("/api/v1/resources/os-sim/volume/v-1/lifecycle").content
    assert b'"big":12345678901234567890123456789.10' in lifecycle


def test_the_member_of_the_server_is_not_taken_from_outside(api, event):
    payload = event()["payload"] | {"provider": {"size_as_reported": {"type": "x"}, "kept": 1}}
    api.ingest(event(payload=payload))
    assert api.get("/api/v1/events").json()["items"][0]["payload"]["provider"] == {"kept": 1}


@pytest.mark.parametrize(
    "size", ['{"x":' + "9" * 5000 + "}", '{"x":' + "[" * 900 + "]" * 900 + "}", '{"x":1e400}']
)
@pytest.mark.parametrize("resource_type", ["zzz", "volume"])
def test_a_size_that_nobody_can_bill_later_is_refused_now(api, event, resource_type, size):
    whole = event(event_id="good")
    odd = json.dumps(
        event(event_id="odd", resource_type=resource_type, payload={"state": "a", "size": 0})
    )
    body = f"[{json.dumps(whole)},{odd.replace(chr(34) + 'size' + chr(34) + ': 0', chr(34) + 'size' + chr(34) + ':' + size)}]"
    answer = api.ingest(body.encode()).json()
    assert answer["accepted"] == 1
    assert [each["event_id"] for each in answer["rejected"]] == ["odd"]
