"""Registering a month's projects at the reference Reporting API."""

import json
import signal
import subprocess
import sys
import time
from collections import deque

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from harness.calendar import Period
from harness.cloud.registration import Registration, RegistrationError, Registry
from harness.month import generate
from harness.reporting import admin
from harness.reporting.app import create_app
from harness.reporting.settings import Settings
from harness.service.listener import Listener


@pytest.fixture
def reporting(tmp_path):
    """A Reporting API with an empty database; gives what registers at it."""
    database = f"sqlite:///{tmp_path}/reporting.db"
    admin.migrate(database)
    token = admin.create_api_token(database, "admin").token
    app = create_app(Settings(db_url=database))
    with Listener(app, "127.0.0.1", 0) as listener:
        yield Registry(f"http://127.0.0.1:{listener.port}", token, "garden-sim")


def counts(registry, month):
    registration = Registration(registry, month)
    registration.run()
    return tuple(registration.tally.fields().values())


def test_a_month_registers_eight_projects_and_two_relations_once(reporting, month, caplog):
    caplog.set_level("INFO")
    assert counts(reporting, month) == (8, 0, 2, 0)
    assert counts(reporting, month) == (0, 8, 0, 2)
    registered = [r.fields for r in caplog.records if r.getMessage() == "registered project"]
    assert [row["external_id"] for row in registered] == [
        *(tenant.project_id for tenant in month.tenants),
        "alpha",
        "beta",
    ]
    related = [r.fields for r in caplog.records if r.getMessage() == "related"]
    assert [row["source"] for row in related] == ["(garden-sim, alpha)", "(garden-sim, beta)"]
    assert reporting.token not in caplog.text
    assert reporting.token not in repr(reporting)


def test_another_seed_on_the_same_garden_is_refused_with_the_way_out(reporting, month):
    counts(reporting, month)
    other = generate(2, month.period, "os-sim")
    with pytest.raises(RegistrationError, match="A relation cannot end before it begins"):
        counts(reporting, other)
    later = generate(1, Period(2026, 8), "os-sim")
    with pytest.raises(RegistrationError, match="End the older one at 2026-08-01T00:00:00Z"):
        counts(reporting, later)


def test_another_garden_cloud_is_a_way_out(reporting, month):
    counts(reporting, month)
    other = generate(2, month.period, "os-sim")
    elsewhere = Registry(reporting.url, reporting.token, "garden-2")
    assert counts(elsewhere, other)[2:] == (2, 0)


def test_a_token_of_another_role_says_which_is_needed(reporting, month):
    wrong = Registry(reporting.url, "guess", "garden-sim")
    with pytest.raises(RegistrationError, match="answered with 401") as caught:
        counts(wrong, month)
    assert "role admin" in str(caught.value)
    assert "guess" not in str(caught.value)


class Scripted:
    """Answers with what it is given, in order."""

    def __init__(self, *answers):
        self.answers = deque(answers)

    async def answer(self, _):
        status, body = self.answers.popleft()
        text = body if isinstance(body, str) else json.dumps(body)
        return Response(text, status, headers={"Location": "/elsewhere"})


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        ([(500, "x" * 2000)], "answered with 500: " + "x" * 512),
        ([(307, "")], "answered with 307"),
        ([(201, "nonsense")], "Expecting value"),
        ([(201, {})], "gave it no id"),
        ([(409, "taken"), (200, {"items": []})], "0 projects are listed"),
        ([(409, "taken"), (200, {"items": [{"id": "a"}, {"id": "b"}]})], "2 projects are listed"),
        ([(201, '"' + "x" * (1 << 20) + '"')], "over 1 MiB"),
    ],
    ids=range(7),
)
def test_odd_answers(serve, month, caplog, answers, text):
    scripted = Scripted(*answers)
    client = serve(
        Starlette(routes=[Route("/{path:path}", scripted.answer, methods=["GET", "POST"])])
    )
    with pytest.raises(RegistrationError) as caught:
        counts(Registry(client.base, "hidden", "garden-sim"), month)
    assert text in str(caught.value)
    assert not scripted.answers
    assert "hidden" not in str(caught.value)
    (incomplete,) = [r for r in caplog.records if r.getMessage() == "registration incomplete"]
    assert incomplete.fields["projects_created"] == 0


def test_nobody_answers(month):
    with pytest.raises(RegistrationError, match="POST /api/v1/projects: ConnectionError"):
        counts(Registry("http://127.0.0.1:9", "t", "garden-sim"), month)


def test_a_run_registers_before_it_writes(reporting, month, tmp_path, capsys, monkeypatch):
    from harness.cli import main  # noqa: PLC0415 - only here

    monkeypatch.delenv("TALLY_SIM_AMQP_URL", raising=False)
    monkeypatch.setenv("TALLY_SIM_REPORTING_URL", reporting.url)
    monkeypatch.setenv("TALLY_SIM_REPORTING_INSECURE", "true")
    monkeypatch.setenv("TALLY_SIM_GARDEN_CLOUD", "garden-sim")
    call = ["run", "--period=2026-07", "--register-projects", f"--out={tmp_path / 'out'}"]
    monkeypatch.setenv("TALLY_SIM_API_TOKEN", "guess")
    assert main(call) == 1
    assert not (tmp_path / "out").exists()
    monkeypatch.setenv("TALLY_SIM_API_TOKEN", reporting.token)
    assert main(call) == 0
    assert (tmp_path / "out" / "oracle.json").exists()
    assert counts(reporting, month) == (0, 8, 0, 2)


def test_a_signal_while_registering_ends_cleanly(serve, tmp_path):
    async def dawdle(_):
        import asyncio  # noqa: PLC0415 - only here

        await asyncio.sleep(3)
        return PlainTextResponse("late", 500)

    client = serve(Starlette(routes=[Route("/{path:path}", dawdle, methods=["POST"])]))
    environment = {
        "PATH": "/usr/bin:/bin",
        "TALLY_SIM_REPORTING_URL": client.base,
        "TALLY_SIM_REPORTING_INSECURE": "true",
        "TALLY_SIM_API_TOKEN": "t",
        "TALLY_SIM_GARDEN_CLOUD": "garden-sim",
    }
    call = [
        sys.executable, "-m", "harness", "run", "--period=2026-07", "--register-projects",
        f"--out={tmp_path / 'out'}",
    ]  # fmt: skip
    with subprocess.Popen(call, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert json.loads(process.stdout.readline())["msg"] == "starting"
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert json.loads(process.stdout.readline())["msg"] == "stopped"
        assert process.wait(30) == 0
    assert not (tmp_path / "out").exists()
