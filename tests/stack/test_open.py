from __future__ import annotations

import os
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


@pytest.mark.parametrize("missing", ["docker", "testcontainers"])
def test_a_plain_install_without_the_extra_falls_back_or_says_what_to_install(missing: str) -> None:
    program = f"""
import sys
sys.modules["{missing}"] = None  # importing it raises ModuleNotFoundError
from harness.stack import Unavailable, open_stack
try:
    open_stack("containers")
except Unavailable as error:
    assert "pip install 'tally-harness[containers]'" in str(error), error
else:
    raise AssertionError("containers without the extra")
stack = open_stack("auto")
assert stack.kind in ("local", "embedded"), stack.kind
assert "no containers: " in stack.reason, stack.reason
stack.close()
"""
    environment = {
        name: value for name, value in os.environ.items() if name != "TALLY_REQUIRE_STACKS"
    }
    result = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
