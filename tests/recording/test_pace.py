import threading

from harness.broker.clock import VirtualClock
from harness.oslo import Notification
from harness.recording.pace import Pace

START = 1782864000  # 2026-07-01


def test_goes_in_order_at_any_factor(message):
    given = [message(n, instant=f"2026-07-01 00:{n % 60:02d}:00") for n in range(100)]
    for factor in (0, 1e9):
        assert list(Pace(VirtualClock(START, factor))(given)) == given


def test_waits_for_each_instant(message):
    given = [message(n, instant=f"2026-07-01 00:00:{n:02d}") for n in range(10)]
    clock = VirtualClock(START, 100)
    seen = [clock.now() - START for _ in Pace(clock)(given)]
    assert all(now >= n for n, now in enumerate(seen))


def test_what_is_older_or_timeless_goes_at_once(message):
    clock = VirtualClock(START, 1)
    given = [
        message(1, instant="2026-06-01 00:00:00"),
        Notification("x", "k", b"no envelope"),
        message(2, instant="2026-07-01 00:00:00"),
        message(3, instant="2026-06-30 00:00:00"),
    ]
    pace = Pace(clock)
    assert list(pace(given)) == given
    assert clock.now() - START < 5


def test_lag_is_how_far_the_consumer_holds_it_up(message):
    given = [message(n, instant=f"2026-07-01 00:00:{n:02d}") for n in range(3)]
    now = [0.0]
    clock = VirtualClock(START, 10, wall=lambda: now[0])
    pace = Pace(clock)
    now[0] = 0.2
    stream = pace(given)
    next(stream)
    now[0] = 5.0
    next(stream)
    assert pace.lag == 4.9
    next(stream)
    assert pace.lag == 4.9


def test_a_late_copy_is_no_lag(message):
    now = [1000.0]
    clock = VirtualClock(START, 1, wall=lambda: now[0])
    pace = Pace(clock)
    stream = pace(
        [message(1, instant="2026-07-01 00:00:00"), message(2, instant="2026-06-01 00:00:00")]
    )
    list(stream)
    assert pace.lag == 0


def test_an_interrupt_ends_it(message):
    clock = VirtualClock(START, 1)
    pace = Pace(clock)
    threading.Timer(0.1, clock.interrupt).start()
    assert list(pace([message(1), message(2)])) == []
    assert pace.interrupted
    pace = Pace(clock)
    clock.set_factor(0)
    assert list(pace([message(1)])) == []
    assert pace.interrupted
