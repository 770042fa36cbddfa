"""What a call of ``tally-harness run`` asks for, checked before anything is touched."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from harness.calendar import DurationError, Period, PeriodError, parse_duration, rfc3339
from harness.cli.publishing_flags import read_factor, read_wait, refuse_elsewhere
from harness.errors import UsageError
from harness.month import check_cloud, check_faults, check_seed
from harness.month.inputs import MOST_SEED
from harness.oracle.traffic import check_interval
from harness.service import log
from harness.service.environment import Environment

if TYPE_CHECKING:  # a run that writes files pays for none of these
    from harness.cloud.push import Target
    from harness.cloud.registration import Registry

CLOUD = "os-sim"
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Publishing:
    """Where and how a month is published.

    Attributes:
        url: of the broker; never shown.
        factor: virtual seconds in one of the wall.
        wait: seconds to wait for a consumer.
        address: where the cloud's faces listen.
        port: likewise; 0 lets the system choose.
        metrics: whether ``/metrics`` is there.
        target: where metrics are pushed, None for nowhere.
    """

    url: str = field(repr=False)
    factor: float
    wait: float
    address: str
    port: int
    metrics: bool
    target: Target | None


@dataclass(frozen=True, slots=True)
class Options:
    """What a call asks for.

    Attributes:
        log_level: one of the four.
        cloud: name of the cloud.
        period: a month that is over.
        seed: 0 to 2**64 - 1.
        metrics_interval: whole seconds.
        faults: switches, in canonical order.
        factor: as given, for the log.
        out: directory of the files, None for no files.
        publishing: None for a run that writes files only.
        registry: where projects are registered, None for nowhere.
    """

    log_level: str
    cloud: str
    period: Period
    seed: int
    metrics_interval: int
    faults: tuple[str, ...]
    factor: float
    out: Path | None
    publishing: Publishing | None
    registry: Registry | None


def read_options(arguments: argparse.Namespace, variables: Mapping[str, str]) -> Options:
    """Check environment and flags, in a fixed order.

    Raises:
        UsageError: names the flag or variable, the value, and the accepted form.
    """
    environment = Environment(variables)
    level = environment.choice("TALLY_LOG_LEVEL", "INFO", log.LEVELS)
    url = environment.secret("TALLY_SIM_AMQP_URL")
    address = environment.text("TALLY_SIM_HTTP_ADDR", "127.0.0.1")
    port = environment.integer("TALLY_SIM_HTTP_PORT", 8080, least=0, most=65535)
    metrics = environment.flag("TALLY_METRICS_ENABLED", default=True)
    cloud = _read_cloud(arguments.cloud, environment)
    period = _read_period(arguments.period)
    seed = _named("--seed", _read_seed, arguments.seed)
    factor = read_factor(arguments.factor)
    wait = read_wait(arguments.wait)
    interval = _read_interval(arguments.metrics_interval)
    faults = _named("--faults", _read_faults, arguments.faults)
    publishing = None
    if url:
        target = _read_target(environment)
        publishing = Publishing(url, factor, wait, address, port, metrics, target)
    registry = _read_registry(environment, cloud) if arguments.register == "true" else None
    if url:
        refuse_elsewhere(url, allowed=arguments.allow_remote_broker)
    elif arguments.out is None:
        raise UsageError("a run needs somewhere to put the month: TALLY_SIM_AMQP_URL, or --out DIR")
    return Options(
        log_level=level,
        cloud=cloud,
        period=period,
        seed=seed,
        metrics_interval=interval,
        faults=faults,
        factor=factor,
        out=arguments.out,
        publishing=publishing,
        registry=registry,
    )


def _named(flag: str, read: Callable[[str], _Value], text: str) -> _Value:
    """Read the value of a flag; what is wrong with it is said behind the flag's name."""
    try:
        return read(text)
    except UsageError as error:
        raise UsageError(f"{flag}: {error}") from error


def _read_cloud(flag: str | None, environment: Environment) -> str:
    if flag is not None:
        return _named("--cloud", check_cloud, flag)
    return _named("TALLY_SIM_CLOUD", check_cloud, environment.text("TALLY_SIM_CLOUD", CLOUD))


def _read_period(text: str) -> Period:
    try:
        period = Period.parse(text)
    except PeriodError as error:
        raise UsageError(f"--period: {error}") from error
    if not period.has_ended():
        raise UsageError(
            f"--period: {period} runs until {rfc3339(period.end)}, and only a month that is over "
            f"can be billed; the last one is {Period.last_ended()}"
        )
    return period


def _read_seed(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,20}", text):
        raise UsageError(f'"{text[:40]}" must be a whole number from 0 to {MOST_SEED}')
    return check_seed(int(text))


def _read_interval(text: str) -> int:
    try:
        return check_interval(parse_duration(text))
    except DurationError as error:
        raise UsageError(f"--metrics-interval: {error}") from error


def _read_faults(text: str) -> tuple[str, ...]:
    return check_faults(text.split(",") if text else ())


def _read_target(environment: Environment) -> Target | None:
    from harness.cloud.push import Target  # noqa: PLC0415 - a run that pushes nothing needs none

    name = "TALLY_SIM_OTLP_URL"
    url = environment.text(name)
    user = environment.text("TALLY_SIM_OTLP_USER")
    password = environment.secret("TALLY_SIM_OTLP_PASSWORD")
    if not url:
        return None
    for member, value in (("USER", user), ("PASSWORD", password)):
        if not value:
            raise UsageError(f"TALLY_SIM_OTLP_{member}: {name} needs it; set both or neither")
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(f"{name}: write http(s)://HOST[:PORT]/PATH")
    if "@" in parts.netloc or set("?#") & set(url):
        raise UsageError(
            f"{name}: leave out user, query and fragment; the credential of a push is "
            "TALLY_SIM_OTLP_USER and TALLY_SIM_OTLP_PASSWORD"
        )
    if parts.scheme == "http" and not environment.flag("TALLY_SIM_OTLP_INSECURE", default=False):
        raise UsageError(
            f"{name}: a password travels on it, so use https, or allow plain http by "
            "TALLY_SIM_OTLP_INSECURE=true"
        )
    return Target(url, user, password)


def _read_registry(environment: Environment, cloud: str) -> Registry:
    from harness.cloud.registration import Registry  # noqa: PLC0415 - likewise

    url = environment.http_url("TALLY_SIM_REPORTING_URL", insecure="TALLY_SIM_REPORTING_INSECURE")
    token = environment.token("TALLY_SIM_API_TOKEN")
    if not token:
        raise UsageError("TALLY_SIM_API_TOKEN: must be set, --register-projects logs in with it")
    garden = environment.required("TALLY_SIM_GARDEN_CLOUD")
    if garden == cloud:
        raise UsageError(
            f'TALLY_SIM_GARDEN_CLOUD: "{garden}" is the cloud of the tenants; name another one'
        )
    return Registry(url, token, garden)
