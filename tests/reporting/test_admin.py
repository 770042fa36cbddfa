"""The admin commands, and a service that is told nonsense by its environment."""

import re

import pytest

from harness.cli.main import main
from harness.reporting.settings import Settings
from harness.service.environment import Environment


@pytest.fixture
def admin(sqlite_url, monkeypatch, capsys):
    """Runs an admin command; returns its exit status, stdout and stderr."""
    monkeypatch.setenv("TALLY_REPORTING_DB_URL", sqlite_url)

    def run(*arguments):
        status = main(["reporting", "admin", *arguments])
        return status, *capsys.readouterr()

    return run


CREDENTIAL = ("create-ingest-credential", "--platform", "openstack", "--cloud", "os-sim")


@pytest.mark.parametrize(
    ("create", "prefix", "table", "revoke"),
    [
        (CREDENTIAL, "tly_i_", "ingest_credentials", "revoke-ingest-credential"),
        (
            ("create-api-token", "--role", "read_all"),
            "tly_a_",
            "api_tokens",
            "revoke-api-token",
        ),
    ],
)
def test_a_token_is_alone_on_stdout_and_revoked_once(admin, create, prefix, table, revoke):
    status, out, err = admin(*create)
    assert status == 0
    assert re.fullmatch(prefix + "[0-9a-f]{64}\n", out)
    assert out.strip() not in err
    row = re.match(f"created {table} ([0-9a-f-]{{36}})\n", err)[1]
    assert admin(revoke, row) == (0, f"revoked {table} {row}\n", "")
    assert admin(revoke, row) == (0, f"{table} {row}: already revoked\n", "")
    status, out, err = admin(revoke, "nobody")
    assert (status, out) == (1, "")
    assert "nobody" in err


def test_a_project_token_names_registered_projects(admin):
    status, out, _ = admin("create-partner", "--external-id", "one")
    assert status == 0
    limited = ("create-api-token", "--role", "project")
    assert admin(*limited, "--project-id", out.strip())[0] == 0
    assert admin(*limited, "--project-id", "unknown")[0] == 1
    assert admin(*limited)[0] == 2
    assert admin("create-api-token", "--role", "admin", "--project-id", out.strip())[0] == 2
    assert admin("create-api-token", "--role", "king")[0] == 2
    assert admin("create-partner", "--external-id", "one")[0] == 1
    assert admin("create-meta-project", "--external-id", "one", "--name", "One")[0] == 0
    assert admin(*CREDENTIAL[:-1], "meta")[0] == 2


def test_migrations_are_told_and_taken_back_only_on_request(admin):
    assert admin("migrate-status")[0] == 0
    status, _, err = admin("migrate-down-to", "0")
    assert (status, "--yes" in err) == (2, True)
    assert admin("migrate-down-to", "0", "--yes")[0] == 0
    assert admin("migrate-status")[0] == 1
    assert admin("migrate")[0] == 0
    assert admin("migrate-status")[0] == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TALLY_REPORTING_DB_URL", ""),
        ("TALLY_REPORTING_DB_URL", "mysql://u:hunter2@h/d"),
        ("TALLY_REPORTING_DB_URL_FILE", "/nowhere"),
        ("TALLY_REPORTING_DB_MAX_CONNS", "0"),
        ("TALLY_REPORTING_HTTP_PORT", "65536"),
        ("TALLY_REPORTING_AUTH_MODE", "off"),
        ("TALLY_REPORTING_UNHEALTHY_THRESHOLD_S", "0"),
        ("TALLY_REPORTING_OIDC_JWKS_URL", "https://example.org/keys"),
        ("TALLY_INGEST_REQUIRE_SIZE_SCHEMA", "yes"),
        ("TALLY_REPORTING_ATTRIBUTING_RELATION_TYPES", "infrastructure_tenant,member_of"),
        ("TALLY_REPORTING_ATTRIBUTING_RELATION_TYPES", "managed_by"),
        ("TALLY_REPORTING_ATTRIBUTING_RELATION_TYPES", "a,,b"),
        ("TALLY_REPORTING_SYNC_ALLOW_AT", "1"),
        ("TALLY_REPORTING_SYNC_BUDGET_S", "86401"),
        ("TALLY_REPORTING_SYNC_SETTLE_S", "3601"),
        ("TALLY_METRICS_ENABLED", "True"),
        ("TALLY_REPORTING_METRICS_REFRESH_S", "often"),
    ],
)
def test_a_service_told_nonsense_does_not_start(sqlite_url, monkeypatch, capsys, name, value):
    monkeypatch.setenv("TALLY_REPORTING_DB_URL", sqlite_url)
    monkeypatch.setenv("TALLY_REPORTING_HTTP_PORT", "0")
    monkeypatch.setenv(name, value)
    assert main(["reporting", "serve"]) == 2
    said = capsys.readouterr().err
    assert "hunter2" not in said
    assert name.removesuffix("_FILE") in said or "database URL" in said


def test_a_service_whose_clouds_cannot_be_read_does_not_start(
    sqlite_url, monkeypatch, capsys, tmp_path
):
    config = tmp_path / "clouds.yaml"
    monkeypatch.setenv("TALLY_REPORTING_DB_URL", sqlite_url)
    monkeypatch.setenv("TALLY_REPORTING_HTTP_PORT", "0")
    monkeypatch.setenv("TALLY_REPORTING_CLOUDS_CONFIG", str(config))
    for text in (None, "clouds: [{cloud: x, surplus: 1}]"):
        if text is not None:
            config.write_text(text)
        assert main(["reporting", "serve"]) == 1
        assert str(config) in capsys.readouterr().err


def test_settings_of_an_environment_that_names_only_the_database():
    assert Settings.from_environment(
        Environment({"TALLY_REPORTING_DB_URL": "sqlite:////x"})
    ) == Settings("sqlite:////x")
