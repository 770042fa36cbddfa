"""The outbox: on disk when insert returns, refused when it is not ours."""

import math
import sqlite3
import threading

import pytest

from harness.collector.outbox import Outbox, OutboxError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "outbox.db"


def raw(path, statement):
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def test_the_file(path):
    outbox = Outbox(path, now=lambda: 1782864000.25)
    outbox.insert([b'{"a":"\xc3\xa4"}', b"{}"])
    assert raw(path, "PRAGMA user_version") == [(1,)]
    assert raw(path, "PRAGMA journal_mode") == [("wal",)]
    assert raw(path, "PRAGMA auto_vacuum") == [(2,)]
    assert raw(path, "SELECT * FROM outbox") == [
        (1, '{"a":"ä"}', "2026-07-01T00:00:00.250000Z"),
        (2, "{}", "2026-07-01T00:00:00.250000Z"),
    ]
    assert path.stat().st_mode & 0o777 == 0o600
    for companion in path.parent.iterdir():
        assert companion.stat().st_mode & 0o077 == 0, companion
    assert outbox._connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert outbox._connection.execute("PRAGMA busy_timeout").fetchone() == (5000,)
    outbox.close()


def test_the_oldest_first_and_only_those_deleted(path):
    outbox = Outbox(path)
    outbox.insert([b"%d" % index for index in range(10)])
    rows = outbox.oldest(4)
    assert [row.event for row in rows] == ["0", "1", "2", "3"]
    outbox.insert([b"late"])
    outbox.delete(rows)
    assert outbox.depth == 7
    assert [row.event for row in outbox.oldest(99)][:2] == ["4", "5"]
    outbox.delete([])
    assert outbox.depth == 7
    outbox.close()


def test_what_is_left_is_found_again_and_ids_grow(path):
    first = Outbox(path)
    first.insert([b"a", b"b"])
    first.delete(first.oldest(2))
    first.insert([b"c"])
    first.close()
    again = Outbox(path)
    assert again.depth == 1
    assert [(row.id, row.event) for row in again.oldest(5)] == [(3, "c")]
    again.close()


def test_the_age_of_the_oldest(path):
    clock = [1000.0]
    outbox = Outbox(path, now=lambda: clock[0])
    assert outbox.oldest_seconds() == 0
    outbox.insert([b"a"])
    clock[0] = 1042.0
    outbox.insert([b"b"])
    assert outbox.oldest_seconds() == 42
    clock[0] = 10.0  # the clock was put back
    assert outbox.oldest_seconds() == 0
    outbox._connection.execute("UPDATE outbox SET created_at='nonsense'")
    assert math.isnan(outbox.oldest_seconds())
    outbox.close()
    assert math.isnan(outbox.oldest_seconds())


@pytest.mark.parametrize("version", [2, 99])
def test_another_schema_version(path, version):
    Outbox(path).close()
    raw(path, f"PRAGMA user_version={version}")
    with pytest.raises(OutboxError, match=f"carries schema version {version}, this build needs 1"):
        Outbox(path)


def test_a_database_of_somebody_else(path):
    raw(path, "CREATE TABLE theirs (id)")
    with pytest.raises(OutboxError, match="schema version 0"):
        Outbox(path)
    assert raw(path, "SELECT name FROM sqlite_master") == [("theirs",)]


def test_a_file_that_is_no_database(path):
    path.write_bytes(b"hello, this is no database at all" * 100)
    with pytest.raises(OutboxError, match="opening the outbox"):
        Outbox(path)


def test_a_directory_that_is_not_there(tmp_path):
    with pytest.raises(OutboxError, match="No such file or directory"):
        Outbox(tmp_path / "none" / "outbox.db")


def test_a_failed_insert_keeps_nothing_and_the_next_one_works(path):
    outbox = Outbox(path)
    outbox.insert([b"x" * 1000])
    pages = outbox._connection.execute("PRAGMA page_count").fetchone()[0]
    outbox._connection.execute(f"PRAGMA max_page_count={pages + 2}")
    with pytest.raises(OutboxError, match="full"):
        outbox.insert([b"y" * 4000 for _ in range(10)])
    assert outbox.depth == 1
    assert len(outbox.oldest(99)) == 1
    outbox.insert([b"z"])
    assert outbox.depth == 2
    outbox.close()


def test_a_delete_gives_pages_back(path):
    outbox = Outbox(path)
    outbox.insert([b"x" * 4000 for _ in range(500)])
    before = outbox._connection.execute("PRAGMA page_count").fetchone()[0]
    outbox.delete(outbox.oldest(500))
    assert outbox._connection.execute("PRAGMA page_count").fetchone()[0] < before / 10
    outbox.close()


def test_a_lock_held_elsewhere_shows_in_readiness(path):
    outbox = Outbox(path)
    assert outbox.answers()
    with outbox._lock:
        assert not outbox.answers()
    outbox.close()
    assert not outbox.answers()


def test_two_threads_at_once(path):
    outbox = Outbox(path)
    total, seen = 2000, []

    def write():
        for index in range(0, total, 10):
            outbox.insert([b"%d" % number for number in range(index, index + 10)])

    writer = threading.Thread(target=write)
    writer.start()
    while len(seen) < total:
        rows = outbox.oldest(37)
        seen += [int(row.event) for row in rows]
        outbox.delete(rows)
    writer.join()
    assert seen == list(range(total))
    assert outbox.depth == 0
    outbox.close()
