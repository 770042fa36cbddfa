"""What a stack is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import metadata
from pathlib import Path
from typing import Self

from harness.errors import UsageError

RABBITMQ_IMAGE = "rabbitmq:4.3.6-management-alpine"


def reporting_image() -> str:
    """Return the tag the project's own image is looked for under: ``tally-harness:VERSION``."""
    return f"tally-harness:{metadata.version('tally-harness')}"


@dataclass(frozen=True, slots=True)
class Options:
    """What the kinds of stacks can be told; each reads what concerns it.

    ``repr`` shows no address that may hold a password.

    Attributes:
        rabbitmq_image: containers: image of the broker, one with the management plugin.
        reporting_image: containers: image of this project.
        keep: containers: leave everything running, and say how to reach and remove it.
        reuse: containers: use a broker that an earlier run kept.
        reporting_db_url: local: a PostgreSQL server to make databases on, or ``private`` for one
            of the stack's own (default: SQLite); external: the Reporting API's database.
        amqp_url: external: the broker.
        allow_remote_broker: external: publish to a broker elsewhere, too.
        reporting_url: external: base URL of the Reporting API.
        api_token_file: external: file of an api token, role admin or what there is.
        internal_token_file: external: file of the internal token.
        ingest_token_file: external: file of an ingest token.
        collector_metrics_url: external: ``/metrics`` of the collector.
        engine_db_url: external: database for the engine of this project to work in, on what
            ``reporting_db_url`` holds.
        export: external: directory of an export an installed engine wrote.
        start_timeout: seconds a single service may take to become ready.
    """

    rabbitmq_image: str = RABBITMQ_IMAGE
    reporting_image: str = field(default_factory=reporting_image)
    keep: bool = False
    reuse: bool = False
    reporting_db_url: str = field(default="", repr=False)
    amqp_url: str = field(default="", repr=False)
    allow_remote_broker: bool = False
    reporting_url: str = ""
    api_token_file: Path | None = None
    internal_token_file: Path | None = None
    ingest_token_file: Path | None = None
    collector_metrics_url: str = ""
    engine_db_url: str = field(default="", repr=False)
    export: Path | None = None
    start_timeout: float = 90.0

    @classmethod
    def from_mapping(cls, values: Mapping[str, object]) -> Self:
        """Build options from names and values; None and empty text stand for the default.

        Args:
            values: attribute names to text, truth or numbers, as `to_mapping` gives them.

        Raises:
            UsageError: a name that is no option.
        """
        kinds = {item.name: str(item.type) for item in fields(cls)}
        if unknown := sorted(set(values) - set(kinds)):
            raise UsageError(f"{', '.join(unknown)}: no such option; there are {', '.join(kinds)}")
        chosen: dict[str, object] = {}
        for name, value in values.items():
            if value is None or value == "":
                continue
            if kinds[name].startswith("Path"):
                chosen[name] = Path(str(value))
            elif kinds[name] == "float":
                chosen[name] = float(str(value))
            elif kinds[name] == "bool":
                chosen[name] = value if isinstance(value, bool) else str(value) == "true"
            else:
                chosen[name] = str(value)
        return cls(**chosen)  # type: ignore[arg-type]  # each by the type its field states

    def to_mapping(self) -> dict[str, str]:
        """Return the options as JSON-able text, empty where unset; `from_mapping` reads it."""
        return {item.name: _text(getattr(self, item.name)) for item in fields(self)}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
