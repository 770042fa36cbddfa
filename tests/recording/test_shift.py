import json
import re

import pytest

from harness.calendar import Period
from harness.oslo import Notification, parse
from harness.recording.errors import RecordingError
from harness.recording.shift import FreshIds, Shift

JULY, AUGUST, JUNE, FEBRUARY = Period(2026, 7), Period(2026, 8), Period(2026, 6), Period(2027, 2)


def inner(notification):
    return json.loads(json.loads(notification.body)["oslo.message"])


def moved(shift, *notifications):
    return list(shift(notifications))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("2026-07-01 00:00:00", "2026-08-01 00:00:00"),
        ("2026-07-31T23:59:59.000001", "2026-08-31T23:59:59.000001"),
        ("2026-07-05T10:00:00Z", "2026-08-05T10:00:00Z"),
        ("2026-07-05T10:00:00.5+02:00", "2026-08-05T10:00:00.5+02:00"),
        ("2026-07-05 10:00:00-0530", "2026-08-05 10:00:00-0530"),
        ("2026-05-31 10:00:00", "2026-07-01 10:00:00"),
        ("created 2026-07-05 10:00:00", "created 2026-07-05 10:00:00"),
        ("2026-07-05", "2026-07-05"),
        ("2026-02-30 10:00:00", "2026-02-30 10:00:00"),
        ('{"at": "2026-07-05 10:00:00"}', '{"at": "2026-08-05 10:00:00"}'),
        ("", ""),
    ],
)
def test_every_instant_moves_in_its_own_spelling(message, before, after):
    given = message(1, instant="2026-07-02 03:04:05.060708", deep=[{"a": before}], n=1.50)
    (result,) = moved(Shift(JULY, AUGUST), given)
    assert inner(result)["timestamp"] == "2026-08-02 03:04:05.060708"
    assert inner(result)["payload"] == {"deep": [{"a": after}], "n": 1.50}
    assert len(result.body) == len(given.body)


def test_the_serial_of_a_zone_moves(message):
    given = message(1, "dns.zone.create", serial=1782864002, other=1782864002)
    (result,) = moved(Shift(JULY, AUGUST), given)
    assert inner(result)["payload"] == {"serial": 1782864002 + 31 * 86400, "other": 1782864002}


def test_what_falls_behind_a_shorter_month_is_refused_or_dropped(message):
    given = [
        message(1, instant="2026-07-30 23:59:59"),
        message(2, instant="2026-07-31 00:00:00"),
        message(3, instant="2026-08-01 00:00:00"),
        Notification("x", "k", b"no envelope"),
    ]
    with pytest.raises(RecordingError, match=r"2026-07-31T00:00:00Z.*2026-06.*--drop-outside"):
        moved(Shift(JULY, JUNE), *given)
    shift = Shift(JULY, JUNE, drop_outside=True)
    kept = moved(shift, *given)
    assert [n.body for n in kept[2:]] == [b"no envelope"]
    assert [inner(n)["timestamp"] for n in kept[:2]] == [
        "2026-06-30 23:59:59",
        "2026-07-02 00:00:00",
    ]
    assert shift.dropped == 1


def test_a_month_shifts_there_and_back(stream):
    there = list(Shift(JULY, AUGUST)(stream))
    assert list(Shift(AUGUST, JULY)(there)) == stream
    left = re.compile(rb"2026-0[67]-[0-9]{2}[ T]")
    assert not [n for n in there if left.search(n.body)]
    for before, after in zip(stream[::97], there[::97], strict=True):
        assert parse(after.body).timestamp - parse(before.body).timestamp == 31 * 86400 * 10**9


def test_a_year_that_cannot_be_written_is_refused(message):
    with pytest.raises(RecordingError, match="cannot be moved"):
        Shift(JULY, AUGUST).body(message(1, at="9999-12-31 00:00:00").body)


def test_fresh_ids_keep_copies_copies(message):
    given = [message(1), message(2), message(1)]
    first = list(FreshIds(b"a")(given))
    ids = [parse(n.body).message_id for n in first]
    assert ids[0] == ids[2] != ids[1]
    assert set(ids).isdisjoint(parse(n.body).message_id for n in given)
    assert list(FreshIds(b"a")(given)) == first
    assert list(FreshIds(b"b")(given)) != first
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", ids[0]
    )


def test_the_id_oslo_adds_is_fresh_too():
    text = json.dumps({"message_id": "m", "_unique_id": "0123456789abcdef0123456789abcdef"})
    body = json.dumps({"oslo.message": text, "oslo.version": "2.0"}).encode()
    (fresh,) = FreshIds(b"a")([Notification("x", "k", body)])
    assert re.fullmatch(r"[0-9a-f]{32}", inner(fresh)["_unique_id"])
    assert inner(fresh)["_unique_id"] != "0123456789abcdef0123456789abcdef"
