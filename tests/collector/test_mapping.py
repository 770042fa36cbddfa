"""The mapping: golden notifications, and every rule of the table."""

import hashlib
import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.collector.event import deterministic_id
from harness.collector.mapping import MAPPINGS, map_notification
from harness.collector.rules import number
from harness.collector.writer import plain
from harness.oslo import Literal, parse

GOLDEN = Path(__file__).parent / "golden"
STAMP = "2026-07-01 02:20:00.000000"


def notify(event_type, payload="{}", **inner):
    text = payload if isinstance(payload, str) else json.dumps(payload)
    members = {"event_type": event_type, "message_id": "m-1", "timestamp": STAMP} | inner
    message = json.dumps(members)[:-1] + f', "payload": {text}}}'
    return parse(json.dumps({"oslo.message": message}).encode())


def booked(event_type, payload="{}", **inner):
    event = map_notification(notify(event_type, payload, **inner), "os-dev")
    assert event is not None
    return json.loads(event.encode(), parse_float=str, parse_int=str)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("events/*.json")), ids=lambda p: p.stem)
def test_golden_events(path):
    event = map_notification(parse((GOLDEN / "notifications" / path.name).read_bytes()), "os-dev")
    expected = json.loads(path.read_text(), parse_float=str, parse_int=str)
    read = json.loads(event.encode(), parse_float=str, parse_int=str)
    assert read == expected
    assert list(read) == list(expected)


def test_every_golden_notification_has_its_event_but_two():
    notifications = {path.name for path in GOLDEN.glob("notifications/*.json")}
    events = {path.name for path in GOLDEN.glob("events/*.json")}
    assert len(notifications) == 13
    assert notifications - events == {
        "image-create-without-size.json",
        "octavia-loadbalancer-update-end.json",
    }


def test_golden_image_without_size_is_skipped():
    body = (GOLDEN / "notifications" / "image-create-without-size.json").read_bytes()
    assert map_notification(parse(body), "os-dev") is None


def test_golden_load_balancer_update_states_no_size():
    body = (GOLDEN / "notifications" / "octavia-loadbalancer-update-end.json").read_bytes()
    event = map_notification(parse(body), "os-dev")
    assert event.payload == {
        "state": "active",
        "provider": {"oslo_event_type": "octavia.loadbalancer.update.end"},
    }


def test_the_table():
    rows = {
        oslo: (
            entry.event_type,
            entry.resource_type,
            entry.state is not None,
            entry.size is not None,
        )
        for oslo, entry in MAPPINGS.items()
    }
    same = {oslo for oslo, row in rows.items() if row[0] == oslo}
    assert len(rows) == 22
    assert {oslo: rows[oslo][0] for oslo in rows.keys() - same} == {
        "compute.instance.finish_resize.end": "compute.instance.resize.end",
        "compute.instance.shelve_offload.end": "compute.instance.shelve",
        "compute.instance.unshelve.end": "compute.instance.unshelve",
        "compute.instance.power_off.end": "compute.instance.power_off",
        "compute.instance.power_on.end": "compute.instance.power_on",
        "image.upload": "image.create",
    }
    assert {oslo for oslo, row in rows.items() if not row[2]} == {
        oslo for oslo in rows if "delete" in oslo
    }
    assert {oslo for oslo, row in rows.items() if row[2] and not row[3]} == {
        "compute.instance.shelve_offload.end",
        "compute.instance.unshelve.end",
        "compute.instance.power_off.end",
        "compute.instance.power_on.end",
        "octavia.loadbalancer.update.end",
    }
    assert {oslo for oslo, entry in MAPPINGS.items() if entry.skipped} == {"image.create"}


@pytest.mark.parametrize(
    "event_type",
    ["compute.instance.resize.end", "compute.instance.update", "instance.create.end", "", "nope"],
)
def test_other_types_are_skipped(event_type):
    assert map_notification(notify(event_type), "os-dev") is None


# Identity


def test_the_message_id_is_the_event_id():
    assert booked("volume.delete.end")["event_id"] == "m-1"


@pytest.mark.parametrize("message_id", ["", None, 7])
def test_without_a_message_id_the_id_is_derived(message_id):
    event = booked("image.upload", {"id": "i-1"}, message_id=message_id, timestamp=STAMP[:-5] + "5")
    facts = "os-dev:i-1:image.create:2026-07-01T02:20:00.05Z"
    assert event["event_id"] == "openstack-" + hashlib.sha256(facts.encode()).hexdigest()


def test_a_derived_id_stands_odd_characters():
    assert deterministic_id("openstack", "c", "\ud800", "t", 0).startswith("openstack-")


@pytest.mark.parametrize(
    ("payload", "context", "owner"),
    [
        ({"tenant_id": "payload"}, {"_context_project_id": "caller"}, "payload"),
        ({"tenant_id": ""}, {"_context_project_id": "caller"}, "caller"),
        ({"tenant_id": 5}, {"_context_project_id": "caller"}, "caller"),
        ({}, {"_context_project_id": "caller", "_context_tenant_id": "tenant"}, "caller"),
        ({}, {"_context_project_id": "", "_context_tenant_id": "tenant"}, "tenant"),
        ({}, {"_context_tenant_id": "tenant"}, "tenant"),
        ({}, {}, ""),
    ],
)
def test_the_owner(payload, context, owner):
    assert booked("volume.delete.end", payload, **context)["project_id"] == owner


def test_a_floating_ip_delete_is_owned_by_the_context():
    payload = {"floatingip_id": "f", "tenant_id": "x", "floatingip": {"tenant_id": "x"}}
    event = booked("floatingip.delete.end", payload, _context_project_id="caller")
    assert (event["resource_id"], event["project_id"]) == ("f", "caller")


@pytest.mark.parametrize(
    ("payload", "found"),
    [
        ({"loadbalancer_id": "a", "id": "b"}, "a"),
        ({"loadbalancer_id": "", "id": "b"}, "b"),
        ({"loadbalancer_id": None, "id": "b"}, "b"),
        ({"id": "b"}, "b"),
        ({}, ""),
    ],
)
@pytest.mark.parametrize("action", ["create", "update", "delete"])
def test_the_id_of_a_load_balancer(action, payload, found):
    assert booked(f"octavia.loadbalancer.{action}.end", payload)["resource_id"] == found


@pytest.mark.parametrize(
    "payload", [{"floatingip": None}, {"floatingip": []}, {"floatingip": "x"}, []]
)
def test_a_path_that_leads_nowhere(payload):
    event = booked("floatingip.create.end", payload)
    assert (event["resource_id"], event["payload"]["size"]) == ("", {"ip_version": "4"})


# States


@pytest.mark.parametrize(
    ("reported", "state"),
    [
        ("stopped", "shutoff"),
        ("shelved_offloaded", "shelved"),
        ("resized", "active"),
        ("active", "active"),
        ("paused", "paused"),
        ("suspended", "suspended"),
        ("error", "error"),
        ("rescued", "rescued"),
        ("", ""),
        (None, ""),
        (5, ""),
        (["active"], ""),
    ],
)
def test_vm_state(reported, state):
    event = booked("compute.instance.create.end", {"state": reported})
    assert event["payload"]["state"] == state


@pytest.mark.parametrize(
    ("reported", "state"),
    [("in-use", "in-use"), ("available", "available"), ("", "available"), (None, "available")],
)
@pytest.mark.parametrize(
    "event_type", ["volume.resize.end", "volume.retype", "volume.transfer.accept.end"]
)
def test_volume_status(event_type, reported, state):
    assert booked(event_type, {"status": reported})["payload"]["state"] == state


def test_a_new_volume_is_available_whatever_it_says():
    assert booked("volume.create.end", {"status": "creating"})["payload"]["state"] == "available"


# Sizes


def test_instance_size():
    payload = {"vcpus": 2, "memory_mb": 512, "root_gb": 20, "ephemeral_gb": 5, "instance_type": "f"}
    assert booked("compute.instance.create.end", payload)["payload"]["size"] == {
        "vcpus": "2",
        "ram_gb": "0.5",
        "disk_gb": "25",
        "flavor": "f",
    }


@pytest.mark.parametrize(
    ("payload", "disk"),
    [
        ('{"root_gb": 20}', "20"),
        ('{"ephemeral_gb": 0}', "0"),
        ('{"root_gb": 20, "ephemeral_gb": null}', "20"),
        ('{"root_gb": 20, "ephemeral_gb": "5"}', "20"),
        ('{"root_gb": 1e31, "ephemeral_gb": 5}', "5"),
        ('{"root_gb": 0.1, "ephemeral_gb": 0.2}', "0.3"),
        ('{"root_gb": 1e30, "ephemeral_gb": 1e-30}', "1" + "0" * 30 + "." + "0" * 29 + "1"),
        ("{}", None),
        ('{"root_gb": true}', None),
        ('{"root_gb": "20", "ephemeral_gb": []}', None),
    ],
)
def test_disk_of_an_instance(payload, disk):
    size = booked("compute.instance.create.end", payload)["payload"]["size"]
    assert size.get("disk_gb") == disk


def test_a_size_that_knows_nothing_is_still_a_size():
    assert booked("compute.instance.create.end")["payload"]["size"] == {}
    assert booked("volume.create.end")["payload"]["size"] == {}
    assert booked("image.upload")["payload"]["size"] == {}


@pytest.mark.parametrize(
    ("size", "gigabytes"),
    [
        ("3758096384", "3.5"),
        ("1073741824", "1"),
        ("0", "0"),
        ("1", "0.0000000009313225746154785156"),
        ("3", "0.0000000027939677238464355469"),
        ("-1073741824", "-1"),
        ("1e-30", "0"),
    ],
)
def test_image_size(size, gigabytes):
    event = booked("image.upload", f'{{"size": {size}}}')
    assert event["payload"]["size"] == {"size_gb": gigabytes}


@pytest.mark.parametrize(
    "size", ["null", "0", "-1", '"5"', "true", "[]", "0.0", "1e31", "9" * 41, "-0"]
)
def test_an_image_without_a_usable_size_is_skipped(size):
    assert map_notification(notify("image.create", f'{{"size": {size}}}'), "c") is None
    assert map_notification(notify("image.create"), "c") is None


@pytest.mark.parametrize(
    ("address", "version"),
    [
        ("203.0.113.4", "4"),
        ("2001:db8::1", "6"),
        ("::ffff:203.0.113.4", "6"),
        ("nonsense", "4"),
        ("", "4"),
        (None, "4"),
        (3405803780, "4"),
    ],
)
def test_floating_ip_size(address, version):
    event = booked("floatingip.create.end", {"floatingip": {"floating_ip_address": address}})
    assert event["payload"]["size"] == {"ip_version": version}


@pytest.mark.parametrize(
    ("payload", "size"),
    [
        ({}, {"listeners": "0", "pools": "0"}),
        ({"listeners": None, "pools": [1, 2]}, {"listeners": "0", "pools": "2"}),
        ({"listeners": 3, "pools": {}}, {}),
    ],
)
def test_load_balancer_size(payload, size):
    assert booked("octavia.loadbalancer.create.end", payload)["payload"]["size"] == size


# Numbers

NUMBERS = st.from_regex(
    r"-?(0|[1-9][0-9]{0,44})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True
)


def value_of(text):
    return notify("volume.create.end", f'{{"size": {text}}}').payload["size"]


@settings(max_examples=100, deadline=None)
@given(NUMBERS)
def test_numbers_within_bounds_are_exact_and_others_absent(text):
    spelt = "0" if text == "-0" else text
    exponent = text.lower().partition("e")[2]
    size = booked("volume.create.end", f'{{"size": {text}}}')["payload"]["size"]
    if len(spelt) > 40 or abs(int(exponent or "0")) > 30:
        assert size == {}
    else:
        assert Decimal(size["size_gb"]) == Decimal(text)
        assert "e" not in size["size_gb"].lower()
        assert size["size_gb"] == plain(Decimal(size["size_gb"]))


@settings(max_examples=100, deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, places=6))
def test_the_shortest_form(value):
    text = plain(value)
    assert Decimal(text) == value
    assert not text.startswith("-0") or text.startswith("-0.")
    assert "." not in text or text[-1] not in "0."


@pytest.mark.parametrize(
    ("text", "usable"),
    [
        ("9" * 40, True),
        ("9" * 41, False),
        ("-" + "9" * 39, True),
        ("-" + "9" * 40, False),
        ("1e30", True),
        ("1E+30", True),
        ("1e31", False),
        ("1e-30", True),
        ("1e-31", False),
        ("0." + "0" * 37 + "1", True),
        ("0." + "0" * 38 + "1", False),
        ("9" * 5000, False),
        ("1e999999999", False),
    ],
)
def test_bounds_of_a_number(text, usable):
    assert (number(value_of(text)) is not None) is usable


@pytest.mark.parametrize("value", [None, True, "5", [], {}, 5.0])
def test_what_is_no_number(value):
    assert number(value) is None
    assert number(Literal("5.0")) == 5


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**12))
def test_memory_is_divided_exactly(memory):
    size = booked("compute.instance.create.end", {"memory_mb": memory})["payload"]["size"]
    assert Decimal(size["ram_gb"]) * 1024 == memory


# Bytes


def test_layout_of_an_event():
    payload = {
        "volume_id": "v<&>",
        "size": 10,
        "volume_type": "\u2028ä\x7f\x01\ud800\x00",
        "tenant_id": "p",
    }
    event = map_notification(notify("volume.create.end", payload), 'os-"\\ü')
    assert event.encode().decode() == (
        '{"event_id":"m-1","timestamp":"2026-07-01T02:20:00Z","event_type":"volume.create.end",'
        '"platform":"openstack","cloud":"os-\\"\\\\ü","resource_type":"volume",'
        '"resource_id":"v\\u003c\\u0026\\u003e","project_id":"p","source":"collector",'
        '"payload":{"provider":{"oslo_event_type":"volume.create.end"},'
        '"size":{"size_gb":10,"type":"\\u2028ä\x7f\\u0001\\ud800\\u0000"},"state":"available"}}'
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "floatingip",
                    "id",
                    "tenant_id",
                    "size",
                    "vcpus",
                    "state",
                    "listeners",
                    "memory_mb",
                ]
            ),
            children,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(MAPPINGS)), json_values)
def test_the_mapping_never_fails(event_type, payload):
    event = map_notification(
        notify(event_type, payload=json.dumps(payload).replace("Infinity", "1")), "c"
    )
    if event is not None:
        members = json.loads(event.encode())
        assert list(members) == [
            "event_id", "timestamp", "event_type", "platform", "cloud",
            "resource_type", "resource_id", "project_id", "source", "payload",
        ]  # fmt: skip
        assert list(members["payload"]) == sorted(members["payload"])
