"""The OpenAPI document is the contract: schemathesis, stateful phases on, finds no breach of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.reporting import admin
from harness.reporting.app import create_app
from harness.reporting.settings import Settings
from harness.service.listener import Listener
from harness.stack.interface import Unavailable
from harness.stack.postgresql import PrivatePostgres

SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
#: What a request that the document allows may be told: success, that there is no such thing, that
#: what is stored stands against it, that its content cannot be, that it is not implemented. Lists
#: may also refuse a cursor: only this API knows which it has issued, which no document can say.
CONFIGURATION = """
[auth.openapi]
{tokens}

[checks.positive_data_acceptance]
expected-statuses = ["2xx", 404, 409, 422, 501]

[[operations]]
include-name = {lists}

[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", 400, 404, 409, 422, 501]
"""
PHASES = "examples,coverage,fuzzing,stateful"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """The address of a migrated database of either kind."""
    if request.param == "sqlite":
        address = f"sqlite:///{tmp_path}/reporting.db"
        admin.migrate(address)
        yield address
        return
    try:
        server = PrivatePostgres()
    except Unavailable as error:
        if "local" in os.environ.get("TALLY_REQUIRE_STACKS", "").split(","):
            pytest.fail(str(error))
        pytest.skip(str(error))
    with server:
        address = server.create_database("contract")
        admin.migrate(address)
        yield address


@pytest.mark.slow
def test_no_request_leads_out_of_the_contract(url, tmp_path):
    internal = "internal-secret-of-the-test"
    reader = admin.create_api_token(url, "admin").token
    tokens = {
        "ingest": admin.create_ingest_credential(url, "openstack", "os-sim").token,
        **dict.fromkeys(("project", "read_all", "admin"), reader),
        "internal": internal,
    }
    app = create_app(Settings(db_url=url, internal_token=internal, sync_allow_at=True))
    lists = [
        f"GET {path}"
        for path, methods in app.openapi()["paths"].items()
        for parameter in methods.get("get", {}).get("parameters", ())
        if parameter["name"] == "cursor"
    ]
    configuration = tmp_path / "schemathesis.toml"
    configuration.write_text(
        CONFIGURATION.format(
            tokens="\n".join(f'{name} = {{ bearer = "{each}" }}' for name, each in tokens.items()),
            lists=json.dumps(lists),
        )
    )
    with app.state.service, Listener(app, "127.0.0.1", 0) as listener:
        done = subprocess.run(
            [
                *(SCHEMATHESIS, "--config-file", configuration),
                *("run", f"http://127.0.0.1:{listener.port}/openapi.json"),
                *("--phases", PHASES, "--checks", "all"),
                *("--mode", "all", "--max-examples", "4", "--seed", "1"),
                *("--generation-deterministic", "--suppress-health-check", "all", "--no-color"),
                *("--request-timeout", "30", "--max-time", "40"),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=280,
        )
    assert done.returncode == 0, done.stdout[-12_000:] + done.stderr[-2_000:]
    assert "Stateful" in done.stdout
