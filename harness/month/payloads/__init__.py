"""What notifications carry, one module per service; shapes of the legacy notification payloads."""

from typing import Any

#: A payload: JSON members by name; the renderer sorts them.
Payload = dict[str, Any]
