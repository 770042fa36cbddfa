"""Against a real engine, with the images that ``TALLY_RABBITMQ_IMAGE`` and ``TALLY_REPORTING_IMAGE`` name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import requests

from harness.errors import UsageError
from harness.oslo import Notification
from harness.stack import Counters, MonthStack, Options, StackError, Unavailable, attach, open_stack
from harness.stack.containers import ContainerStack
from harness.stack.docker import Engine
from harness.stack.month import OpenMonth

pytestmark = pytest.mark.slow

Carry = Callable[[MonthStack, list[Notification]], Counters]

START_AND_WAIT = """
import json, sys, time
from harness.stack import Options, attach, open_stack
stack = attach(json.loads(sys.argv[1]))
with stack.month("orphan", cloud="os-sim"):
    print("open", flush=True)
    time.sleep(600)
"""


def images() -> Options:
    return Options(
        rabbitmq_image=os.environ.get("TALLY_RABBITMQ_IMAGE", ""),
        reporting_image=os.environ.get("TALLY_REPORTING_IMAGE", ""),
        start_timeout=180,
    )


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    options = images()
    try:
        if not options.rabbitmq_image or not options.reporting_image:
            raise Unavailable("no images: set TALLY_RABBITMQ_IMAGE and TALLY_REPORTING_IMAGE")
        engine = Engine()
    except Unavailable as error:
        if "containers" in os.environ.get("TALLY_REQUIRE_STACKS", "").split(","):
            pytest.fail(str(error))
        pytest.skip(str(error))
    with engine:
        yield engine


@pytest.fixture(scope="module")
def stack(engine: Engine) -> Iterator[ContainerStack]:
    stack = ContainerStack.start(images())
    yield stack
    stack.close()
    assert mine(engine) == []


def mine(engine: Engine) -> list[str]:
    """Roles of the containers this process owns."""
    return [
        container.labels[Engine.ROLE]
        for container in engine.containers()
        if container.labels[Engine.OWNER].split("/")[1] == str(os.getpid())
    ]


def test_messages_become_events_and_a_bill_and_only_the_broker_is_left(
    engine: Engine,
    stack: ContainerStack,
    tmp_path: Path,
    beginning: list[Notification],
    carry: Carry,
) -> None:
    with stack.month("july", cloud="os-sim") as month:
        assert isinstance(month, OpenMonth)
        counters = carry(month, beginning)
        assert counters.delivered == sum(counters.consumed.values()) > 10
        for out in (tmp_path / "first", tmp_path / "second"):
            assert month.bill("2026-07", out=out) == out
            assert (out / "rated.csv").read_text().count("\n") > 10
        assert sorted(mine(engine)) == ["broker", "reporting"]
        assert month.service is not None
        assert month.reporting is not None
        month.service.kill()
        with pytest.raises(requests.ConnectionError):
            requests.get(f"{month.reporting.url}/readyz", timeout=5)
        month.service.start()
    assert mine(engine) == ["broker"]
    assert stack._address.api().vhosts() == ["/"]


def test_the_image_is_slim_and_runs_as_nobody_special(engine: Engine) -> None:
    image = engine.client.client.images.get(images().reporting_image)
    assert image.attrs["Config"]["User"] == "10001"
    assert image.attrs["Config"]["Healthcheck"]["Test"][0] == "CMD"
    looking = "for tool in gcc cc make pip pip3; do command -v $tool && exit 1; done; id -u"
    said = engine.client.client.containers.run(
        images().reporting_image,
        ["-c", looking],
        entrypoint="sh",
        remove=True,
        labels=engine.labels("look"),
    )
    assert said == b"10001\n"


def test_what_a_killed_worker_left_goes_at_the_next_run(
    engine: Engine, stack: ContainerStack, until: Callable[[Callable[[], bool]], bool]
) -> None:
    handed = json.dumps(stack.handover())
    command = [sys.executable, "-c", START_AND_WAIT, handed]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "open\n"
        theirs = [c for c in engine.containers() if f"/{worker.pid}/" in c.labels[Engine.OWNER]]
        assert [c.labels[Engine.ROLE] for c in theirs] == ["reporting"]
        assert engine.sweep() == []
        worker.kill()
        worker.wait()
    assert engine.sweep() == [theirs[0].name]
    assert until(lambda: mine(engine) == ["broker"])
    with (
        closing(attach(json.loads(handed))) as again,
        again.month("again", cloud="os-sim"),
    ):
        assert sorted(mine(engine)) == ["broker", "reporting"]


def test_a_missing_image_is_named_and_nothing_is_left(engine: Engine) -> None:
    options = Options(rabbitmq_image="tally.invalid/nothing:1", reporting_image="x:1")
    before = mine(engine)
    with pytest.raises(Unavailable, match=r"tally\.invalid/nothing:1 is not on this engine"):
        open_stack("containers", options)
    assert mine(engine) == before


def test_a_broker_that_ends_or_never_answers_shows_its_log_and_is_removed(engine: Engine) -> None:
    options = images()
    before = mine(engine)
    wrong = Options(rabbitmq_image=options.reporting_image, reporting_image=options.reporting_image)
    expected = r"RabbitMQ \(.*\) ended with status \d+ before it was ready; the end of its log:\n.*TALLY_REPORTING_DB_URL"
    with pytest.raises(StackError, match=expected):
        open_stack("containers", wrong)
    hasty = Options(
        rabbitmq_image=options.rabbitmq_image,
        reporting_image=options.reporting_image,
        start_timeout=0.2,
    )
    with pytest.raises(StackError, match=r"was not ready within 0\.2 s; the end of its log:\n"):
        open_stack("containers", hasty)
    assert mine(engine) == before


def test_a_kept_stack_is_found_again(engine: Engine) -> None:
    options = images()
    kept = Options(
        rabbitmq_image=options.rabbitmq_image,
        reporting_image=options.reporting_image,
        start_timeout=180,
        keep=True,
    )
    reused = Options(
        rabbitmq_image=options.rabbitmq_image,
        reporting_image=options.reporting_image,
        start_timeout=180,
        reuse=True,
    )
    try:
        with closing(open_stack("containers", kept)) as first:
            assert "it stays" in first.describe()
            assert "docker rm -fv" in first.describe()
            address = first.describe().partition(" at ")[2].partition(",")[0]
        assert engine.sweep() == []
        with closing(open_stack("containers", reused)) as second:
            assert address in second.describe()
        assert len(engine.containers(**{Engine.KEPT: "true"})) == 1
    finally:
        for container in engine.containers(**{Engine.KEPT: "true"}):
            container.remove(force=True, v=True)


def test_a_database_address_is_refused() -> None:
    with pytest.raises(UsageError, match="goes with local and external"):
        open_stack("containers", Options(reporting_db_url="postgresql://x"))
