"""Oslo notifications: the message on the bus, its envelope, and stream files."""

from harness.oslo.envelope import Envelope, Literal, Unparseable, parse
from harness.oslo.notification import EXCHANGES, Notification

__all__ = ["EXCHANGES", "Envelope", "Literal", "Notification", "Unparseable", "parse"]
