import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.broker import BrokerError, PublishError
from harness.broker.memory import MemoryBus
from harness.oslo import Notification


def message(number, exchange="nova", key="notifications.info"):
    return Notification(exchange, key, str(number).encode())


def bodies(deliveries):
    return [int(delivery.body) for delivery in deliveries]


def test_hands_out_in_order_with_what_a_broker_would_tell():
    bus = MemoryBus()
    counts = []
    assert bus.publisher().publish(map(message, range(3)), confirmed=counts.append) == 3
    assert counts == [1, 2, 3]
    deliveries = bus.subscription().receive(10, 0)
    assert bodies(deliveries) == [0, 1, 2]
    first = deliveries[0]
    assert (first.exchange, first.routing_key) == ("nova", "notifications.info")
    assert first.content_type == "application/json"
    assert not first.redelivered


def test_drops_what_no_binding_takes_and_refuses_unknown_exchanges():
    bus = MemoryBus()
    publisher = bus.publisher()
    assert publisher.publish([message(1, key="notifications.error")]) == 1
    assert bus.depth() == 0
    with pytest.raises(PublishError, match="heat"):
        publisher.publish([message(1, exchange="heat")])


@pytest.mark.parametrize(
    ("topic", "key", "taken"),
    [
        ("notifications.*", "notifications.info", True),
        ("notifications.*", "notifications", False),
        ("notifications.*", "notifications.info.x", False),
        ("notifications.#", "notifications", True),
        ("notifications.#", "notifications.a.b", True),
        ("notifications.#", "notificationsx", False),
        ("#", "anything.at.all", True),
        ("#.info", "info", True),
        ("#.info", "a.b.info", True),
        ("#.info", "binfo", False),
        ("a.#.b", "a.b", True),
        ("a.#.b", "a.x.y.b", True),
        ("a.#.b", "ab", False),
        ("a+b", "aab", False),
    ],
)
def test_topics_match_as_a_topic_exchange_matches(topic, key, taken):
    bus = MemoryBus(["x"], [topic])
    bus.publisher().publish([message(1, "x", key)])
    assert bus.depth() == int(taken)


def test_requeued_messages_return_to_the_front_in_order_and_marked():
    bus = MemoryBus()
    bus.publisher().publish(map(message, range(6)))
    subscription = bus.subscription()
    held = subscription.receive(4, 0)
    subscription.requeue([held[3], held[0]])
    subscription.ack([held[1]])
    again = subscription.receive(10, 0)
    assert bodies(again) == [0, 3, 4, 5]
    assert [delivery.redelivered for delivery in again] == [True, True, False, False]
    subscription.requeue([held[2]])
    assert bodies(subscription.receive(10, 0)) == [2]


def test_prefetch_bounds_what_is_held():
    bus = MemoryBus()
    bus.publisher().publish(map(message, range(5)))
    subscription = bus.subscription(prefetch=2)
    held = subscription.receive(10, 0)
    assert bodies(held) == [0, 1]
    assert subscription.receive(10, 0) == []
    subscription.ack(held[:1])
    assert bodies(subscription.receive(10, 0)) == [2]


def test_a_closed_session_gives_back_what_it_held():
    bus = MemoryBus()
    bus.publisher().publish(map(message, range(3)))
    first = bus.subscription()
    held = first.receive(2, 0)
    first.close()
    assert bodies(bus.subscription().receive(10, 0)) == [0, 1, 2]
    with pytest.raises(BrokerError, match="not held"):
        first.ack(held)
    with pytest.raises(BrokerError, match="closed"):
        first.receive(1, 0)


def test_a_message_is_let_go_of_once():
    bus = MemoryBus()
    bus.publisher().publish([message(1)])
    subscription = bus.subscription()
    held = subscription.receive(1, 0)
    subscription.ack(held)
    with pytest.raises(BrokerError, match="not held"):
        subscription.requeue(held)


def test_a_paused_consumer_takes_nothing_until_it_resumes():
    bus = MemoryBus()
    bus.publisher().publish(map(message, range(2)))
    subscription = bus.subscription()
    held = subscription.receive(1, 0)
    subscription.pause()
    assert subscription.receive(1, 0.01) == []
    subscription.requeue(held)
    subscription.resume()
    assert bodies(subscription.receive(2, 0)) == [0, 1]


def test_receive_wakes_for_a_message():
    bus = MemoryBus()
    timer = threading.Timer(0.05, lambda: bus.publisher().publish([message(7)]))
    timer.start()
    assert bodies(bus.subscription().receive(1, 5)) == [7]
    timer.join()


def test_a_bounded_queue_holds_the_publisher_back():
    bus = MemoryBus(capacity=2)
    deepest = []
    thread = threading.Thread(target=lambda: bus.publisher().publish(map(message, range(50))))
    thread.start()
    subscription = bus.subscription()
    received = []
    while len(received) < 50:
        deepest.append(bus.depth())
        held = subscription.receive(1, 5)
        received += bodies(held)
        subscription.ack(held)
    thread.join(5)
    assert received == list(range(50))
    assert max(deepest) <= 2


def test_a_publisher_closed_while_it_waits_for_room_gives_up():
    bus = MemoryBus(capacity=1)
    publisher = bus.publisher()
    threading.Timer(0.05, publisher.close).start()
    with pytest.raises(PublishError, match="closed"):
        publisher.publish(map(message, range(2)))


def test_competing_threads_lose_and_double_nothing():
    bus = MemoryBus(capacity=50)
    seen, lock = [], threading.Lock()

    def consume():
        subscription = bus.subscription(prefetch=7)
        while held := subscription.receive(5, 0.5):
            subscription.requeue(held[3:])
            subscription.ack(held[:3])
            with lock:
                seen.extend(bodies(held[:3]))
        subscription.close()

    publishers = [
        threading.Thread(
            target=lambda start=start: bus.publisher().publish(
                message(start + number) for number in range(500)
            )
        )
        for start in (0, 500)
    ]
    threads = publishers + [threading.Thread(target=consume) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(seen) == list(range(1_000))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["take", "requeue", "ack"]), st.integers(0, 5))))
def test_whatever_is_done_order_holds_and_nothing_is_lost(steps):
    bus = MemoryBus()
    bus.publisher().publish(map(message, range(12)))
    subscription = bus.subscription(prefetch=6)
    held, gone = [], set()
    for step, number in steps:
        if step == "take":
            held += subscription.receive(number, 0)
        elif step == "requeue":
            subscription.requeue(held[:number])
            held = held[number:]
        else:
            subscription.ack(held[number:])
            gone |= set(bodies(held[number:]))
            held = held[:number]
    subscription.close()
    left = bodies(bus.subscription().receive(100, 0))
    assert left == sorted(set(range(12)) - gone)
