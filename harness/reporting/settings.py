"""What the Reporting API is told by its environment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from harness.errors import UsageError
from harness.service.environment import Environment
from harness.service.log import LEVELS

#: Relation types that say who belongs to whom and never attribute cost.
ORGANISING = ("member_of", "managed_by")


@dataclass(frozen=True, slots=True, repr=False)
class Settings:
    """How one Reporting API runs. ``repr`` shows neither the token nor the database's password.

    Attributes:
        db_url: ``sqlite:///PATH`` or ``postgresql://…``.
        db_connections: most database connections held at once.
        address: address to listen on.
        port: port to listen on; 0 lets the system choose.
        authenticated: whether tokens are asked for; without, everyone is an admin.
        internal_token: the shared secret of ``/internal/*``; empty closes it.
        unhealthy_after: seconds of an unusable database after which ``/healthz`` says so.
        require_size_schema: refuse sizes of types without a schema.
        attributing: relation types that move cost, none of which may close a cycle.
        clouds: the file of clouds to reconcile with.
        sync_allow_at: whether a sync may be told its instant.
        sync_budget: most seconds a sync may take.
        sync_settle: seconds a change is left to settle before a sync corrects it.
        metrics: whether ``/metrics`` is served.
        metrics_refresh: seconds between two counts of the resources.
        log_level: least level that is logged.
    """

    db_url: str
    db_connections: int = 10
    address: str = "127.0.0.1"
    port: int = 8080
    authenticated: bool = True
    internal_token: str = ""
    unhealthy_after: float = 600
    require_size_schema: bool = False
    attributing: tuple[str, ...] = ("infrastructure_tenant",)
    clouds: Path | None = None
    sync_allow_at: bool = False
    sync_budget: float = 45
    sync_settle: float = 60
    metrics: bool = True
    metrics_refresh: float = 60
    log_level: str = "INFO"

    def __repr__(self) -> str:
        return f"Settings({self.db_url.partition(':')[0]}, {self.address}:{self.port})"

    @classmethod
    def from_environment(cls, environment: Environment) -> Self:
        """Read the ``TALLY_REPORTING_*`` variables.

        Raises:
            UsageError: one of them is missing or wrong.
        """
        db_url = environment.secret("TALLY_REPORTING_DB_URL")
        if not db_url:
            raise UsageError(
                "TALLY_REPORTING_DB_URL: must be set, to sqlite:///PATH or postgresql://…"
            )
        if environment.text("TALLY_REPORTING_OIDC_JWKS_URL"):
            raise UsageError(
                "TALLY_REPORTING_OIDC_JWKS_URL: must not be set; OIDC is not supported"
            )
        attributing = environment.words(
            "TALLY_REPORTING_ATTRIBUTING_RELATION_TYPES", "infrastructure_tenant"
        )
        for word in attributing:
            if word in ORGANISING:
                raise UsageError(
                    f'TALLY_REPORTING_ATTRIBUTING_RELATION_TYPES: "{word}" organises projects and'
                    " cannot attribute cost; name other relation types"
                )
        clouds = environment.text("TALLY_REPORTING_CLOUDS_CONFIG")
        mode = environment.choice("TALLY_REPORTING_AUTH_MODE", "enforced", ("enforced", "disabled"))
        return cls(
            db_url=db_url,
            db_connections=environment.integer(
                "TALLY_REPORTING_DB_MAX_CONNS", 10, least=1, most=1000
            ),
            address=environment.text("TALLY_REPORTING_HTTP_ADDR", "127.0.0.1"),
            port=environment.integer("TALLY_REPORTING_HTTP_PORT", 8080, least=0, most=65535),
            authenticated=mode == "enforced",
            internal_token=environment.token("TALLY_REPORTING_INTERNAL_TOKEN"),
            unhealthy_after=environment.seconds(
                "TALLY_REPORTING_UNHEALTHY_THRESHOLD_S", 600, least=1, most=86400
            ),
            require_size_schema=environment.flag("TALLY_INGEST_REQUIRE_SIZE_SCHEMA", default=False),
            attributing=attributing,
            clouds=Path(clouds) if clouds else None,
            sync_allow_at=environment.flag("TALLY_REPORTING_SYNC_ALLOW_AT", default=False),
            sync_budget=environment.seconds(
                "TALLY_REPORTING_SYNC_BUDGET_S", 45, least=1, most=86400
            ),
            sync_settle=environment.seconds(
                "TALLY_REPORTING_SYNC_SETTLE_S", 60, least=0, most=3600
            ),
            metrics=environment.flag("TALLY_METRICS_ENABLED", default=True),
            metrics_refresh=environment.seconds(
                "TALLY_REPORTING_METRICS_REFRESH_S", 60, least=0, most=3600
            ),
            log_level=environment.choice("TALLY_LOG_LEVEL", "INFO", LEVELS),
        )
