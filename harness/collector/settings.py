"""What a collector is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from harness.service.environment import Environment
from harness.service.log import LEVELS

QUEUE_TYPES = ("quorum", "classic")


@dataclass(frozen=True, slots=True)
class Settings:
    """How messages become delivered events.

    Attributes:
        cloud: every event's ``cloud``.
        reporting_url: base URL of the Reporting API, no final slash.
        token: ingest token.
        buffer_path: the outbox file.
        batch_max: events in a post, 1 to 1000.
        flush_interval: seconds between posts that are not full.
        buffer_max_events: bound of the outbox.
        prefetch: messages taken off the bus at once.
        unhealthy_threshold: seconds the outbox may be unusable before ``/healthz`` fails.
        summary_interval: seconds between two summaries in the log.
        counters_path: a file that holds the counters even after a SIGKILL; None keeps none.
        pause_interval: seconds between two looks at an outbox that was at its bound.
        requeue_delay: seconds to wait after a failed write.
    """

    cloud: str
    reporting_url: str
    token: str = field(repr=False)
    buffer_path: Path
    batch_max: int = 500
    flush_interval: float = 5.0
    buffer_max_events: int = 1_000_000
    prefetch: int = 100
    unhealthy_threshold: float = 600.0
    summary_interval: float = 60.0
    counters_path: Path | None = None
    pause_interval: float = 5.0
    requeue_delay: float = 1.0

    @classmethod
    def from_environment(cls, environment: Environment) -> Self:
        """Read the variables of a collector.

        Raises:
            UsageError: one is missing or malformed; names it.
        """
        counters = environment.text("TALLY_OSC_COUNTERS_PATH")
        return cls(
            cloud=environment.required("TALLY_OSC_CLOUD"),
            reporting_url=environment.http_url(
                "TALLY_OSC_REPORTING_URL", insecure="TALLY_OSC_REPORTING_INSECURE"
            ),
            token=environment.token("TALLY_OSC_TOKEN") or environment.required("TALLY_OSC_TOKEN"),
            buffer_path=Path(environment.required("TALLY_OSC_BUFFER_PATH")),
            batch_max=environment.integer("TALLY_OSC_BATCH_MAX", 500, least=1, most=1000),
            flush_interval=environment.seconds(
                "TALLY_OSC_FLUSH_INTERVAL_S", 5.0, least=0.01, most=86400
            ),
            buffer_max_events=environment.integer(
                "TALLY_OSC_BUFFER_MAX_EVENTS", 1_000_000, least=1, most=10**12
            ),
            prefetch=prefetch(environment),
            unhealthy_threshold=environment.seconds(
                "TALLY_OSC_UNHEALTHY_THRESHOLD_S", 600.0, least=1, most=10**6
            ),
            summary_interval=environment.seconds(
                "TALLY_OSC_SUMMARY_INTERVAL_S", 60.0, least=1, most=10**6
            ),
            counters_path=Path(counters) if counters else None,
        )


@dataclass(frozen=True, slots=True)
class Source:
    """Where messages come from.

    Attributes:
        amqp_url: of the broker.
        exchanges: topic exchanges the queue is bound to.
        topics: routing keys it is bound with.
        require_exchanges: whether a missing exchange ends the session.
        queue_type: ``quorum`` or ``classic``.
        prefetch: messages the broker hands out unacknowledged.
    """

    amqp_url: str = field(repr=False)
    exchanges: tuple[str, ...] = ("nova", "neutron", "openstack", "glance")
    topics: tuple[str, ...] = ("notifications.info",)
    require_exchanges: bool = False
    queue_type: str = "quorum"
    prefetch: int = 100

    @classmethod
    def from_environment(cls, environment: Environment) -> Self:
        """Read the variables of the bus.

        Raises:
            UsageError: one is missing or malformed; names it.
        """
        return cls(
            amqp_url=environment.secret("TALLY_OSC_AMQP_URL")
            or environment.required("TALLY_OSC_AMQP_URL"),
            exchanges=environment.words("TALLY_OSC_EXCHANGES", "nova,neutron,openstack,glance"),
            topics=environment.words("TALLY_OSC_TOPICS", "notifications.info"),
            require_exchanges=environment.flag("TALLY_OSC_REQUIRE_EXCHANGES", default=False),
            queue_type=environment.choice("TALLY_OSC_QUEUE_TYPE", "quorum", QUEUE_TYPES),
            prefetch=prefetch(environment),
        )


@dataclass(frozen=True, slots=True)
class Surface:
    """What a collector shows of itself.

    Attributes:
        log_level: ``DEBUG``, ``INFO``, ``WARN`` or ``ERROR``.
        metrics_enabled: whether ``/metrics`` answers.
        address: to listen on.
        port: to listen on; 0 lets the system choose.
    """

    log_level: str = "INFO"
    metrics_enabled: bool = True
    address: str = "127.0.0.1"
    port: int = 8080

    @classmethod
    def from_environment(cls, environment: Environment) -> Self:
        """Read the variables of logs and endpoints.

        Raises:
            UsageError: one is malformed; names it.
        """
        return cls(
            log_level=environment.choice("TALLY_LOG_LEVEL", "INFO", LEVELS),
            metrics_enabled=environment.flag("TALLY_METRICS_ENABLED", default=True),
            address=environment.text("TALLY_OSC_HTTP_ADDR", "127.0.0.1"),
            port=environment.integer("TALLY_OSC_HTTP_PORT", 8080, least=0, most=65535),
        )


def prefetch(environment: Environment) -> int:
    """Read how many messages the broker hands out unacknowledged."""
    return environment.integer("TALLY_OSC_PREFETCH", 100, least=1, most=65535)
