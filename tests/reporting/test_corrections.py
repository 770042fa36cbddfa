"""What reconciliation decides about one resource, as a table."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.reporting import wire
from harness.reporting.instant import HOUR, MINUTE, SECOND
from harness.reporting.projection import Resource, Step, advance
from harness.reporting.reconciliation.corrections import (
    Correction,
    Deferral,
    Kind,
    of_absent,
    of_gone,
    of_live,
)
from harness.reporting.reconciliation.observation import Gone, Live, observe

AT = 1_000 * HOUR
SETTLE = 60 * SECOND
EARLIER = AT - HOUR

SEEN = Live("volume", "v", "p", "available", {"size_gb": 10, "type": "ssd"}, created_at=EARLIER)
ROW = Resource(
    cloud="os-sim",
    resource_type="volume",
    resource_id="v",
    platform="openstack",
    project_id="p",
    state="available",
    size='{"size_gb":10.0,"type":"ssd"}',
    created_at=EARLIER,
    deleted_at=None,
    first_event_at=EARLIER,
    last_event_type="volume.create.end",
    last_event_at=EARLIER,
    last_payload="{}",
)
DELETED = replace(ROW, deleted_at=EARLIER, state="deleted")


def live(seen, row):
    return of_live(seen, row, at=AT, settle=SETTLE)


@pytest.mark.parametrize(
    ("seen", "row", "expected"),
    [
        (SEEN, ROW, None),
        (replace(SEEN, size=None), ROW, None),
        (replace(SEEN, size={"size_gb": Decimal("10.00"), "type": "ssd"}), ROW, None),
        (SEEN, None, Correction(Kind.CREATE, EARLIER, "p", "available", SEEN.size)),
        (replace(SEEN, size=None), None, Correction(Kind.CREATE, EARLIER, "p", "available", {})),
        (
            replace(SEEN, created_at=None),
            None,
            Correction(Kind.CREATE, AT, "p", "available", SEEN.size),
        ),
        (
            replace(SEEN, created_at=AT + HOUR),
            None,
            Correction(Kind.CREATE, AT, "p", "available", SEEN.size),
        ),
        (SEEN, DELETED, Correction(Kind.CREATE, AT, "p", "available", SEEN.size)),
        (replace(SEEN, state="in-use"), ROW, Correction(Kind.UPDATE, AT, "p", "in-use", SEEN.size)),
        (
            replace(SEEN, project_id="q"),
            ROW,
            Correction(Kind.UPDATE, AT, "q", "available", SEEN.size),
        ),
        (
            replace(SEEN, size={"size_gb": 20, "type": "ssd"}),
            ROW,
            Correction(Kind.UPDATE, AT, "p", "available", {"size_gb": 20, "type": "ssd"}),
        ),
        (replace(SEEN, size=None, state="x"), ROW, Correction(Kind.UPDATE, AT, "p", "x", None)),
        (replace(SEEN, state="deleting", transitional=True), ROW, Deferral.TRANSITIONAL),
        (replace(SEEN, transitional=True), None, Deferral.TRANSITIONAL),
        (replace(SEEN, transitional=True), ROW, None),
        (replace(SEEN, state="x", changed_at=AT - 59 * SECOND), ROW, Deferral.RECENT),
        (
            replace(SEEN, state="x", changed_at=AT - SETTLE),
            ROW,
            Correction(Kind.UPDATE, AT, "p", "x", SEEN.size),
        ),
        (replace(SEEN, state="x"), replace(ROW, last_event_at=AT - SECOND), Deferral.RECENT),
        (replace(SEEN, state="x"), replace(ROW, last_event_at=AT + HOUR), Deferral.RECENT),
    ],
)
def test_a_resource_the_cloud_holds(seen, row, expected):
    assert live(seen, row) == expected


@pytest.mark.parametrize(
    ("row", "deleted_at", "expected"),
    [
        (None, EARLIER, None),
        (DELETED, EARLIER, None),
        (ROW, EARLIER + MINUTE, Correction(Kind.DELETE, EARLIER + MINUTE, "p")),
        (ROW, EARLIER - MINUTE, Correction(Kind.DELETE, EARLIER + 1, "p")),
        (ROW, AT - SECOND, Deferral.RECENT),
        (replace(ROW, last_event_at=AT - SECOND), EARLIER, Deferral.RECENT),
    ],
)
def test_a_resource_the_cloud_reports_as_deleted(row, deleted_at, expected):
    assert of_gone(Gone("volume", "v", deleted_at), row, at=AT, settle=SETTLE) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (ROW, Correction(Kind.DELETE, AT, "p")),
        (DELETED, None),
        (replace(ROW, last_event_at=AT - SECOND), Deferral.RECENT),
    ],
)
def test_a_resource_that_is_missing(row, expected):
    assert of_absent(row, at=AT, settle=SETTLE) == expected


def test_with_no_window_only_the_future_is_recent():
    seen = replace(SEEN, state="x", changed_at=AT)
    assert isinstance(of_live(seen, replace(ROW, last_event_at=AT), at=AT, settle=0), Correction)


@given(
    st.sampled_from([None, ROW, DELETED]),
    st.integers(AT - 3 * HOUR, AT + HOUR),
    st.sampled_from(["available", "in-use"]),
    st.sampled_from([None, {"size_gb": 1}, {"size_gb": 10, "type": "ssd"}]),
    st.sampled_from(["live", "gone", "absent"]),
    st.integers(AT - 3 * HOUR, AT + HOUR),
    st.sampled_from([0, SETTLE]),
)
@settings(max_examples=100, deadline=None)
def test_a_correction_wins_the_fold_and_is_not_booked_twice(
    row, newest, state, size, what, told, settle
):
    row = None if row is None else replace(row, last_event_at=newest)
    seen = replace(SEEN, state=state, size=size, created_at=told)

    def decide(row):
        if what == "live":
            return of_live(seen, row, at=AT, settle=settle)
        if what == "gone":
            return of_gone(Gone("volume", "v", told), row, at=AT, settle=settle)
        return None if row is None else of_absent(row, at=AT, settle=settle)

    correction = decide(row)
    if not isinstance(correction, Correction):
        return
    assert row is None or correction.timestamp >= row.last_event_at
    after = advance(
        row,
        Step(
            timestamp=correction.timestamp,
            received_at=AT,
            event_id="r",
            event_type=f"sync.{correction.kind.value}",
            platform="openstack",
            cloud="os-sim",
            resource_type="volume",
            resource_id="v",
            project_id=correction.project_id,
            source="reconciliation",
            payload="{}",
            state=correction.state or "",
            size="" if correction.size is None else wire.text(correction.size),
        ),
    )
    assert not isinstance(decide(after), Correction)


def test_what_cannot_be_used_makes_its_type_incomplete():
    listed = [
        SEEN,
        replace(SEEN, resource_id="w", state=""),
        replace(SEEN, resource_type="image", resource_id="i", project_id=""),
        replace(SEEN, resource_type="instance", resource_id=""),
        replace(SEEN, resource_type="floating_ip", resource_id="f"),
    ]
    types = ["volume", "image", "instance", "floating_ip", "loadbalancer"]
    seen = observe(listed, types=types, gone=[Gone("volume", "v", AT), Gone("volume", "x", AT)])
    assert set(seen.live) == {("volume", "v"), ("floating_ip", "f")}
    assert seen.complete == {"floating_ip", "loadbalancer"}
    assert set(seen.gone) == {("volume", "x")}
    assert len(seen.flaws) == 3
    nameless = observe([replace(SEEN, resource_type="")], types=types)
    assert nameless.complete == frozenset()
