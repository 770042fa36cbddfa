from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import requests

from harness.errors import UsageError
from harness.oslo import Notification
from harness.stack import Counters, MonthStack, Options, StackError, Unavailable, attach, open_stack
from harness.stack.collector import CollectorProcess
from harness.stack.local import LocalStack
from harness.stack.month import OpenMonth
from harness.stack.postgresql import PrivatePostgres
from harness.stack.rabbitmq import PrivateBroker

Carry = Callable[[MonthStack, list[Notification]], Counters]


@pytest.fixture
def stack(private_broker: PrivateBroker, temporary: Path) -> Iterator[LocalStack]:
    """A local stack on the session's broker, as an xdist worker has it."""
    stack = LocalStack(Options(), private_broker.address)
    yield stack
    stack.close()
    assert list(temporary.iterdir()) == []
    assert private_broker.address.api().vhosts() == ["/"]


def test_messages_become_events_and_a_bill_and_nothing_is_left(
    stack: LocalStack,
    temporary: Path,
    tmp_path: Path,
    beginning: list[Notification],
    carry: Carry,
    processes: Callable[[str], list[str]],
) -> None:
    with stack.month("july", cloud="os-sim") as month:
        counters = carry(month, beginning)
        assert counters.handled == len(beginning)
        assert counters.delivered == sum(counters.consumed.values()) > 10
        out = month.bill("2026-07", out=tmp_path / "export")
        assert out is not None
        assert (out / "rated.csv").read_text().count("\n") > 10
        assert len(processes(str(temporary))) >= 4
    assert processes(str(temporary)) == []


def test_a_killed_collector_loses_nothing_and_keeps_its_counters(
    stack: LocalStack,
    beginning: list[Notification],
    drain: Callable[[MonthStack, int], Counters],
) -> None:
    with stack.month("july", cloud="os-sim") as month:
        publisher = month.publisher()
        month.collector.start(TALLY_OSC_PREFETCH="10")  # type: ignore[call-arg]
        killed = False

        def kill(confirmed: int) -> None:
            nonlocal killed
            if confirmed >= 100 and not killed:
                killed = True
                month.collector.kill()

        publisher.publish(beginning, confirmed=kill)
        publisher.close()
        assert killed
        month.collector.start()
        counters = drain(month, len(beginning))
        assert counters.delivered >= sum(counters.consumed.values()) - 10
        assert counters.handled >= len(beginning)


def test_the_reporting_api_comes_back_on_its_port(
    stack: LocalStack, beginning: list[Notification], carry: Carry
) -> None:
    with stack.month("july", cloud="os-sim") as month:
        assert isinstance(month, OpenMonth)
        assert month.service is not None
        assert month.reporting is not None
        month.service.kill()
        with pytest.raises(requests.ConnectionError):
            requests.get(f"{month.reporting.url}/readyz", timeout=5)
        month.service.start()
        assert requests.get(f"{month.reporting.url}/readyz", timeout=5).status_code == 200
        assert carry(month, beginning).delivered > 10


def test_a_worker_uses_the_services_and_leaves_them_running(
    stack: LocalStack, private_broker: PrivateBroker
) -> None:
    handed = json.loads(json.dumps(stack.handover()))
    worker = attach(handed)
    assert isinstance(worker, LocalStack)
    with worker.month("seed-1", cloud="os-sim"), stack.month("seed-1", cloud="os-sim"):
        assert len(private_broker.address.api().vhosts()) == 3
    worker.close()
    assert private_broker.running


def test_a_collector_that_cannot_start_shows_its_log(
    stack: LocalStack, beginning: list[Notification], carry: Carry
) -> None:
    with stack.month("july", cloud="os-sim") as month:
        expected = r"the collector ended with status \d before it was ready; the end of its log:\n.*EXCHANGES"
        with pytest.raises(StackError, match=expected):
            month.collector.start(TALLY_OSC_EXCHANGES="a,,b")  # type: ignore[call-arg]
        assert carry(month, beginning[:50]).handled == 50


def test_a_collector_may_come_before_the_exchanges_after_the_messages_or_twice(
    stack: LocalStack,
    private_broker: PrivateBroker,
    beginning: list[Notification],
    drain: Callable[[MonthStack, int], Counters],
) -> None:
    with stack.month("july", cloud="os-sim") as month:
        assert isinstance(month, OpenMonth)
        early = threading.Thread(target=month.collector.start)
        early.start()
        time.sleep(1)
        publisher = month.publisher()  # makes the exchanges
        early.join(60)
        publisher.publish(beginning[:100])
        drain(month, 100)
        month.collector.stop()
        publisher.publish(beginning[100:200])  # kept by the queue that is there by now
        month.collector.start()
        drain(month, 200)
        assert isinstance(month.collector, CollectorProcess)
        assert month.directory is not None
        second = month.collector.twin(month.directory / "second")
        second.start()
        publisher.publish(beginning[200:])
        publisher.close()
        deadline = time.monotonic() + 30
        while month.collector.counters().handled + second.counters().handled < len(beginning):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        second.stop()
        assert second.counters().handled > 0


def test_a_database_address_of_another_kind_is_refused() -> None:
    with pytest.raises(UsageError, match=r'must be postgresql://…, or "private"'):
        open_stack("local", Options(reporting_db_url="mysql://x"))


def test_an_installed_pipeline_is_reached_by_its_addresses(
    stack: LocalStack, tmp_path: Path, beginning: list[Notification], carry: Carry
) -> None:
    with stack.month("installed", cloud="os-sim") as installed:
        installed.publisher().close()
        installed.collector.start()
        assert isinstance(installed, OpenMonth)
        assert isinstance(installed.collector, CollectorProcess)
        assert installed.reporting is not None
        assert installed.books is not None
        token = tmp_path / "token"
        token.write_text(installed.reporting.api_token)
        with installed.books.reporting() as database:
            options = Options(
                amqp_url=installed.amqp_url,
                reporting_url=installed.reporting.url,
                api_token_file=token,
                collector_metrics_url=installed.collector.metrics_url,
                reporting_db_url=database,
                engine_db_url=f"sqlite:///{tmp_path}/engine.db",
            )
        external = open_stack("external", options)
        assert installed.reporting.url in external.describe()
        with external.month("seed-1", cloud="os-sim") as month:
            counters = carry(month, beginning)
            assert counters == installed.collector.counters()
            assert counters.delivered > 10
            assert month.reporting is not None
            assert month.reporting.api_token == installed.reporting.api_token
            out = month.bill("2026-07", out=tmp_path / "export")
            assert out is not None
            assert (out / "rated.csv").read_text().count("\n") > 10
        assert installed.collector.running


@pytest.mark.slow
def test_postgresql_holds_both_databases_of_a_month(
    private_broker: PrivateBroker, tmp_path: Path, beginning: list[Notification], carry: Carry
) -> None:
    try:
        server = PrivatePostgres()
    except Unavailable as error:
        pytest.skip(str(error))
    with (
        server,
        closing(LocalStack(Options(), private_broker.address, server_url=server.url())) as stack,
        stack.month("Seed 1/ü", cloud="os-sim") as month,
    ):
        assert carry(month, beginning).delivered > 10
        out = month.bill("2026-07", out=tmp_path / "export")
        assert out is not None
        assert (out / "rated.csv").read_text().count("\n") > 10


@pytest.mark.slow
def test_the_whole_stack_starts_and_ends(
    temporary: Path,
    beginning: list[Notification],
    carry: Carry,
    processes: Callable[[str], list[str]],
) -> None:
    stack = open_stack("local")
    try:
        assert stack.describe().startswith("RabbitMQ ")
        assert stack.reason == ""
        with stack.month("july", cloud="os-sim") as month:
            assert carry(month, beginning).delivered > 10
    finally:
        stack.close()
    stack.close()
    assert processes(str(temporary)) == []
    assert list(temporary.iterdir()) == []
