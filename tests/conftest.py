"""Fixtures every room's tests may use."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator

import pytest

from harness.stack.interface import Unavailable
from harness.stack.rabbitmq import PrivateBroker


@pytest.fixture(scope="session")
def private_broker() -> Iterator[PrivateBroker]:
    """A running RabbitMQ of this session (of this worker under xdist).

    Skips where none is installed, unless ``TALLY_REQUIRE_STACKS`` names ``local``.
    """
    try:
        broker = PrivateBroker()
    except Unavailable as error:
        if "local" in os.environ.get("TALLY_REQUIRE_STACKS", "").split(","):
            pytest.fail(str(error))
        pytest.skip(str(error))
    with broker:
        yield broker


@pytest.fixture
def amqp_url(private_broker: PrivateBroker) -> Iterator[str]:
    """The AMQP address of a fresh vhost."""
    name = f"test-{secrets.token_hex(6)}"
    yield private_broker.create_vhost(name)
    private_broker.delete_vhost(name)
