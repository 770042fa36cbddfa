from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import requests

from harness.broker import PublishError
from harness.oslo import Notification
from harness.stack import Counters, MonthStack, Options, StackError, attach, open_stack
from harness.stack.embedded import EmbeddedStack


@pytest.fixture
def stack(temporary: Path) -> Iterator[EmbeddedStack]:
    stack = EmbeddedStack(Options())
    yield stack
    stack.close()


def test_messages_become_events_and_a_bill_and_nothing_is_left(
    stack: EmbeddedStack,
    temporary: Path,
    tmp_path: Path,
    beginning: list[Notification],
    carry: Callable[[MonthStack, list[Notification]], Counters],
) -> None:
    threads = threading.active_count()
    with stack.month("july", cloud="os-sim") as month:
        counters = carry(month, beginning)
        assert counters.handled == len(beginning)
        assert counters.delivered == sum(counters.consumed.values()) > 10
        assert month.reporting is not None
        events = requests.get(
            f"{month.reporting.url}/api/v1/events",
            headers={"Authorization": f"Bearer {month.reporting.api_token}"},
            timeout=10,
        ).json()
        assert len(events["items"] if "items" in events else events["events"]) > 10
        out = month.bill("2026-07", out=tmp_path / "export")
        assert out == tmp_path / "export"
        assert (out / "rated.csv").read_text().count("\n") > 10
    stack.close()
    assert list(temporary.iterdir()) == []
    assert threading.active_count() == threads


def test_months_do_not_see_each_other(
    stack: EmbeddedStack,
    beginning: list[Notification],
    carry: Callable[[MonthStack, list[Notification]], Counters],
) -> None:
    with stack.month("one", cloud="os-sim") as one, stack.month("two", cloud="os-sim") as two:
        assert carry(one, beginning).handled == len(beginning)
        two.collector.start()
        counters = two.collector.counters()
        assert counters is not None
        assert counters.handled == 0


def test_counters_are_summed_over_the_collectors_lives(
    stack: EmbeddedStack,
    beginning: list[Notification],
    carry: Callable[[MonthStack, list[Notification]], Counters],
) -> None:
    with stack.month("july", cloud="os-sim") as month:
        first = carry(month, beginning[:200])
        month.collector.stop()
        assert month.collector.counters() == first
        assert carry(month, beginning[200:]).handled == len(beginning)
        with pytest.raises(StackError, match="runs already"):
            month.collector.start()
        with pytest.raises(StackError, match="use the stack local or containers"):
            month.collector.kill()


def test_another_process_opens_its_own(stack: EmbeddedStack) -> None:
    other = attach(stack.handover())
    assert other.kind == "embedded"
    other.close()
    with stack.month("still there", cloud="os-sim"):
        pass


def test_it_is_what_auto_falls_back_to(monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{temporary}/nothing.sock")
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr("harness.stack.rabbitmq._DEBIAN", Path("/nonexistent"))
    monkeypatch.delenv("TALLY_REQUIRE_STACKS", raising=False)
    stack = open_stack("auto")
    assert stack.kind == "embedded"
    assert "no containers: no container engine answers at" in stack.reason
    assert "no local: rabbitmq-server is neither on PATH" in stack.reason
    stack.close()
    assert list(temporary.iterdir()) == []


def test_what_no_collector_is_bound_to_reaches_nobody(
    stack: EmbeddedStack, beginning: list[Notification]
) -> None:
    with stack.month("july", cloud="os-sim") as month:
        month.collector.start()
        publisher = month.publisher(["heat", "nova"])
        publisher.publish([replace(beginning[0], exchange="heat")])
        with pytest.raises(PublishError, match="cyborg"):
            publisher.publish([replace(beginning[0], exchange="cyborg")])
        publisher.close()
        month.collector.stop()
        counters = month.collector.counters()
        assert counters is not None
        assert counters.handled == 0
