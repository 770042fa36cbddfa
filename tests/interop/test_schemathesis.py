"""The OpenAPI document is the contract: schemathesis, stateful phases on, finds no breach of it."""

from __future__ import annotations

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
#: Left out: tokens are held to every route by a table of tests of their own, and a well-formed
#: cursor or target id may still name nothing there is.
EXCLUDED = "ignored_auth,positive_data_acceptance"
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
    app = create_app(Settings(db_url=url, authenticated=False, sync_allow_at=True))
    with app.state.service, Listener(app, "127.0.0.1", 0) as listener:
        done = subprocess.run(
            [
                *(SCHEMATHESIS, "run", f"http://127.0.0.1:{listener.port}/openapi.json"),
                *("--phases", PHASES, "--checks", "all", "--exclude-checks", EXCLUDED),
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
