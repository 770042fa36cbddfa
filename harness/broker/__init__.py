"""Publishing and consuming notifications, over AMQP or in memory, and the virtual clock."""

from harness.broker.interface import (
    BrokerError,
    Delivery,
    Publisher,
    PublishError,
    Subscription,
)

__all__ = ["BrokerError", "Delivery", "PublishError", "Publisher", "Subscription"]
