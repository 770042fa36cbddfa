"""The options of a drill as tables; the command line and the plugin derive theirs from them.

Nothing here is heavy, and what reads a text is imported when there is one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

STACKS = ("auto", "containers", "local", "embedded", "external")


class Option(NamedTuple):
    """One option.

    Attributes:
        name: ``seed`` gives ``--seed`` on the command line; in pytest the flag ``--tally-seed``,
            the ini key ``tally_seed`` and the environment name ``TALLY_SEED``.
        metavar: what stands for the value in the help; empty for a switch.
        help: one sentence, without the default.
        default: the default in words, as help and README show it.
        check: reads a text or raises `harness.errors.UsageError`; None accepts any text.
        variable: another environment name than the derived one.
        value: what an absent option resolves to.
        repeatable: the flag may be given more than once; texts are joined by line feeds.
        stack: what `harness.stack.Options` calls it, for what is handed on to the stack.
    """

    name: str
    metavar: str
    help: str
    default: str
    check: Callable[[str], Any] | None = None
    variable: str = ""
    value: str = ""
    repeatable: bool = False
    stack: str = ""

    @property
    def dest(self) -> str:
        """Attribute of pytest's ``config.option``, and the ini key."""
        return f"tally_{self.name.replace('-', '_')}"

    @property
    def flag(self) -> str:
        """The flag of pytest."""
        return f"--tally-{self.name}"

    @property
    def environment(self) -> str:
        """The environment name."""
        return self.variable or self.dest.upper()


def _seeds(text: str) -> object:
    from harness.drill.grammar import seeds  # noqa: PLC0415 - see above

    return seeds(text)


def _period(text: str) -> object:
    from harness.drill.grammar import period  # noqa: PLC0415 - see above

    return period(text)


def _cloud(text: str) -> object:
    from harness.drill.grammar import cloud  # noqa: PLC0415 - see above

    return cloud(text)


def _faults(text: str) -> object:
    from harness.drill.grammar import faults  # noqa: PLC0415 - see above

    return faults(text)


def _stack(text: str) -> object:
    return _one_of(text, STACKS)


def _switch(text: str) -> object:
    return _one_of(text, ("true", "false"))


def _seconds(text: str) -> object:
    from harness.errors import UsageError  # noqa: PLC0415 - see above

    if not text.isascii() or not text.replace(".", "", 1).isdigit() or float(text) == 0:
        raise UsageError(f'"{text}" is no number of seconds; write one like 90 or 2.5')
    return float(text)


def _one_of(text: str, accepted: tuple[str, ...]) -> str:
    from harness.errors import UsageError  # noqa: PLC0415 - see above

    if text not in accepted:
        raise UsageError(f'"{text}" must be one of {", ".join(accepted)}')
    return text


#: Which months, and where.
MONTHS: tuple[Option, ...] = (
    Option(
        "seed",
        "SEEDS",
        "seeds of the months to drill: 1..5 or 1,3,7",
        "none, nothing is drilled",
        _seeds,
    ),
    Option("period", "YYYY-MM", "month to simulate", "the last month that has ended", _period),
    Option(
        "cloud",
        "NAME",
        "name of the simulated cloud",
        "os-sim",
        _cloud,
        "TALLY_SIM_CLOUD",
        "os-sim",
    ),
    Option("faults", "A,B", "fault switches of the months", "none", _faults),
    Option("stack", "KIND", f"where months run: {', '.join(STACKS)}", "auto", _stack, value="auto"),
)
#: What a kind of stack can be told.
STACK: tuple[Option, ...] = (
    Option(
        "rabbitmq-image",
        "IMAGE",
        "containers: image of the broker, one with the management plugin",
        "a pinned tag",
        stack="rabbitmq_image",
    ),
    Option(
        "reporting-image",
        "IMAGE",
        "containers: image of this project",
        "tally-harness:VERSION",
        stack="reporting_image",
    ),
    Option(
        "keep-stack",
        "",
        "containers: leave everything running and say how to reach and remove it",
        "off",
        _switch,
        value="false",
        stack="keep",
    ),
    Option(
        "reuse-stack",
        "",
        "containers: take the broker an earlier run kept",
        "off",
        _switch,
        value="false",
        stack="reuse",
    ),
    Option(
        "reporting-db-url",
        "URL",
        "local: PostgreSQL server, or private; external: the Reporting API's database",
        "SQLite",
        variable="TALLY_STACK_REPORTING_DB_URL",  # the service has one without STACK
        stack="reporting_db_url",
    ),
    Option("amqp-url", "URL", "external: broker to publish to", "none", stack="amqp_url"),
    Option(
        "allow-remote-broker",
        "",
        "external: publish to a broker on another machine, which books real usage",
        "off",
        _switch,
        value="false",
        stack="allow_remote_broker",
    ),
    Option(
        "reporting-url",
        "URL",
        "external: Reporting API to read from",
        "none",
        stack="reporting_url",
    ),
    Option(
        "ingest-token-file",
        "FILE",
        "external: file with the ingest token",
        "TALLY_INGEST_TOKEN",
        stack="ingest_token_file",
    ),
    Option(
        "api-token-file",
        "FILE",
        "external: file with an api token of role admin",
        "TALLY_API_TOKEN",
        stack="api_token_file",
    ),
    Option(
        "internal-token-file",
        "FILE",
        "external: file with the internal token",
        "TALLY_INTERNAL_TOKEN",
        stack="internal_token_file",
    ),
    Option(
        "collector-metrics-url",
        "URL",
        "external: metrics page of the collector",
        "none, its counters are not judged",
        stack="collector_metrics_url",
    ),
    Option(
        "engine-db-url",
        "URL",
        "external: database for this project's engine to work in",
        "none",
        stack="engine_db_url",
    ),
    Option(
        "export",
        "DIR",
        "external: judge the export an installed engine wrote",
        "none",
        stack="export",
    ),
    Option(
        "start-timeout",
        "SECONDS",
        "seconds a single service may take to become ready",
        "90",
        _seconds,
        stack="start_timeout",
    ),
)
