"""Nothing below the month knows the time or a source of chance but the seed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import harness

ROOT = Path(harness.__file__).parent
SOURCES = sorted(
    path
    for room in ("prng", "month", "calendar/profile.py")
    for path in ([ROOT / room] if room.endswith(".py") else (ROOT / room).rglob("*.py"))
)

FORBIDDEN = {"datetime", "os", "random", "secrets", "socket", "time", "uuid"}


def imported(source: str) -> set[str]:
    """Return the top-level names of the modules a source imports, and builtins that smell."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.Name) and node.id in {"hash", "id", "__import__"}:
            found.add(node.id)
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_hidden_entropy(path: Path) -> None:
    assert not imported(path.read_text()) & (FORBIDDEN | {"hash", "id", "__import__"})


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        "from os import urandom",
        "import uuid as u",
        "x = hash('a')",
        "from time import time",
    ],
)
def test_the_check_can_fail(source: str) -> None:
    assert imported(source) & (FORBIDDEN | {"hash", "id", "__import__"})


def test_it_looks_at_the_whole_month() -> None:
    assert len(SOURCES) > 30
