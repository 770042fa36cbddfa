"""``tally-harness engine``: meter, rate, correct and export."""

from __future__ import annotations

import argparse
import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.calendar import Period, PeriodError
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.engine import CounterSource, Engine, Outcome

_DEFAULT_SOURCES = Path("/etc/tally/counter-sources.yaml")
_MOST_LATE = 100
_VARIABLES = """
environment:
  TALLY_ENGINE_DB_URL[_FILE]                the engine's database, sqlite:///PATH or postgresql://…
  TALLY_ENGINE_REPORTING_DB_URL[_FILE]      the Reporting API's database, only read
  TALLY_ENGINE_VM_URL                       metrics store that metricsql counter sources ask
  TALLY_ENGINE_COUNTER_SOURCES              counter sources; empty for none
                                            (default /etc/tally/counter-sources.yaml, if present)
  TALLY_ENGINE_ATTRIBUTING_RELATION_TYPES   relations that move cost (default infrastructure_tenant)
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the engine's commands."""
    parser.epilog = _VARIABLES + "\n" + (parser.epilog or "")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, text: str, function: Callable[..., int]) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=f"{text}.", allow_abbrev=False)
        added.set_defaults(function=function)
        return added

    command("migrate", "Bring the engine's database to the schema of this build", _migrate)
    added = command("run", "Meter and rate a period", _run)
    _period(added)
    added.add_argument(
        "--clouds",
        type=_names,
        default=(),
        metavar="A,B",
        help="bill only resources of these clouds (default: all)",
    )
    added = command("finalize", "Close a period over a run, or let a correction stand", _finalize)
    _period(added)
    _run_id(added)
    _period(command("detect-late", "List events a finalized period has missed", _detect_late))
    _period(command("correct", "Meter a finalized period again and book the deltas", _correct))
    added = command("export", "Write a run's documents or tables into a directory", _export)
    _run_id(added)
    added.add_argument("--format", required=True, metavar="json|csv", help="documents or tables")
    added.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="a new or empty directory"
    )
    _lists(commands)


def _lists(commands: Any) -> None:
    pricing = commands.add_parser(
        "pricing", help="Import and list pricing models", allow_abbrev=False
    ).add_subparsers(metavar="COMMAND", required=True)
    added = pricing.add_parser("import", help="Import a pricing model", allow_abbrev=False)
    added.add_argument("file", metavar="FILE", help="a YAML file, or the packaged version 2026-03")
    added.set_defaults(function=_pricing_import)
    pricing.add_parser("list", help="List imported models", allow_abbrev=False).set_defaults(
        function=_pricing_list
    )
    periods = commands.add_parser(
        "periods", help="List billing periods", allow_abbrev=False
    ).add_subparsers(metavar="COMMAND", required=True)
    periods.add_parser("list", help="List billing periods", allow_abbrev=False).set_defaults(
        function=_periods_list
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen command."""
    from harness.engine import ATTRIBUTING, Engine  # noqa: PLC0415 - heavy
    from harness.service.environment import Environment  # noqa: PLC0415

    environment = Environment(os.environ)
    url = environment.secret("TALLY_ENGINE_DB_URL")
    if not url:
        raise UsageError("TALLY_ENGINE_DB_URL: must be set, sqlite:///PATH or postgresql://…")
    metering = arguments.function in {_run, _correct}
    with Engine(
        url,
        environment.secret("TALLY_ENGINE_REPORTING_DB_URL"),
        counter_sources=_sources(environment.text("TALLY_ENGINE_VM_URL")) if metering else (),
        attributing=environment.words(
            "TALLY_ENGINE_ATTRIBUTING_RELATION_TYPES", ",".join(ATTRIBUTING)
        ),
    ) as engine:
        return int(arguments.function(engine, arguments))


def _migrate(engine: Engine, _arguments: argparse.Namespace) -> int:
    engine.migrate()
    return 0


def _run(engine: Engine, arguments: argparse.Namespace) -> int:
    outcome = engine.run(str(arguments.period), arguments.clouds)
    _say_reclaimed(outcome)
    print(
        f"{outcome.period}: run {outcome.run_id} is complete, "
        f"priced by version {outcome.pricing_version}"
    )
    print(
        f"candidates {outcome.candidates}, usage records {outcome.usage_records}, "
        f"rated records {outcome.rated_records}, statements {outcome.statements}"
    )
    for run_id in outcome.superseded:
        print(f"takes the place of run {run_id}, now superseded")
    _say_warnings(outcome)
    return 0


def _correct(engine: Engine, arguments: argparse.Namespace) -> int:
    outcome = engine.correct(str(arguments.period))
    _say_reclaimed(outcome)
    print(
        f"{outcome.period}: run {outcome.run_id} corrects run {outcome.corrects_run_id}, "
        f"priced by version {outcome.pricing_version}"
    )
    print(
        f"candidates {outcome.candidates}, usage records {outcome.usage_records}, "
        f"rated records {outcome.rated_records}"
    )
    if outcome.deltas:
        print(f"deltas {outcome.deltas}, credit notes {outcome.statements}")
    else:
        print("nothing changes: deltas 0")
    for run_id in outcome.superseded:
        print(f"takes the place of correction {run_id}, now superseded")
    _say_warnings(outcome)
    return 0


def _finalize(engine: Engine, arguments: argparse.Namespace) -> int:
    finalized = engine.finalize(str(arguments.period), arguments.run_id)
    if finalized.corrects_run_id is None:
        print(f"{finalized.period} is closed over run {finalized.id}")
    else:
        print(f"{finalized.period}: correction {finalized.id} is finalized")
    return 0


def _detect_late(engine: Engine, arguments: argparse.Namespace) -> int:
    from harness.engine.instant import spell  # noqa: PLC0415 - heavy

    late = engine.detect_late(str(arguments.period))
    print(f"{late.period}: run {late.run_id} holds what was received by {spell(late.snapshot_at)}")
    if not late.resources:
        print("nothing was received since")
        return 0
    for found in late.resources[:_MOST_LATE]:
        print(
            f"{'/'.join(found.resource)}: events {found.events}, "
            f"the last one received {spell(found.last_received_at)}"
        )
    if len(late.resources) > _MOST_LATE:
        print(f"… and {len(late.resources) - _MOST_LATE} resources more")
    print(f"to bill them: tally-harness engine correct --period {late.period}")
    return 0


def _export(engine: Engine, arguments: argparse.Namespace) -> int:
    exported = engine.export(arguments.run_id, arguments.format, arguments.out)
    correction = exported.kind == "correction"
    print(f"{exported.period}: run {exported.run_id} is in {arguments.out} as {arguments.format}")
    if arguments.format == "json":
        noun = "credit notes" if correction else "statements"
        print(f"run.json and {exported.statements} {noun}")
        return 0
    print(f"rated.csv: rated records {exported.rated_records}")
    if exported.deltas is not None:
        print(f"deltas.csv: deltas {exported.deltas}")
    return 0


def _pricing_import(engine: Engine, arguments: argparse.Namespace) -> int:
    from harness.engine.instant import spell  # noqa: PLC0415 - heavy

    model, new = engine.import_pricing(arguments.file)
    if new:
        print(f"version {model.version} is imported; it is valid from {spell(model.valid_from)} on")
    else:
        print(f"version {model.version} was imported before; nothing changes")
    return 0


def _pricing_list(engine: Engine, _arguments: argparse.Namespace) -> int:
    models = engine.pricing_models()
    for model in models:
        print(model)
    if not models:
        print("no pricing model is imported")
    return 0


def _periods_list(engine: Engine, _arguments: argparse.Namespace) -> int:
    from harness.engine.runs import describe  # noqa: PLC0415 - heavy

    listed = engine.periods()
    for period in listed:
        print(describe(period))
    if not listed:
        print("no period was billed yet")
    return 0


def _say_reclaimed(outcome: Outcome) -> None:
    for run_id in outcome.reclaimed:
        print(f"run {run_id} was interrupted and is booked as failed")


def _say_warnings(outcome: Outcome) -> None:
    """Print what the run warns of, and how much of each kind its stats hold."""
    stats = outcome.stats
    for name in ("counter_warnings", "attribution_warnings"):
        for warning in stats.get(name, ()):
            if "resource_id" not in warning:
                print(f"{warning['code']}: {warning['detail']}")
    counts = [
        (len(stats.get(name, ())), noun)
        for name, noun in (
            ("metering_warnings", "metering"),
            ("counter_warnings", "counter"),
            ("attribution_warnings", "attribution"),
            ("unpriced", "unpriced resource types"),
            ("unreadable", "unreadable fields"),
            ("unregistered_projects", "unregistered projects"),
        )
    ]
    if any(count for count, _ in counts):
        listed = ", ".join(f"{noun} {count}" for count, noun in counts)
        print(f"the run's stats hold warnings: {listed}")


def _sources(metrics_url: str) -> tuple[CounterSource, ...]:
    from harness.engine import read_sources  # noqa: PLC0415 - heavy

    named = os.environ.get("TALLY_ENGINE_COUNTER_SOURCES")
    if named == "" or (named is None and not _DEFAULT_SOURCES.exists()):
        return ()
    return read_sources(Path(named or _DEFAULT_SOURCES), metrics_url=metrics_url)


def _period(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--period", required=True, type=_month, metavar="YYYY-MM", help="the billing period, UTC"
    )


def _run_id(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--run", dest="run_id", required=True, type=_uuid, metavar="ID", help="id of the run"
    )


def _month(text: str) -> Period:
    try:
        return Period.parse(text)
    except PeriodError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _uuid(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f'"{text}" is not a uuid') from error


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError(f'"{text}" has an empty member; list clouds as a,b')
    return names
