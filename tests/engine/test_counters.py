"""Counter sources: the file that lists them, and each kind."""

import http.server
import threading

import pytest

from harness.engine import (
    CounterFailure,
    Engine,
    EventCount,
    MetricsQuery,
    Samples,
    read_sources,
    samples,
)
from harness.engine.counters.metricsql import window
from harness.engine.record import Resource, UsageRecord
from harness.errors import UsageError

SECOND = 1_000_000
GIB = 1 << 30
SIZE = {"vcpus": 4, "ram_gb": 8, "disk_gb": 80, "flavor": "f"}


def record(start, end, resource_id="r", project="p"):
    resource = Resource("c", "openstack", "instance", resource_id)
    return UsageRecord(resource, project, "active", start, end, (end - start) // SECOND, {})


def test_increments_count_from_the_start_to_before_the_end():
    source = Samples([("r", at * SECOND, GIB << at) for at in (3, 1, 2, 0)])
    quantities = [
        source.quantity(record(one * SECOND, other * SECOND), ())
        for one, other in ((0, 4), (1, 3), (2, 2), (3, 9))
    ]
    assert [str(quantity) for quantity in quantities] == ["15.0000", "6.0000", "0.0000", "8.0000"]
    assert source.quantity(record(SECOND + 1, 2 * SECOND), ()) == 0
    assert source.quantity(record(SECOND, SECOND + 1), ()) == 2
    assert source.quantity(record(0, 9, "unknown"), ()) == 0


def test_increments_are_summed_before_they_are_rounded():
    source = Samples([("r", at, 20_000) for at in range(3)])  # 0.0000186 GiB each
    assert str(source.quantity(record(0, 2), ())) == "0.0000"
    assert str(source.quantity(record(0, 3), ())) == "0.0001"


def test_a_file_of_increments(tmp_path):
    path = tmp_path / "samples.jsonl"
    path.write_text(
        '{"resource_id":"r","at":"2026-07-01T00:00:00Z","metric":"egress_gb","bytes":1073741824}\n'
        '{"resource_id":"r","at":1782864300,"metric":"egress_gb","bytes":2147483648}\n'
        '{"resource_id":"r","at":"2026-07-01T02:10:00+02:00","metric":"ingress_gb","bytes":1}\n'
    )
    start = 1782864000 * SECOND
    assert samples(path).quantity(record(start, start + 300 * SECOND), ()) == 1
    assert samples(path).quantity(record(start, start + 301 * SECOND), ()) == 3


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "x",
        '{"resource_id":"r","at":"soon","metric":"m","bytes":1}',
        '{"resource_id":"r","at":"2026-07-01T00:00:00","metric":"m","bytes":1}',
        '{"resource_id":"r","at":1,"metric":"m","bytes":1.5}',
    ],
)
def test_a_broken_line_is_named(tmp_path, line):
    path = tmp_path / "samples.jsonl"
    path.write_text('{"resource_id":"r","at":1,"metric":"m","bytes":1}\n' + line + "\n")
    with pytest.raises(CounterFailure, match="line 2"):
        samples(path)
    with pytest.raises(CounterFailure, match="reading the samples"):
        samples(tmp_path / "absent")


def test_events_of_a_type_are_counted(engine, warehouse, rows):
    pull = {"resource": ("repository", "r"), "platform": "harbor"}
    warehouse.tell(
        "repository.create", "2026-03-01", state="active", size={"storage_gb": 1}, **pull
    )
    warehouse.tell("repository.pull", "2026-02-28", state="active", **pull)
    for day in ("02", "03", "03T00:00:01"):
        warehouse.tell("repository.pull", f"2026-03-{day}", state="active", **pull)
    warehouse.tell("repository.update", "2026-03-10", state="sealed", **pull)
    warehouse.tell("repository.pull", "2026-03-20", state="sealed", **pull)
    source = EventCount("harbor", "repository", "pulls", "repository.pull")
    with Engine(engine.database_url, engine.reporting_database_url, (source,)) as counting:
        run = counting.run("2026-03")
    found = [
        (row["state"], row["quantity"]) for row in rows(run.run_id) if row["dimension"] == "pulls"
    ]
    assert found == [("active", "3.0000"), ("sealed", "1.0000")]
    (warning,) = run.stats["counter_warnings"]
    assert "harbor/repository" in warning["detail"]
    assert "egress_gb" in warning["detail"]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "1s"),
        (1, "1s"),
        (59, "59s"),
        (60, "1m"),
        (90, "90s"),
        (3600, "1h"),
        (5400, "90m"),
        (86400, "24h"),
    ],
)
def test_windows(seconds, expected):
    assert window(seconds) == expected


GOOD = "- {platform: openstack, resource_type: instance, metric: egress_gb, kind: metricsql, query: up, required: false}\n"


def test_the_file_of_sources(tmp_path):
    path = tmp_path / "sources.yaml"
    (tmp_path / "increments").write_text("")
    path.write_text(
        GOOD
        + "- {platform: harbor, resource_type: repository, metric: pulls, kind: events, event_type: repository.pull}\n"
        + "- {platform: openstack, resource_type: volume, metric: io_gb, kind: samples, path: increments}\n"
    )
    query, count, grid = read_sources(path, metrics_url="http://127.0.0.1:1")
    assert (query.metric, query.required) == ("egress_gb", False)
    assert isinstance(count, EventCount)
    assert (grid.platform, grid.resource_type, grid.metric) == ("openstack", "volume", "io_gb")
    path.write_text("")
    assert read_sources(path) == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "must be a list"),
        ("[1]", r"\[0\] must be a mapping"),
        (GOOD + GOOD, r"\[1\].metric"),
        (GOOD.replace("metricsql", "sql"), r"\[0\].kind.*events, metricsql, samples"),
        (GOOD.replace("kind: metricsql, ", ""), r"\[0\].kind"),
        (GOOD.replace("query: up", "query: ''"), r"\[0\].query"),
        (GOOD.replace("query: up, ", ""), r"\[0\].query"),
        (GOOD.replace("query", "question"), r"\[0\].question is unknown"),
        (GOOD.replace("platform: openstack", "platform: 5"), r"\[0\].platform"),
        (GOOD.replace("false", "5"), r"\[0\].required"),
        (
            GOOD.replace("metricsql, query: up", "events, event_type: a.b"),
            r"\[0\].required is unknown",
        ),
        ("[", "reading the counter sources"),
    ],
)
def test_malformed_files_are_refused(tmp_path, text, words):
    path = tmp_path / "sources.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=words):
        read_sources(path, metrics_url="http://127.0.0.1:1")


def test_a_query_needs_the_address_of_a_store(tmp_path):
    path = tmp_path / "sources.yaml"
    path.write_text(GOOD)
    with pytest.raises(UsageError, match="TALLY_ENGINE_VM_URL"):
        read_sources(path)
    with pytest.raises(UsageError, match="No such file"):
        read_sources(tmp_path / "absent")


@pytest.fixture
def broken_store():
    """A server that refuses every query and counts them."""
    asked = []

    class Refusal(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(503)
            self.send_header("content-length", "4")
            self.end_headers()
            self.wfile.write(b"busy")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusal) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def source(url, query="up", *, required=False):
    return MetricsQuery(
        "openstack", "instance", "egress_gb", query=query, url=url, required=required
    )


def test_after_five_failures_only_every_fiftieth_query_is_sent(broken_store):
    url, asked = broken_store
    failing = source(url)
    for _ in range(5 + 100):
        with pytest.raises(CounterFailure):
            failing.quantity(record(0, SECOND), ())
    assert len(asked) == 5 + 2
    failing._session.close()


def test_an_optional_source_that_fails_leaves_the_member_out(broken_store, engine, warehouse, rows):
    for name in ("a", "b"):
        warehouse.tell(
            "compute.instance.create.end",
            "2026-03-01",
            resource=("instance", name),
            state="active",
            size=SIZE,
        )
    warehouse.tell(
        "compute.instance.power_off", "2026-03-02", resource=("instance", "a"), state="shutoff"
    )
    failing = source(broken_store[0])
    with Engine(engine.database_url, engine.reporting_database_url, (failing,)) as counting:
        run = counting.run("2026-03")
    assert [
        (warning["code"], warning["resource_id"]) for warning in run.stats["counter_warnings"]
    ] == [
        ("counter_source_failed", "a"),
        ("counter_source_failed", "b"),
    ]
    assert "503" in run.stats["counter_warnings"][0]["detail"]
    cells = {row["amount"] for row in rows(run.run_id) if row["dimension"] == "egress_gb"}
    assert cells == {"0.00"}
    with engine._store.begin() as connection:
        assert (
            "egress_gb"
            not in connection.exec_driver_sql("select usage from usage_records").scalar()
        )
    failing._session.close()


def test_an_identity_that_must_not_stand_in_a_query(broken_store, engine, warehouse):
    url, asked = broken_store
    warehouse.tell(
        "compute.instance.create.end",
        "2026-03-01",
        resource=("instance", 'a"} or up{b="'),
        state="active",
        size=SIZE,
    )
    querying = source(url, 'x{id="{resource_id}"}', required=True)
    with Engine(engine.database_url, engine.reporting_database_url, (querying,)) as counting:
        (warning,) = counting.run("2026-03").stats["counter_warnings"]
    assert warning["code"] == "counter_identity_not_queryable"
    assert asked == []
    querying._session.close()


def test_a_store_that_is_not_there():
    closed = source("http://127.0.0.1:1")
    with pytest.raises(CounterFailure, match="ConnectionError"):
        closed.quantity(record(0, SECOND), ())
    closed._session.close()
