"""Every answer of the control endpoint, and the phases of a publication."""

import threading

import pytest

from harness.broker.clock import VirtualClock
from harness.cloud.app import control_app, run_app
from harness.cloud.publication import Publication, ReleaseRefused

START, END = 1782864000, 1785542400


class Bench:
    def __init__(self, serve, held=0, factor=744.0):
        self.wall = 0.0
        self.clock = VirtualClock(START, factor, wall=lambda: self.wall)
        self.publication = Publication(100, held)
        self.client = serve(control_app(self.clock, self.publication, (START, END)))

    def hold(self):
        thread = threading.Thread(target=self.publication.hold, daemon=True)
        thread.start()
        while not self.publication.holding:
            pass
        return thread


@pytest.fixture
def bench(serve):
    return Bench(serve)


def test_health(bench):
    answer = bench.client.get("/healthz")
    assert (answer.status_code, answer.text) == (200, "ok")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


def test_the_clock_document_is_compact_and_ordered(bench):
    bench.wall = 1000.0
    bench.publication.confirm(43)
    answer = bench.client.get("/clock")
    assert answer.headers["content-type"] == "application/json"
    assert answer.text == (
        '{"virtual_now":"2026-07-09T14:40:00Z","factor":744,"published":43,"total":100,"held":0,'
        '"holding":false,"period_from":"2026-07-01T00:00:00Z","period_to":"2026-08-01T00:00:00Z"}'
    )


def test_a_changed_factor_counts_from_the_instant_reached(bench):
    bench.wall = 100.0
    answer = bench.client.put("/clock", data='{"factor": 0.5, "else": 1}')
    assert answer.status_code == 200
    assert answer.json()["factor"] == 0.5
    assert answer.json()["virtual_now"] == "2026-07-01T20:40:00Z"
    bench.wall = 300.0
    assert bench.client.get("/clock").json()["virtual_now"] == "2026-07-01T20:41:40Z"


@pytest.mark.parametrize(
    "body",
    ["", "fast", "{}", "[]", '{"factor": "2"}', '{"factor": null}', '{"factor": true}',
     '{"factor": -1}', '{"factor": NaN}', '{"factor": 1e999}', '{"factor": 1} x',
     '{"factor": 1, "pad": "' + "x" * 1024 + '"}', b'{"factor": 1, "\xff": 1}'],
    ids=range(13),
)  # fmt: skip
def test_no_factor_is_refused(bench, body):
    answer = bench.client.put("/clock", data=body)
    assert answer.status_code == 400
    assert answer.text == (
        'send a JSON object whose member "factor" is a number, 0 or more, such as {"factor": 744}'
    )
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert bench.clock.factor == 744


def test_a_factor_that_runs_past_the_calendar_stays_readable(bench):
    bench.client.put("/clock", data='{"factor": 1e300}')
    bench.wall = 1.0
    assert bench.client.get("/clock").json()["virtual_now"] == "9999-12-31T23:59:59Z"


@pytest.mark.parametrize("header", ["Origin", "Sec-Fetch-Site"])
def test_browsers_are_refused_before_anything_else(serve, header):
    bench = Bench(serve, held=4)
    answer = bench.client.put("/clock", data="nonsense", headers={header: "x"})
    assert answer.status_code == 403
    assert answer.text == "a browser sent this; change the factor with a tool such as curl"
    answer = bench.client.post("/release", data="x", headers={header: "", "Content-Type": "a/b"})
    assert answer.status_code == 403
    assert answer.text == "a browser sent this; release with a tool such as curl"


def test_release_wants_json_or_nothing(serve):
    bench = Bench(serve, held=4)
    answer = bench.client.post("/release", data="a=b", headers={"Content-Type": "text/plain"})
    assert (answer.status_code, answer.text) == (
        415,
        "a release has no body, or one of type application/json",
    )
    answer = bench.client.post(
        "/release", data="{}", headers={"Content-Type": "application/json; charset=utf-8"}
    )
    assert answer.status_code == 409


def test_release_in_each_phase(serve):
    bench = Bench(serve)
    answer = bench.client.post("/release")
    assert answer.status_code == 409
    assert answer.text.startswith("this month holds nothing back")
    bench = Bench(serve, held=4)
    answer = bench.client.post("/release")
    assert (answer.status_code, answer.text) == (
        409,
        "the month is not out yet; wait until /clock says holding, then release",
    )
    assert bench.client.get("/clock").json()["held"] == 4
    waiting = bench.hold()
    assert bench.client.get("/clock").json()["holding"] is True
    answer = bench.client.post("/release")
    assert answer.status_code == 200
    assert (answer.json()["held"], answer.json()["holding"]) == (0, False)
    waiting.join(5)
    assert not waiting.is_alive()
    assert bench.client.get("/clock").json()["held"] == 0
    answer = bench.client.post("/release")
    assert (answer.status_code, answer.text) == (
        409,
        "what was held back is released already",
    )


def test_of_many_releases_at_once_one_succeeds(serve):
    bench = Bench(serve, held=4)
    bench.hold()
    outcomes = []

    def release():
        try:
            bench.publication.release()
            outcomes.append(True)
        except ReleaseRefused:
            outcomes.append(False)

    threads = [threading.Thread(target=release) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [False] * 19 + [True]


def test_a_hold_that_is_interrupted_was_not_released():
    publication = Publication(10, 2)
    publication.interrupt()
    assert publication.hold() is False
    assert publication.holding


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/clock"), ("GET", "/release"), ("PUT", "/healthz")]
)
def test_other_methods(bench, serve, month, oracle, method, path):
    assert bench.client.request(method, path).status_code == 405
    whole = serve(run_app(month, oracle, bench.clock, bench.publication))
    assert whole.request(method, path).status_code == 404


@pytest.mark.parametrize("path", ["/metrics", "/v3/auth/tokens", "/clock/"])
def test_a_replay_serves_control_only(bench, path):
    assert bench.client.get(path).status_code == 404
