"""Ceilometer as a witness: its own event definitions read what we put on the bus.

Nobody here wrote these definitions; they are what a deployed telemetry service finds in the
notifications of real services.
"""

import json
import logging
import warnings

import pytest

from harness.calendar import Period
from harness.collector.mapping import MAPPINGS, map_notification
from harness.month import Kind, generate
from harness.month.render import body
from harness.oslo import parse

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from ceilometer import service
    from ceilometer.event import converter
    from ceilometer.pipeline.event import EventPipelineManager  # registers the options
    from stevedore import extension

pytestmark = pytest.mark.filterwarnings("ignore")

#: Its definition looks for ``floatingip.id`` and ``id``, and neutron's delete carries neither.
READS_NO_ID = "floatingip.delete.end"


@pytest.fixture(scope="module")
def witness():
    assert EventPipelineManager
    conf = service.prepare_service(argv=[], config_files=[])
    plugins = extension.ExtensionManager(namespace="ceilometer.event.trait_plugin")
    return converter.setup_events(conf, plugins)


@pytest.fixture(scope="module")
def sample():
    """Every billable transition of a month, and the first of each other type."""
    month = generate(1, Period(2026, 7), "os-sim")
    billable = [each for each in month.schedule if each.kind is Kind.BOOKED]
    firsts = {each.event_type: each for each in reversed(month.schedule)}
    kept = {id(each): each for each in [*billable, *firsts.values()]}
    return list(kept.values())


def as_delivered(transition):
    """Lay a body out the way an oslo.messaging listener hands it to its endpoints."""
    inner = json.loads(json.loads(body(transition))["oslo.message"])
    return {
        "ctxt": {
            name.removeprefix("_context_"): value
            for name, value in inner.items()
            if name.startswith("_context_")
        },
        "publisher_id": inner["publisher_id"],
        "event_type": inner["event_type"],
        "payload": inner["payload"],
        "metadata": {"message_id": inner["message_id"], "timestamp": inner["timestamp"]},
    }


def test_every_billable_type_has_a_definition_of_its_own(witness):
    for event_type in MAPPINGS:
        definition = next(d for d in witness.definitions if d.match_type(event_type))
        assert not definition.is_catchall, event_type
        assert "resource_id" in definition.traits, event_type


def test_ids_and_owners_are_where_the_witness_looks(witness, sample, caplog):
    seen = set()
    with caplog.at_level(logging.WARNING):
        for transition in sample:
            found = witness.to_event("info", as_delivered(transition))
            assert (found.message_id, found.event_type) == (
                transition.message_id,
                transition.event_type,
            )
            traits = {trait.name: trait.value for trait in found.traits}
            event = map_notification(parse(body(transition)), "os-sim")
            if event is None:
                continue
            seen.add(transition.event_type)
            assert found.generated.isoformat() + "Z" == event_time(event)
            owner = traits.get("tenant_id") or traits.get("project_id")
            assert owner == event.project_id, transition.event_type
            if transition.event_type != READS_NO_ID:
                assert traits["resource_id"] == event.resource_id, transition.event_type
            else:
                assert "resource_id" not in traits
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    # image.create is booked only with a size, which a generated month leaves to the upload.
    assert seen == set(MAPPINGS) - {"image.create"}


def event_time(event):
    return json.loads(event.encode())["timestamp"]


def test_sizes_are_where_the_witness_looks(witness, sample):
    compared = 0
    for transition in sample:
        event = map_notification(parse(body(transition)), "os-sim")
        if event is None or "size" not in event.payload:
            continue
        size = event.payload["size"]
        traits = {
            trait.name: trait.value
            for trait in witness.to_event("info", as_delivered(transition)).traits
        }
        if event.resource_type == "instance":
            assert traits["vcpus"] == size["vcpus"]
            assert traits["memory_mb"] == size["ram_gb"] * 1024
            assert traits["root_gb"] + traits["ephemeral_gb"] == size["disk_gb"]
            assert traits["instance_type"] == size["flavor"]
        elif event.resource_type == "volume":
            assert (traits["size"], traits["type"]) == (size["size_gb"], size["type"])
        elif event.resource_type == "image":
            assert traits["size"] == size["size_gb"] * 2**30
        else:
            continue
        compared += 1
    assert compared > 100
