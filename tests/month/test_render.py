"""From a transition to its line."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from harness.calendar import Period
from harness.month import Kind, Month, Transition, twins
from harness.month.catalog import exchange_of
from harness.month.render import body, line, notification

AT = Period.parse("2026-07").start

CREATED = Transition(
    instant=AT + 3723,
    event_type="compute.instance.create.end",
    exchange="nova",
    publisher="compute.compute-04",
    project_id="p" * 32,
    user_id="u" * 32,
    resource_id="never shown",
    workload="never shown",
    kind=Kind.BOOKED,
    payload={"instance_id": "i", "vcpus": 1, "bandwidth": {}, "user_id": "u"},
    message_id="m",
)


def message(transition: Transition) -> Any:
    return json.loads(json.loads(body(transition))["oslo.message"])


def test_a_line_in_full() -> None:
    created = replace(
        CREATED,
        instant=AT,
        event_type="identity.project.created",
        exchange="keystone",
        publisher="identity.keystone-01",
        payload={"resource_info": "p"},
    )
    assert line(created) == (
        rb'{"exchange":"keystone","routing_key":"notifications.info","body":{"oslo.message":"{'
        rb"\"_context_project_id\":\"pppppppppppppppppppppppppppppppp\","
        rb"\"_context_tenant_id\":\"pppppppppppppppppppppppppppppppp\","
        rb"\"_context_user_id\":\"uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\","
        rb"\"event_type\":\"identity.project.created\",\"message_id\":\"m\","
        rb"\"payload\":{\"resource_info\":\"p\"},\"priority\":\"INFO\","
        rb"\"publisher_id\":\"identity.keystone-01\","
        rb'\"timestamp\":\"2026-07-01 00:00:00.000000\"}","oslo.version":"2.0"}}'
        b"\n"
    )


def test_what_is_published_is_what_the_line_holds() -> None:
    published = notification(CREATED)
    assert (published.exchange, published.routing_key) == ("nova", "notifications.info")
    assert published.body == body(CREATED)
    assert published.body in line(CREATED)


def test_an_empty_publisher_is_null() -> None:
    assert message(replace(CREATED, publisher=""))["publisher_id"] is None


def test_resource_workload_and_class_stay_inside() -> None:
    assert b"never shown" not in line(CREATED)


def test_an_oversized_twin_passes_the_bound_and_leaves_its_original_alone() -> None:
    twin = twins.oversized(CREATED, "twin")
    assert len(body(twin)) > 1 << 20
    payload = message(twin)["payload"]
    assert payload.pop("fault_padding") == "x" * (1 << 20)
    assert payload == CREATED.payload
    assert "fault_padding" not in CREATED.payload


def test_a_truncated_twin_carries_half_its_message() -> None:
    twin = twins.truncated(CREATED, "twin")
    whole = json.loads(body(replace(CREATED, message_id="twin")))["oslo.message"]
    cut = json.loads(body(twin))["oslo.message"]
    assert cut == whole[: len(whole) // 2]
    assert cut.startswith('{"_context_project_id"')


@pytest.mark.parametrize("padding", range(4))
def test_a_cut_never_breaks_the_envelope(padding: int) -> None:
    payload = {"a": "x" * padding, "name": "zürich\u20ac" * 80}
    whole = json.loads(body(replace(CREATED, payload=payload)))["oslo.message"].encode()
    half = whole[: len(whole) // 2]
    cut = json.loads(body(twins.truncated(replace(CREATED, payload=payload), "m")))["oslo.message"]
    kept = half.decode(errors="ignore")
    stray = len(half) - len(kept.encode())
    assert cut == kept + "\ufffd" * stray


@pytest.mark.parametrize(
    ("action", "renamed"),
    [
        ("create", "create"),
        ("delete", "delete"),
        ("finish_resize", "resize_finish"),
        ("resize.confirm", "resize_confirm"),
        ("resize.revert", "resize_revert"),
        ("shelve_offload", "shelve_offload"),
        ("unshelve", "unshelve"),
        ("power_off", "power_off"),
        ("power_on", "power_on"),
    ],
)
def test_a_versioned_twin_speaks_the_other_format(action: str, renamed: str) -> None:
    twin = twins.versioned(replace(CREATED, event_type=f"compute.instance.{action}.end"), "twin")
    inner = message(twin)
    assert inner["event_type"] == f"instance.{renamed}.end"
    assert inner["publisher_id"] == "nova-compute:compute-04"
    assert inner["message_id"] == "twin"
    assert inner["payload"] == {
        "nova_object.data": {"bandwidth": {}, "user_id": "u", "uuid": "i", "vcpus": 1},
        "nova_object.name": "InstanceActionPayload",
        "nova_object.namespace": "nova",
        "nova_object.version": "1.8",
    }
    assert (twin.exchange, twin.instant, twin.kind) == ("nova", CREATED.instant, Kind.TWIN)
    assert CREATED.payload["instance_id"] == "i"


def test_every_type_has_an_exchange(plain: Month) -> None:
    types = {one.event_type for one in plain.schedule}
    assert len(types) == 87
    assert all(exchange_of(event_type) for event_type in types)
    with pytest.raises(LookupError, match=r"instance\.create\.end"):
        exchange_of("instance.create.end")
