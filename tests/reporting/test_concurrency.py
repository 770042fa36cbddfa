"""Many clients at once, and a service that is killed: every event once, every batch whole."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import pytest
import requests
import sqlalchemy

from harness.reporting import admin, projection
from harness.reporting.schema import AUDIT_LOG, CURRENT_RESOURCES, EVENTS
from harness.reporting.store import Store


def table(url, which):
    store = Store(url)
    with store.read() as connection:
        rows = connection.execute(sqlalchemy.select(which)).all()
    store.close()
    return rows


def rebuilt(url):
    store = Store(url)
    with store.write("os-sim") as transaction:
        projection.rebuild(transaction, "os-sim")
    store.close()
    return sorted(table(url, CURRENT_RESOURCES))


@pytest.mark.slow
@pytest.mark.parametrize("empty_url", ["sqlite", "postgresql"], indirect=True)
def test_clients_that_post_overlapping_batches_at_once(serve, db_url, month):
    clients = 8 if db_url.startswith("postgresql") else 4
    api = serve(db_url)
    failures, totals = [], []

    def client(seed):
        rng = random.Random(seed)
        events = list(month)
        rng.shuffle(events)
        taken = events[: len(events) // 2] if seed else events
        session = requests.Session()
        for at in range(0, len(taken), 200):
            body = b"[" + b",".join(taken[at : at + 200]) + b"]"
            for _ in range(2 if rng.random() < 0.3 else 1):  # a retry after a lost answer
                answer = session.post(
                    api.base + "/api/v1/events",
                    data=body,
                    headers={"Authorization": f"Bearer {api.tokens['ingest']}"},
                    timeout=120,
                )
                if answer.status_code != 200:
                    failures.append(answer.text)
                else:
                    totals.append(answer.json()["accepted"])
        session.close()

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sum(totals) == 1812
    rows = table(db_url, EVENTS)
    assert len(rows) == 1812
    assert len({(row.event_id, row.timestamp) for row in rows}) == 1812
    before = sorted(table(db_url, CURRENT_RESOURCES))
    assert len(before) == 871
    assert before == rebuilt(db_url)


def test_two_clouds_that_send_the_same_event_at_once(serve, db_url, event):
    api = serve(db_url)
    other = admin.create_ingest_credential(db_url, "openstack", "os-other").token
    ids = [f"e-{number}" for number in range(300)]
    answers = {}

    def client(cloud, token):
        body = [event(event_id=name, cloud=cloud, resource_id=name) for name in ids]
        answers[cloud] = requests.post(
            api.base + "/api/v1/events",
            data=json.dumps(body),
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
        ).json()

    threads = [
        threading.Thread(target=client, args=each)
        for each in (("os-sim", api.tokens["ingest"]), ("os-other", other))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(each["accepted"] for each in answers.values()) == 300
    assert sum(each["duplicates"] for each in answers.values()) == 300
    assert len(table(db_url, EVENTS)) == len(table(db_url, CURRENT_RESOURCES)) == 300


@pytest.mark.slow
@pytest.mark.parametrize("empty_url", ["sqlite", "postgresql"], indirect=True)
def test_a_service_that_is_killed_leaves_batches_whole_or_not_at_all(db_url, month):
    token = admin.create_ingest_credential(db_url, "openstack", "os-sim").token
    batches = [month[at : at + 60] for at in range(0, len(month), 60)]
    environment = os.environ | {
        "TALLY_REPORTING_DB_URL": db_url,
        "TALLY_REPORTING_HTTP_PORT": "0",
        "TALLY_METRICS_ENABLED": "false",
    }
    command = [sys.executable, "-m", "harness", "reporting", "serve"]
    waiting = list(range(len(batches)))
    answered = set()
    for life in range(3):
        last = life == 2
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
        try:
            port = next(
                line["port"]
                for line in map(json.loads, process.stdout)
                if line["msg"] == "listening"
            )
            enough = 1000 if last else len(answered) + 5
            _post(
                port, token, batches, waiting, answered, partial(_kill, process, answered, enough)
            )
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM if last else signal.SIGKILL)
            status = process.wait(30)
            process.stdout.close()
        assert status == (0 if last else -signal.SIGKILL)
        _whole(db_url, batches, answered)
    assert len(table(db_url, EVENTS)) == 1812
    assert sorted(table(db_url, CURRENT_RESOURCES)) == rebuilt(db_url)


def _kill(process, answered, enough):
    """Kill the service once enough was answered, whatever it is doing for the other clients."""
    if len(answered) >= enough and process.poll() is None:
        process.send_signal(signal.SIGKILL)


def _post(port, token, batches, waiting, answered, after):
    """Post what waits from three threads until nothing waits or the service is gone."""
    lock = threading.Lock()

    def client():
        with requests.Session() as session:
            while True:
                with lock:
                    if not waiting:
                        return
                    number = waiting.pop()
                try:
                    answer = session.post(
                        f"http://127.0.0.1:{port}/api/v1/events",
                        data=b"[" + b",".join(batches[number]) + b"]",
                        headers={"Authorization": f"Bearer {token}"},
                        timeout=30,
                    )
                    answer.raise_for_status()
                    answered.add(number)
                    after()
                except requests.RequestException:
                    with lock:
                        waiting.append(number)
                    return

    threads = [threading.Thread(target=client) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _whole(url, batches, answered):
    time.sleep(0.2)  # PostgreSQL notices a client that is gone within this
    stored = {row.event_id for row in table(url, EVENTS)}
    complete = 0
    for number, batch in enumerate(batches):
        ids = {json.loads(line)["event_id"] for line in batch}
        found = len(ids & stored)
        assert found in {0, len(ids)}
        assert found or number not in answered
        complete += bool(found)
    audited = [
        json.loads(row.detail) for row in table(url, AUDIT_LOG) if row.action == "events.ingest"
    ]
    assert sum(each["accepted"] for each in audited) == len(stored)
    assert complete
