"""How a publication is shown to a person."""

import io
import json
import logging
import re
import sys
import time

import pytest

from harness.broker.clock import VirtualClock
from harness.cli import run_progress
from harness.cli.run_progress import Progress
from harness.cloud.publication import Publication
from harness.service import log


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


class Terminal(io.StringIO):
    def isatty(self):
        return True


def take_terminal(monkeypatch):
    """Put a terminal in place of stderr; only within a test, whose capture pytest begins anew."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    return terminal


@pytest.fixture
def log_to():
    """Sends log lines to a stream until the test ends."""
    logger, handlers = logging.getLogger(), []
    level = logger.level

    def sending(stream):
        handlers.append(logging.StreamHandler(stream))
        handlers[-1].setFormatter(log.JsonLines("run"))
        logger.addHandler(handlers[-1])
        logger.setLevel("INFO")

    yield sending
    logger.setLevel(level)
    for handler in handlers:
        logger.removeHandler(handler)


def wait_for(terminal, times):
    """Wait until the bar was drawn so often."""
    end = time.monotonic() + 20
    while terminal.getvalue().count("84 held") < times:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_on_a_terminal_a_bar_moves(clock, publication, monkeypatch):
    terminal = take_terminal(monkeypatch)
    with Progress(clock, publication):
        time.sleep(0.1)
    shown = terminal.getvalue()
    assert "2026-07-09 14:22" in shown
    assert "4312/15741" in shown
    assert "84 held" in shown


LONG = "[bold]" + "long " * 40


def test_log_lines_on_the_same_terminal_stand_above_the_bar(
    clock, publication, monkeypatch, log_to
):
    terminal = take_terminal(monkeypatch)
    log_to(terminal)
    with Progress(clock, publication):
        wait_for(terminal, 2)
        logging.getLogger("harness").info(LONG)
        wait_for(terminal, 4)
    logging.getLogger("harness").info("afterwards")
    shown = terminal.getvalue()
    lines = re.findall(r"\r\x1b\[2K(\{.*\})\n", shown)
    assert [json.loads(line)["msg"] for line in lines] == [LONG]
    assert json.loads(shown.splitlines()[-1].removeprefix("\x1b[?25h"))["msg"] == "afterwards"


def test_log_lines_to_a_file_go_there_beside_a_bar(clock, publication, monkeypatch, log_to):
    terminal = take_terminal(monkeypatch)
    log_to(file := io.StringIO())
    with Progress(clock, publication):
        wait_for(terminal, 2)
        logging.getLogger("harness").info(LONG)
    assert json.loads(file.getvalue())["msg"] == LONG
    assert "long" not in terminal.getvalue()
