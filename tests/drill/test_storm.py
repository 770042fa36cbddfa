"""Storms: what can be asked for, where it strikes, and what carries a stream through it."""

import os
import shutil
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from harness.broker import PublishError
from harness.drill import jumping_clock
from harness.drill.chaos import Quiet, plan
from harness.drill.steady import SteadyPublisher
from harness.drill.storm import KINDS, Storm, read
from harness.errors import UsageError
from harness.oslo import Notification
from harness.stack import StackError


def test_names_and_numbers():
    assert read("kill-collector=5, restart-broker") == {"kill-collector": 5, "restart-broker": None}
    assert isinstance(plan("", 1), Quiet)
    assert isinstance(plan("kill-collector", 1), Storm)


@pytest.mark.parametrize(
    "names", ["rain", "kill-collector,", "kill-collector=x", "kill-collector=-1"]
)
def test_what_is_no_disturbance(names):
    with pytest.raises(UsageError, match="--chaos: "):
        read(names)


def test_what_there_is():
    assert sorted(KINDS) == [
        "clock-jumps", "cut-connections", "delay-connections", "disk-full", "kill-collector",
        "reporting-413", "reporting-429", "reporting-500", "reporting-down", "reporting-rejecting",
        "reporting-slow", "reporting-truncated", "restart-broker",
    ]  # fmt: skip


def places(names, seed, length=15741):
    return [place for place, _ in Storm(read(names), seed).halts(length)]


def test_places_come_from_the_seed():
    usual = places("kill-collector,restart-broker", 1)
    assert len(usual) == 23
    assert usual == sorted(usual) == places("kill-collector,restart-broker", 1)
    assert usual != places("kill-collector,restart-broker", 2)
    alone = places("kill-collector", 1)
    assert set(alone) < set(usual)  # one disturbance does not move another
    assert all(0 < place < 15741 for place in usual)
    assert len(places("kill-collector=50", 1, length=10)) == 9


@pytest.mark.parametrize(
    ("names", "disturbed"),
    [("kill-collector", True), ("reporting-500", True), ("clock-jumps,disk-full", False)],
)
def test_what_repeats_messages(names, disturbed):
    assert plan(names, 1).disturbed is disturbed


def test_a_stack_without_processes_is_refused():
    class Collector:
        def start(self):
            raise AssertionError

    opened = SimpleNamespace(collector=Collector(), reporting=None, amqp_url="")
    with pytest.raises(StackError, match="--stack local"):
        plan("kill-collector", 1).begin(opened)


def test_a_broker_of_somebody_else_is_refused():
    class Collector:
        def start(self, **variables):
            raise AssertionError

    opened = SimpleNamespace(collector=Collector(), reporting=None, amqp_url="amqp://127.0.0.1:1")
    with pytest.raises(StackError, match="restart-broker needs a broker"):
        plan("restart-broker", 1).begin(opened)


class Flaky:
    """Publishers that break at given messages, after having taken some of the group."""

    def __init__(self, *breaks):
        self.breaks = list(breaks)
        self.bus = []
        self.connections = 0

    def connect(self):
        self.connections += 1
        return self

    def publish(self, group):
        for notification in group:
            self.bus.append(notification)
            if self.breaks and len(self.bus) == self.breaks[0]:
                self.breaks.pop(0)
                raise PublishError("broken")

    def close(self):
        pass


STREAM = [Notification("nova", "notifications.info", b"%d" % index) for index in range(1000)]


def test_a_steady_publisher_publishes_again_what_was_not_confirmed(monkeypatch):
    monkeypatch.setattr("harness.drill.steady._PAUSE", 0)
    flaky = Flaky(150, 400, 777)
    confirmed = []
    steady = SteadyPublisher(flaky.connect, lambda _: [])
    assert steady.publish(iter(STREAM), confirmed=confirmed.append) == 1000
    assert flaky.connections == 4
    assert list(dict.fromkeys(flaky.bus)) == STREAM  # none is missing, first comes in order
    assert len(flaky.bus) > 1000
    assert confirmed == [200, 400, 600, 800, 1000]
    steady.close()
    steady.close()


def test_a_steady_publisher_gives_up_in_the_end(monkeypatch):
    monkeypatch.setattr("harness.drill.steady._PAUSE", 0)
    monkeypatch.setattr("harness.drill.steady._PATIENCE", 0.05)
    flaky = Flaky(*range(1, 10_000_000))
    with pytest.raises(PublishError, match="broken"):
        SteadyPublisher(flaky.connect, lambda _: []).publish(STREAM)


def test_a_steady_publisher_halts():
    flaky = Flaky()
    seen = []

    def halts(length):
        return [(place, lambda: seen.append(len(flaky.bus))) for place in (1, 1, 350, length - 1)]

    SteadyPublisher(flaky.connect, halts).publish(STREAM)
    assert seen == [1, 1, 350, 999]


def test_a_clock_that_jumps(tmp_path):
    shutil.copy(jumping_clock.__file__, tmp_path / "sitecustomize.py")
    offset = tmp_path / "offset"

    def look(**variables):
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)} | variables
        seen = subprocess.run(
            [sys.executable, "-c", "import time; print(time.time(), time.time_ns())"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        assert abs(float(seen[0]) - int(seen[1]) / 1e9) < 1
        return float(seen[0]) - time.time()

    assert abs(look()) < 30
    assert abs(look(**{jumping_clock.VARIABLE: str(offset)})) < 30
    offset.write_text("-86400.5")
    assert abs(look(**{jumping_clock.VARIABLE: str(offset)}) + 86400.5) < 30
    offset.write_text("nonsense")
    assert abs(look(**{jumping_clock.VARIABLE: str(offset)})) < 30
