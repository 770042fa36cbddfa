"""A process's end takes with it whatever the process started, in other sessions too."""

from __future__ import annotations

import os

import pytest

from harness.stack.interface import StackError
from harness.stack.process import Process

#: Starts what leaves both its process group and its parent; what it ends with is the test's.
LEAVING = """
setsid sh -c 'setsid sleep 301 & touch ready; exec sleep 302' &
while ! test -e ready; do sleep 0.01; done
"""


def by_itself(process: Process) -> None:
    with pytest.raises(StackError, match="status 3"):
        process.wait_until(lambda: False, 10)
    assert process.terminate() == 3


@pytest.mark.parametrize(
    ("then", "end", "status"),
    [
        ("exec sleep 304", Process.terminate, 143),
        ("exec sleep 304", Process.kill, None),
        ("exit 3", by_itself, None),
    ],
)
def test_nothing_that_it_started_is_left(tmp_path, processes, until, then, end, status):
    process = Process(
        "leaving",
        ["sh", "-c", f"cd '{tmp_path}' {LEAVING} {then}"],
        environment={"PATH": os.environ["PATH"], "MARK": str(tmp_path)},
        log=tmp_path / "log",
    )
    until((tmp_path / "ready").exists)
    assert end(process) == status
    assert processes(str(tmp_path)) == []
