from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.calendar import Period
from harness.month import generate, render
from harness.oslo import Notification
from harness.stack import Counters, MonthStack

#: What takes messages through a month's part and returns the collector's counters.
Carry = Callable[[MonthStack, list[Notification]], Counters]


@pytest.fixture(scope="session")
def beginning() -> list[Notification]:
    """The first 400 messages of seed 1, 2026-07."""
    month = generate(1, Period.parse("2026-07"), "os-sim")
    return [render.notification(transition) for transition in month.stream[:400]]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A TMPDIR of the test's own, so that what stays behind can be listed."""
    directory = tmp_path / "tmp"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    monkeypatch.setattr("tempfile.tempdir", None)
    return directory


@pytest.fixture
def drain() -> Callable[[MonthStack, int], Counters]:
    """Wait until that many messages ended, and return the counters."""

    def drain(month: MonthStack, messages: int) -> Counters:
        deadline = time.monotonic() + 60
        while True:
            counters = month.collector.counters()
            assert counters is not None
            if counters.handled >= messages and not counters.buffered:
                return counters
            assert time.monotonic() < deadline, counters
            time.sleep(0.05)

    return drain


@pytest.fixture
def carry(drain: Callable[[MonthStack, int], Counters]) -> Carry:
    def carry(month: MonthStack, notifications: list[Notification]) -> Counters:
        publisher = month.publisher()
        try:
            month.collector.start()
            before = month.collector.counters()
            assert before is not None
            publisher.publish(notifications)
        finally:
            publisher.close()
        return drain(month, before.handled + len(notifications))

    return carry


@pytest.fixture
def processes() -> Callable[[str], list[str]]:
    """Processes whose command line or environment mentions a word, this one left out."""

    def processes(word: str) -> list[str]:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    text = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
                except OSError:
                    continue
                if word.encode() in text:
                    found.append(text.replace(b"\0", b" ").decode(errors="replace")[:200])
        return found

    return processes


@pytest.fixture
def until() -> Callable[[Callable[[], bool]], bool]:
    """Wait until a condition holds, and tell whether it did."""

    def until(condition: Callable[[], bool]) -> bool:
        deadline = time.monotonic() + 15
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    return until
