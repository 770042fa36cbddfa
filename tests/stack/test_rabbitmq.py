from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pika
import pytest

from harness.stack.interface import StackError, Unavailable
from harness.stack.rabbitmq import PrivateBroker, find_rabbitmq


def publish(url: str, queue: str) -> None:
    connection = pika.BlockingConnection(pika.URLParameters(url))
    channel = connection.channel()
    channel.confirm_delivery()
    channel.queue_declare(queue, durable=True)
    channel.basic_publish("", queue, b"x", pika.BasicProperties(delivery_mode=2), mandatory=True)
    connection.close()


def count(url: str, queue: str) -> int:
    connection = pika.BlockingConnection(pika.URLParameters(url))
    try:
        return connection.channel().queue_declare(queue, passive=True).method.message_count
    finally:
        connection.close()


def test_vhosts_are_quick_and_apart(private_broker: PrivateBroker) -> None:
    begin = time.monotonic()
    one, two = (private_broker.create_vhost(name) for name in ("a b/c", "ü"))
    publish(one, "q")
    publish(two, "q")
    publish(two, "q")
    assert (count(one, "q"), count(two, "q")) == (1, 2)
    for name in ("a b/c", "ü", "never was"):
        private_broker.delete_vhost(name)
    assert time.monotonic() - begin < 3
    with pytest.raises(pika.exceptions.AMQPError):
        pika.BlockingConnection(pika.URLParameters(one))


def test_it_says_its_version_and_hides_its_password(private_broker: PrivateBroker) -> None:
    assert private_broker.version >= (3, 8)
    assert private_broker._password not in repr(private_broker) + repr(private_broker._management)


@pytest.mark.slow
def test_data_survives_stop_kill_and_restart_but_not_close(
    processes: Callable[[str], list[str]],
) -> None:
    with PrivateBroker() as broker:
        publish(broker.url(), "kept")
        broker.restart()
        assert count(broker.url(), "kept") == 1
        broker.kill()
        assert not broker.running
        broker.start()
        assert count(broker.url(), "kept") == 1
        assert "tally@localhost" in broker.control("status")
        with pytest.raises(StackError, match=r"rabbitmqctl no_such_command failed:\n(.|\n)+"):
            broker.control("no_such_command")
        assert processes(str(broker.directory))
    assert not broker.directory.exists()
    assert processes(str(broker.directory)) == []


@pytest.mark.slow
def test_a_killed_parent_leaves_nothing(
    processes: Callable[[str], list[str]],
) -> None:
    script = (
        "import time; from harness.stack.rabbitmq import PrivateBroker\n"
        "broker = PrivateBroker().start(); print(broker.directory, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        directory = run.stdout.readline().strip()
        assert Path(directory).is_dir()
        assert len(processes(directory)) >= 4
        run.kill()
    deadline = time.monotonic() + 10
    while (processes(directory) or Path(directory).exists()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert processes(directory) == []
    assert not Path(directory).exists()


def test_a_start_that_takes_too_long_shows_the_log_and_leaves_nothing(
    processes: Callable[[str], list[str]],
) -> None:
    broker = PrivateBroker(start_timeout=0.5)
    with pytest.raises(StackError, match=r"not ready within 0\.5 s; the end of its log"), broker:
        pass
    assert not broker.directory.exists()
    assert processes(str(broker.directory)) == []


@pytest.mark.slow
def test_a_port_taken_in_between_is_chosen_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        broker = PrivateBroker()
        free = broker.port
        broker.port = taken.getsockname()[1]
        broker.address = replace(broker.address, port=broker.port)
        with broker:
            assert broker.port not in {free, taken.getsockname()[1]}
            publish(broker.url(), "q")


def test_a_missing_server_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr("harness.stack.rabbitmq._DEBIAN", Path("/nonexistent"))
    with pytest.raises(Unavailable, match="apt install rabbitmq-server"):
        find_rabbitmq()
