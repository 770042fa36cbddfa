"""``tally-harness reporting``: serve the reference Reporting API, or administer its database."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any

from harness.errors import UsageError
from harness.service.environment import Environment

_DB_URL = "TALLY_REPORTING_DB_URL"
_VARIABLES = """
environment; NAME[_FILE] may stand in a file that NAME_FILE names:
  TALLY_REPORTING_DB_URL[_FILE]               sqlite:///PATH or postgresql://… (required)
  TALLY_REPORTING_DB_MAX_CONNS                most connections to it (default 10)
  TALLY_REPORTING_HTTP_ADDR, _HTTP_PORT       where it listens (default 127.0.0.1, 8080; port 0: the
                                              system chooses)
  TALLY_REPORTING_AUTH_MODE                   disabled asks for no token (default enforced)
  TALLY_REPORTING_INTERNAL_TOKEN[_FILE]       token of /internal/*; empty closes it (default empty)
  TALLY_INGEST_REQUIRE_SIZE_SCHEMA            true refuses sizes of types without a schema
                                              (default false)
  TALLY_REPORTING_ATTRIBUTING_RELATION_TYPES  relations that move cost (default
                                              infrastructure_tenant)
  TALLY_REPORTING_CLOUDS_CONFIG               file of the clouds to reconcile with (default none)
  TALLY_REPORTING_SYNC_ALLOW_AT               true lets a sync be told its instant (default false)
  TALLY_REPORTING_SYNC_BUDGET_S               most seconds of a sync (default 45)
  TALLY_REPORTING_SYNC_SETTLE_S               seconds a change is left alone by a sync (default 60)
  TALLY_REPORTING_METRICS_REFRESH_S           seconds between two counts of resources (default 60)
  TALLY_REPORTING_UNHEALTHY_THRESHOLD_S       seconds without a database until /healthz says so
                                              (default 600)
  TALLY_METRICS_ENABLED                       false takes /metrics away (default true)
  TALLY_LOG_LEVEL                             DEBUG, INFO, WARN or ERROR (default INFO)

SIGTERM and SIGINT end it with status 0.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the subcommands."""
    commands = parser.add_subparsers(dest="reporting", metavar="COMMAND", required=True)
    serve = commands.add_parser(
        "serve",
        help="Serve the API",
        description="Serve the API. Takes no flags, and migrates nothing.",
        epilog=_VARIABLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    serve.set_defaults(step=_serve)
    admin = commands.add_parser(
        "admin",
        help="Administer the database",
        description=f"Administer the database that {_DB_URL} (or {_DB_URL}_FILE) names.",
        allow_abbrev=False,
    )
    _configure_admin(admin.add_subparsers(dest="admin", metavar="COMMAND", required=True))


def _configure_admin(commands: Any) -> None:
    def command(name: str, step: Callable[[argparse.Namespace], int], text: str) -> Any:
        parser = commands.add_parser(name, help=text, description=f"{text}.", allow_abbrev=False)
        parser.set_defaults(step=step)
        return parser

    command("migrate", _migrate, "Bring the database to the newest schema version")
    command("migrate-status", _migrate_status, "Tell the database's schema version")
    down = command("migrate-down-to", _migrate_down_to, "Go back to an older schema version")
    down.add_argument("version", help="0 for none")
    down.add_argument("--yes", action="store_true", help="do it: what was added since is dropped")
    ingest = command(
        "create-ingest-credential", _create_ingest_credential, "Make a token that writes events"
    )
    ingest.add_argument("--platform", required=True, help="platform of the events")
    ingest.add_argument("--cloud", required=True, help="cloud of the events")
    ingest.add_argument("--description", help="what it is for")
    api = command("create-api-token", _create_api_token, "Make a token that reads")
    api.add_argument("--role", required=True, help="project, read_all or admin")
    api.add_argument(
        "--project-id",
        action="append",
        default=[],
        metavar="ID",
        help="registry id of a project a token of role project may see; repeatable",
    )
    for name, text in (("create-meta-project", "meta"), ("create-partner", "partner")):
        virtual = command(name, _create_project, f"Register a {text} project")
        virtual.add_argument("--external-id", required=True, help="what it is called outside")
        virtual.add_argument("--name", help="what people call it")
        virtual.set_defaults(platform=text)
    command("revoke-api-token", _revoke_api_token, "Close an api token for good").add_argument(
        "id", help="as create-api-token printed it"
    )
    command(
        "revoke-ingest-credential", _revoke_ingest_credential, "Close an ingest token for good"
    ).add_argument("id", help="as create-ingest-credential printed it")


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand."""
    return int(arguments.step(arguments))


def _serve(_: argparse.Namespace) -> int:
    from harness.reporting.process import serve  # noqa: PLC0415 - see the package's docstring
    from harness.reporting.settings import Settings  # noqa: PLC0415 - likewise

    return serve(Settings.from_environment(Environment(os.environ)))


def _admin() -> Any:
    from harness.reporting import admin  # noqa: PLC0415 - see the package's docstring

    return admin


def _url() -> str:
    url = Environment(os.environ).secret(_DB_URL)
    if not url:
        raise UsageError(f"{_DB_URL}: must be set, to sqlite:///PATH or postgresql://…")
    return url


def _migrate(_: argparse.Namespace) -> int:
    print(f"schema version {_admin().migrate(_url()).current}")
    return 0


def _migrate_status(_: argparse.Namespace) -> int:
    status = _admin().status(_url())
    print(f"schema version {status.current}, newest {status.newest}")
    return 0 if status.ready else 1


def _migrate_down_to(arguments: argparse.Namespace) -> int:
    if not arguments.yes:
        raise UsageError("going back drops tables with what they hold; add --yes to do it")
    print(f"schema version {_admin().migrate_down_to(_url(), arguments.version).current}")
    return 0


def _create_ingest_credential(arguments: argparse.Namespace) -> int:
    return _show(
        "ingest_credentials",
        _admin().create_ingest_credential(
            _url(), arguments.platform, arguments.cloud, arguments.description
        ),
    )


def _create_api_token(arguments: argparse.Namespace) -> int:
    return _show(
        "api_tokens", _admin().create_api_token(_url(), arguments.role, arguments.project_id)
    )


def _show(table: str, issued: Any) -> int:
    """Put the token alone on stdout, so that it can be piped into a file."""
    print(issued.token)
    print(f"created {table} {issued.id}", file=sys.stderr)
    print("store the token above now: it is shown this once", file=sys.stderr)
    return 0


def _create_project(arguments: argparse.Namespace) -> int:
    print(
        _admin().create_project(_url(), arguments.platform, arguments.external_id, arguments.name)
    )
    return 0


def _revoke_api_token(arguments: argparse.Namespace) -> int:
    return _revoked(
        "api_tokens", arguments.id, done=_admin().revoke_api_token(_url(), arguments.id)
    )


def _revoke_ingest_credential(arguments: argparse.Namespace) -> int:
    done = _admin().revoke_ingest_credential(_url(), arguments.id)
    return _revoked("ingest_credentials", arguments.id, done=done)


def _revoked(table: str, row_id: str, *, done: bool) -> int:
    print(f"revoked {table} {row_id}" if done else f"{table} {row_id}: already revoked")
    return 0
