"""Both databases are brought to the tables that the code names, and back."""

import os
import stat

import pytest
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from harness.errors import UsageError
from harness.reporting import admin
from harness.reporting.migrate import EMPTY, NEWEST, WrongSchema
from harness.reporting.schema import METADATA
from harness.service import database


def differences(url):
    store = database.engine(url)
    with store.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        found = compare_metadata(context, METADATA)
    store.dispose()
    return found


def test_migrations_lead_to_the_tables_of_the_code_and_back(empty_url):
    assert admin.status(empty_url).current == EMPTY
    assert admin.migrate(empty_url).ready
    assert differences(empty_url) == []
    assert admin.migrate(empty_url).current == NEWEST
    assert admin.migrate_down_to(empty_url, "0001").current == "0001"
    assert not admin.status(empty_url).ready
    assert admin.migrate_down_to(empty_url, EMPTY).current == EMPTY
    assert len(differences(empty_url)) >= 11
    assert admin.migrate(empty_url).ready
    assert differences(empty_url) == []


@pytest.mark.parametrize("version", ["7", "", "head", "0001; DROP TABLE events"])
def test_an_unknown_version_is_refused(sqlite_url, version):
    with pytest.raises(UsageError, match="is no schema version; use one of 0, 0001"):
        admin.migrate_down_to(sqlite_url, version)
    assert admin.status(sqlite_url).ready


def test_going_down_does_not_go_up(empty_url):
    with pytest.raises(UsageError, match="use migrate"):
        admin.migrate_down_to(empty_url, "0002")


def test_a_database_from_the_future_is_left_alone(sqlite_url):
    store = database.engine(sqlite_url)
    with store.begin() as connection:
        connection.execute(sqlalchemy.text("UPDATE alembic_version SET version_num = '9999'"))
    store.dispose()
    with pytest.raises(WrongSchema, match="9999"):
        admin.migrate(sqlite_url)


def test_the_file_is_its_owners_alone(tmp_path):
    old = os.umask(0)
    try:
        admin.migrate(f"sqlite:///{tmp_path}/new.db")
    finally:
        os.umask(old)
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://u:hunter2@h/d", "use sqlite:///PATH or postgresql"),
        ("postgresql://u:hunter2@h:port/d", "cannot be read"),
        ("sqlite://", "absolute path"),
        ("sqlite:////nowhere/at/all.db", "No such file"),
    ],
)
def test_a_wrong_url_is_told_without_its_password(url, said):
    with pytest.raises(UsageError, match=said) as refused:
        database.engine(url)
    assert "hunter2" not in str(refused.value)
