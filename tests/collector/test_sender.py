"""The sender: what ends a batch, what keeps it, and how long batches are."""

import json
import logging
import threading
import time

import pytest

from harness.collector.counters import Counters
from harness.collector.outbox import Outbox
from harness.collector.sender import BatchLimit, DeliveryError, Sender


@pytest.fixture
def outbox(tmp_path):
    built = Outbox(tmp_path / "outbox.db")
    yield built
    built.close()


@pytest.fixture
def counters():
    return Counters()


@pytest.fixture
def sender(outbox, counters, reporting):
    def build(**changes):
        return Sender(
            outbox,
            counters,
            changes.pop("url", reporting.url),
            "tly_i_test",
            **(
                {
                    "batch_max": 500,
                    "flush_interval": 0.01,
                    "stop": threading.Event(),
                    "checkpoint": lambda _: None,
                }
                | changes
            ),
        )

    return build


def fill(outbox, count, pad=""):
    start = outbox.depth
    outbox.insert(
        [
            json.dumps({"event_id": f"e{start + index}", "timestamp": "t", "pad": pad}).encode()
            for index in range(count)
        ]
    )


def test_batches_in_order(sender, outbox, counters, reporting):
    fill(outbox, 5)
    one = sender(batch_max=2)
    assert [one.post() for _ in range(4)] == [True, True, False, False]
    assert [key[0] for key in reporting.stored] == ["e0", "e1", "e2", "e3", "e4"]
    assert reporting.batches == [2, 2, 1]
    assert (outbox.depth, counters.snapshot().delivered) == (0, 5)
    assert reporting.requests[0] == ("/api/v1/events", "Bearer tly_i_test", 2)


@pytest.mark.parametrize(
    ("answer", "delivered"),
    [
        (b'{"accepted":3,"duplicates":0,"rejected":[]}', 3),
        (b'{"accepted":2,"duplicates":1,"rejected":[]}', 2),
        (b'{"accepted":0,"duplicates":3,"rejected":[]}', 0),
        (b'{"accepted":0,"duplicates":1,"rejected":[{},{}]}', 0),
        (b'{"accepted":1,"duplicates":1,"rejected":[{"index":2}],"more":1}', 1),
    ],
)
def test_a_200_for_every_event_ends_the_batch(
    sender, outbox, counters, reporting, answer, delivered
):
    fill(outbox, 3)
    reporting.script = lambda _: (200, answer)
    sender().post()
    seen = counters.snapshot()
    assert (outbox.depth, seen.delivered, seen.delivery_errors) == (0, delivered, 0)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b""),
        (200, b"not json"),
        (200, b"[]"),
        (200, b'{"accepted":"3"}'),
        (200, b'{"accepted":3'),
        (200, b"null"),
        (200, b"{}"),
        (200, b'{"status":"maintenance"}'),
        (200, b'{"accepted":3}'),
        (200, b'{"accepted":3,"duplicates":0}'),
        (200, b'{"accepted":3,"rejected":[]}'),
        (200, b'{"duplicates":3,"rejected":[]}'),
        (200, b'{"accepted":3,"duplicates":0,"rejected":null}'),
        (200, b'{"accepted":2,"duplicates":0,"rejected":[1]}'),
        (200, b'{"accepted":0,"duplicates":0,"rejected":[]}'),
        (200, b'{"accepted":1,"duplicates":1,"rejected":[]}'),
        (200, b'{"accepted":3,"duplicates":1,"rejected":[]}'),
        (200, b'{"accepted":3,"duplicates":0,"rejected":[{}]}'),
        (200, b'{"accepted":-5,"duplicates":8,"rejected":[]}'),
        (200, b'{"accepted":8,"duplicates":-5,"rejected":[]}'),
        (200, b'{"accepted":3.5,"duplicates":0,"rejected":[]}'),
        (200, b'{"accepted":' + b"9" * 5000 + b',"duplicates":0,"rejected":[]}'),
        (200, b'{"accepted":2,"duplicates":0,"rejected":[{"reason":"\xff"}]}'),
        pytest.param(200, b"[" * 5000 + b"]" * 5000, id="nested"),
        pytest.param(200, b'{"a":' * 5000 + b"1" + b"}" * 5000, id="nested objects"),
        (201, b"{}"),
        (204, b""),
        (301, b"{}"),
        (400, b"{}"),
        (401, b"{}"),
        (429, b"{}"),
        (500, b"{}"),
        (503, b"{}"),
    ],
)
def test_anything_else_keeps_it(sender, outbox, counters, reporting, status, body):
    fill(outbox, 3)
    reporting.script = lambda _: (status, body)
    with pytest.raises(DeliveryError):
        sender().post()
    assert (outbox.depth, counters.snapshot().delivered) == (3, 0)


@pytest.mark.parametrize(
    "answer", [b'{"status":"maintenance"}', b'{"a":' * 5000 + b"1" + b"}" * 5000]
)
def test_a_strange_200_is_counted_and_outlived(sender, outbox, counters, reporting, answer):
    fill(outbox, 3)
    waits = []
    one = sender()

    class Stop(threading.Event):
        def wait(self, timeout=None):
            waits.append(timeout)
            if len(waits) == 2:
                reporting.script = lambda _: None
            if len(waits) == 3:
                self.set()
            return self.is_set()

    one._stop = Stop()
    reporting.script = lambda _: (200, answer)
    one.run()
    seen = counters.snapshot()
    assert (outbox.depth, seen.delivered, seen.delivery_errors) == (0, 3, 2)
    assert [key[0] for key in reporting.stored] == ["e0", "e1", "e2"]
    assert 1 <= waits[0] < waits[1]


def test_a_nested_reason_is_logged_by_its_type(sender, outbox, reporting, caplog):
    fill(outbox, 1)
    nested = b"[" * 800 + b"]" * 800
    reporting.script = lambda _: (
        200,
        b'{"accepted":0,"duplicates":0,"rejected":[{"index":0,"reason":' + nested + b"}]}",
    )
    with caplog.at_level(logging.WARNING):
        sender().post()
    (record,) = [record for record in caplog.records if "refused" in record.message]
    assert record.fields == {"index": 0, "event_id": None, "reason": "list"}


def test_nobody_there(sender, outbox):
    fill(outbox, 3)
    with pytest.raises(DeliveryError, match="posting 3 events"):
        sender(url="http://127.0.0.1:1").post()
    assert outbox.depth == 3


def test_rejected_items_are_logged_and_gone(sender, outbox, reporting, caplog):
    fill(outbox, 2)
    item = {"index": 1, "event_id": "e1", "reason": "scope"}
    answer = {"accepted": 1, "duplicates": 0, "rejected": [item]}
    reporting.script = lambda _: (200, json.dumps(answer).encode())
    with caplog.at_level(logging.WARNING):
        sender().post()
    assert outbox.depth == 0
    (record,) = [record for record in caplog.records if "refused" in record.message]
    assert record.fields == item


def test_413_halves_and_then_grows_below_what_was_refused(sender, outbox, reporting):
    fill(outbox, 600)
    reporting.script = lambda items: (413, b"{}") if len(items) > 30 else None
    one = sender(batch_max=200)
    worker = threading.Thread(target=one.run)
    worker.start()
    while outbox.depth:
        time.sleep(0.01)
    one._stop.set()
    worker.join()
    lengths = [length for _, _, length in reporting.requests]
    # 25 passes; the length it grows to stays below the smallest one refused.
    assert lengths[:5] == [200, 100, 50, 25, 49]
    assert len(reporting.stored) == 600
    assert max(reporting.batches) <= 30
    refused = [length for length in lengths if length > 30]
    assert refused == sorted(refused, reverse=True)
    assert len(refused) == len(set(refused))


def test_a_single_event_too_large_is_dropped_and_counted(sender, outbox, counters, reporting):
    fill(outbox, 1, pad="x" * 65536)
    fill(outbox, 2)
    reporting.script = lambda items: (413, b"{}") if "e0" in str(items) else None
    one = sender()
    worker = threading.Thread(target=one.run)
    worker.start()
    while outbox.depth:
        time.sleep(0.01)
    one._stop.set()
    worker.join()
    assert [key[0] for key in reporting.stored] == ["e1", "e2"]
    assert counters.snapshot().delivery_errors == 2  # three at once, then the one


def test_a_single_event_that_is_not_too_large_is_kept(sender, outbox, reporting):
    fill(outbox, 1)
    reporting.script = lambda _: (413, b"{}")
    one = sender()
    for _ in range(3):
        with pytest.raises(DeliveryError):
            one.post()
    assert outbox.depth == 1
    reporting.script = lambda _: None
    one.post()
    fill(outbox, 3)
    one.post()
    one.post()
    assert outbox.depth == 0


def test_the_limit():
    limit = BatchLimit(500)
    limit.shrink(500)
    assert limit.current == 250
    limit.grow(250)
    assert limit.current == 499
    limit.shrink(1)
    assert (limit.current, limit.refused) == (1, 1)
    limit.grow(1)
    assert (limit.current, limit.refused) == (2, None)
    limit.shrink(3)
    assert limit.current == 1
    for _ in range(5):
        limit.grow(limit.current)
    assert limit.current == 2


def test_delays_double_and_start_over(sender, outbox, reporting, monkeypatch):
    fill(outbox, 1)
    delays = []
    one = sender()

    class Stop(threading.Event):
        def wait(self, timeout=None):
            delays.append(timeout)
            if len(delays) == 12:
                reporting.script = lambda _: None
            if len(delays) == 13:
                fill(outbox, 1)
                reporting.script = lambda _: (503, b"{}")
            if len(delays) == 15:
                self.set()
            return self.is_set()

    one._stop = Stop()
    monkeypatch.setattr("random.random", lambda: 0.25)
    reporting.script = lambda _: (500, b"{}")
    one.run()
    doubling = [1.25, 2.25, 4.25, 8.25, 16.25, 32.25, 64.25, 128.25, 256.25, 300.25, 300.25, 300.25]
    assert delays == [*doubling, 0.01, 1.25, 2.25]


def test_a_redirect_takes_the_token_nowhere(sender, outbox, reporting):
    fill(outbox, 1)
    reporting.script = lambda _: (302, b"")
    with pytest.raises(DeliveryError, match="answered 302"):
        sender().post()
    assert len(reporting.requests) == 1


def test_the_token_is_in_no_error_and_no_repr(sender, outbox, settings):
    fill(outbox, 1)
    with pytest.raises(DeliveryError) as error:
        sender(url="http://127.0.0.1:1").post()
    assert "tly_i" not in str(error.value)
    assert "tly_i" not in repr(settings())
