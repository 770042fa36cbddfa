from __future__ import annotations

import time
from pathlib import Path

import pytest

from harness.broker import PublishError
from harness.broker.publisher import AmqpPublisher
from harness.oslo import Notification
from harness.stack.rabbitmq import PrivateBroker


@pytest.mark.slow
def test_a_full_disk_of_the_broker_is_an_error_within_the_time_out(
    temporary: Path, beginning: list[Notification]
) -> None:
    with PrivateBroker() as broker:
        publisher = AmqpPublisher(broker.url(), blocked_timeout=3)
        publisher.publish(beginning[:10])
        broker.control("set_disk_free_limit", "1000000GB")
        begin = time.monotonic()
        with pytest.raises(PublishError, match="the first message without a confirm is"):
            publisher.publish(beginning)
        assert time.monotonic() - begin < 60
        publisher.close()
    assert list(temporary.iterdir()) == []
