"""Drills that are ended from outside: nothing of theirs is left, seen by listing it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.stack.scratch import sweep

pytestmark = pytest.mark.slow

#: Seconds a run may take to come to the place where it is ended, on a busy machine.
_PATIENCE = 240

Processes = Callable[[str], list[str]]
Until = Callable[[Callable[[], bool]], bool]


#: Runs a command as an account that may read everything (the interpreter may lie below /root) and
#: write only what is its own.
_AS_NOBODY = (
    *("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--no-new-privs"),
    *("--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"),
)


@contextmanager
def drilling(
    temporary: Path, *options: str, prefix: tuple[str, ...] = ()
) -> Iterator[subprocess.Popen[str]]:
    """Run the packaged drill of seed 1 in a session of its own, with a TMPDIR of its own."""
    command = [
        *(*prefix, sys.executable, "-m", "pytest", "-W", "error"),
        *("-p", "no:cacheprovider", "-p", "no:xdist", "--pyargs", "pytest_tally.drills"),
        *("--tally-seed=1", "--tally-period=2026-07", *options),
    ]
    environment = os.environ | {"TMPDIR": str(temporary), "HOME": "/nonexistent"}
    environment.pop("DOCKER_HOST", None)
    environment.pop("PYTEST_XDIST_WORKER", None)
    run = subprocess.Popen(
        command,
        cwd=temporary.parent,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield run
    finally:
        run.kill()
        run.wait()
        assert run.stdout is not None
        run.stdout.close()


def reach(run: subprocess.Popen[str], condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        assert run.poll() is None, run.communicate()[0][-3000:]
        assert time.monotonic() < deadline
        time.sleep(0.02)


def starting(temporary: Path, processes: Processes) -> bool:
    return bool(list(temporary.glob("tally-stack-*/output.log")))


def publishing(temporary: Path, processes: Processes) -> bool:
    return any(
        "consuming" in log.read_text() for log in temporary.glob("tally-stack-*/*/collector.log")
    )


def waiting(temporary: Path, processes: Processes) -> bool:
    """Halt the collector, so that a drill that has published waits for as long as it may."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
                whose = (entry / "environ").read_bytes()
            except OSError:
                continue
            ours = command.startswith(sys.executable.encode()) and str(temporary).encode() in whose
            if ours and command.endswith(b"-m\0harness\0collector\0"):
                if b"guard.py" in command or not publishing(temporary, processes):
                    continue
                os.kill(int(entry.name), signal.SIGSTOP)
                time.sleep(10)
                return True
    return False


@pytest.mark.parametrize("place", [starting, publishing, waiting])
def test_ctrl_c_leaves_nothing(
    place: Callable[[Path, Processes], bool], temporary: Path, processes: Processes, until: Until
) -> None:
    with drilling(temporary, "--tally-stack=local") as run:
        reach(run, lambda: place(temporary, processes))
        run.send_signal(signal.SIGINT)
        said, _ = run.communicate(timeout=60)
        assert run.returncode == 2, said[-3000:]
        assert "KeyboardInterrupt" in said
    assert until(lambda: processes(str(temporary)) == [])
    assert list(temporary.iterdir()) == []


def test_a_killed_run_leaves_no_process_and_the_next_run_sweeps_its_files(
    temporary: Path, processes: Processes, until: Until
) -> None:
    with drilling(temporary, "--tally-stack=local") as run:
        reach(run, lambda: publishing(temporary, processes))
        run.kill()
        run.wait()
    assert until(lambda: processes(str(temporary)) == []), processes(str(temporary))
    sweep()
    assert list(temporary.glob("tally-stack-*")) == []


@pytest.mark.parametrize("kind", ["embedded", "local"])
def test_an_unprivileged_user_in_a_directory_not_to_be_written_to(
    kind: str, processes: Processes
) -> None:
    """The working directory is read-only; TMPDIR has a blank and an umlaut in its name."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("takes root, and setpriv, to become somebody else")
    base = Path("/var/tmp") / f"tally-test-{os.getpid()}"
    temporary = base / "with a blank and ü"
    temporary.mkdir(parents=True)
    try:
        os.chown(temporary, pwd.getpwnam("nobody").pw_uid, -1)
        with drilling(temporary, f"--tally-stack={kind}", prefix=_AS_NOBODY) as run:
            said, _ = run.communicate(timeout=_PATIENCE)
            assert run.returncode == 0, said[-3000:]
        assert processes(str(temporary)) == []
        assert list(temporary.glob("tally-*")) == []
        assert list(base.iterdir()) == [temporary]
    finally:
        shutil.rmtree(base)
