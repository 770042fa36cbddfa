"""How a publication is shown to a person."""

import io
import sys
import time

import pytest

from harness.broker.clock import VirtualClock
from harness.cli import run_progress
from harness.cli.run_progress import Progress
from harness.cloud.publication import Publication


@pytest.fixture
def publication():
    publication = Publication(15741, 84)
    publication.confirm(4312)
    return publication


@pytest.fixture
def clock():
    return VirtualClock(1783606920, 0)


def test_a_line_says_where_the_month_is(clock, publication):
    line = Progress(clock, publication).line()
    assert line.startswith("2026-07-09 14:22  4312 of 15741 published, ")
    assert line.endswith(" a second, 84 held")


def test_a_hold_says_how_it_ends(clock, publication):
    publication.interrupt()
    publication.hold()
    assert Progress(clock, publication).line().endswith("84 held, release them with POST /release")


def test_off_a_terminal_lines_come_now_and_then(clock, publication, monkeypatch, capsys):
    monkeypatch.setattr(run_progress, "_LINE", 0.05)
    with Progress(clock, publication):
        time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 6
    assert all("4312 of 15741 published" in line for line in lines)


def test_on_a_terminal_a_bar_moves(clock, publication, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with Progress(clock, publication):
        time.sleep(0.1)
    shown = terminal.getvalue()
    assert "2026-07-09 14:22" in shown
    assert "4312/15741" in shown
    assert "84 held" in shown
