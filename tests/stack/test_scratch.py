from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.stack import StackError
from harness.stack.scratch import Scratch, sweep

OWNER = (
    "import time; from harness.stack.scratch import Scratch\n"
    "scratch = Scratch(); print(scratch.path, flush=True); time.sleep(600)"
)


def test_it_is_private_and_gone_after_close(temporary: Path) -> None:
    scratch = Scratch()
    room = scratch.room("seed-1/ü x")
    assert room.parent == scratch.path
    assert scratch.path.parent == temporary
    assert scratch.path.stat().st_mode & 0o777 == 0o700
    scratch.close()
    scratch.close()
    assert list(temporary.iterdir()) == []


def test_only_what_killed_owners_left_is_swept(temporary: Path) -> None:
    mine = Scratch()
    foreign = temporary / "tally-stack-foreign"
    foreign.mkdir()
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        path = Path(run.stdout.readline().strip())
        assert sweep() == []
        run.kill()
        run.wait()
    assert path.exists()
    assert sweep() == [path]
    assert not path.exists()
    assert mine.path.exists()
    assert foreign.exists()
    mine.close()


def test_nowhere_to_write_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/proc/nowhere")
    with pytest.raises(StackError, match="set TMPDIR to a directory this user may write to"):
        Scratch()
