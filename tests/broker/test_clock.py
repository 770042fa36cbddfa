import math
import threading
import time

import pytest

from harness.broker.clock import VirtualClock
from harness.errors import UsageError


class Wall:
    def __init__(self):
        self.seconds = 100.0

    def __call__(self):
        return self.seconds


def test_runs_factor_times_as_fast_as_the_wall():
    wall = Wall()
    clock = VirtualClock(1_000, 744, wall=wall)
    wall.seconds += 2
    assert clock.now() == 1_000 + 2 * 744


def test_a_changed_factor_counts_from_the_instant_reached():
    wall = Wall()
    clock = VirtualClock(1_000, 10, wall=wall)
    wall.seconds += 3
    clock.set_factor(2)
    wall.seconds += 5
    assert clock.now() == 1_000 + 30 + 10
    assert clock.factor == 2


def test_stands_still_at_factor_zero_and_lets_everybody_pass():
    wall = Wall()
    clock = VirtualClock(1_000, 0, wall=wall)
    wall.seconds += 3
    assert clock.now() == 1_000
    assert clock.sleep_until(1e12)
    assert clock.lag(0) == 0


@pytest.mark.parametrize("factor", [-1, -0.001, math.nan, math.inf, -math.inf])
def test_refuses_a_factor_that_is_no_pace(factor):
    with pytest.raises(UsageError, match="zero or positive"):
        VirtualClock(0, factor)
    clock = VirtualClock(0, 5)
    with pytest.raises(UsageError, match="zero or positive"):
        clock.set_factor(factor)
    assert clock.factor == 5


def test_a_passed_instant_is_not_waited_for():
    clock = VirtualClock(1_000, 1)
    started = time.monotonic()
    assert clock.sleep_until(999)
    assert time.monotonic() - started < 0.5


def test_sleeps_the_virtual_distance():
    clock = VirtualClock(1_000, 100)
    started = time.monotonic()
    assert clock.sleep_until(1_020)
    assert 0.19 <= time.monotonic() - started < 2
    assert clock.now() >= 1_020


@pytest.mark.parametrize("factor", [0, 1e9])
def test_a_changed_factor_wakes_sleepers(factor):
    clock = VirtualClock(0, 1)
    ended = threading.Event()
    threads = [
        threading.Thread(target=lambda: clock.sleep_until(1e6) and ended.set()) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    assert not ended.wait(0.1)
    clock.set_factor(factor)
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()
    assert ended.is_set()


def test_an_interrupt_ends_sleeps_now_and_later():
    clock = VirtualClock(0, 1)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(clock.sleep_until(1e6)))
    thread.start()
    clock.interrupt()
    thread.join(5)
    assert answers == [False]
    assert clock.sleep_until(1e6) is False


def test_lag_is_told_in_wall_seconds():
    wall = Wall()
    clock = VirtualClock(1_000, 10, wall=wall)
    wall.seconds += 5
    assert clock.lag(1_020) == 3
    assert clock.lag(2_000) == 0
