"""Where a broker of a stack is, and what may be done there."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from urllib.parse import quote

import pika
import pika.exceptions
from pika.adapters.utils.connection_workflow import AMQPConnectorException

from harness.stack.management import Management


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """A broker whose vhosts are ours to make. ``repr`` shows no password.

    Attributes:
        host: name or address.
        port: AMQP port.
        management: base URL of the management API.
        user: account with the tag administrator.
        password: its password.
    """

    host: str
    port: int
    management: str
    user: str
    password: str = field(repr=False)

    def url(self, vhost: str = "/") -> str:
        """Return the AMQP address of a vhost, password included."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"amqp://{self.user}:{self.password}@{host}:{self.port}/{quote(vhost, safe='')}"

    def api(self) -> Management:
        """Return the management API."""
        return Management(self.management, self.user, self.password)

    def answers(self) -> bool:
        """Whether a connection and a declaration succeed, and the management API answers."""
        if not self.api().answers():
            return False
        parameters = pika.URLParameters(self.url())
        parameters.socket_timeout = 5
        parameters.stack_timeout = 5
        parameters.blocked_connection_timeout = 5
        try:
            connection = pika.BlockingConnection(parameters)
        except (pika.exceptions.AMQPError, AMQPConnectorException, OSError):
            return False
        try:
            connection.channel().queue_declare("", exclusive=True, auto_delete=True)
        except pika.exceptions.AMQPError:
            return False
        finally:
            if connection.is_open:
                connection.close()
        return True

    def to_mapping(self) -> dict[str, str]:
        """Return the address as text, for another process."""
        return {name: str(value) for name, value in asdict(self).items()}

    @classmethod
    def from_mapping(cls, values: dict[str, str]) -> BrokerAddress:
        """Read what `to_mapping` wrote."""
        return cls(**(values | {"port": int(values["port"])}))  # type: ignore[arg-type]
