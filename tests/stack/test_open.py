from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.stack import Options, Unavailable, attach, open_stack


def test_a_misspelt_kind_names_the_kinds() -> None:
    expected = 'container" is no stack; there are auto, containers, local, embedded, external'
    with pytest.raises(UsageError, match=expected):
        open_stack("container")


def test_a_named_kind_never_falls_back(monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{temporary}/nothing.sock")
    with pytest.raises(
        Unavailable, match=r"no container engine answers at unix://.*set DOCKER_HOST"
    ):
        open_stack("containers")
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr("harness.stack.rabbitmq._DEBIAN", Path("/nonexistent"))
    with pytest.raises(Unavailable, match="apt install rabbitmq-server"):
        open_stack("local")
    assert list(temporary.iterdir()) == []


def test_a_required_kind_is_not_passed_over(
    monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{temporary}/nothing.sock")
    monkeypatch.setenv("TALLY_REQUIRE_STACKS", "containers,local")
    with pytest.raises(Unavailable, match="no container engine answers"):
        open_stack("auto")


@pytest.mark.parametrize("kind", ["local", "embedded", "external"])
def test_only_containers_are_kept(kind: str) -> None:
    with pytest.raises(UsageError, match=f"goes with containers, not with {kind}"):
        open_stack(kind, Options(keep=True, amqp_url="amqp://localhost"))


def test_external_is_not_shared() -> None:
    stack = open_stack("external", Options(amqp_url="amqp://localhost"))
    with pytest.raises(UsageError, match="no xdist"):
        stack.handover()
    with pytest.raises(UsageError, match="no xdist"):
        attach({"kind": "external"})


def test_importing_the_room_loads_no_kind() -> None:
    script = (
        "import sys, harness.stack\n"
        "heavy = {'pika', 'docker', 'testcontainers', 'sqlalchemy', 'fastapi', 'requests'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
