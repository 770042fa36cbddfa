"""Recordings in a run, on the embedded stack: found, replayed once, pinned by snapshots."""

import json
import shlex
import shutil
from itertools import takewhile
from pathlib import Path

import pytest

from harness.oslo import Notification
from harness.recording.recording import Recording
from harness.recording.writer import RecordingWriter

RECORDINGS = Path(__file__).parents[2] / "recordings"
DRILLS = ("--pyargs", "pytest_tally.drills", "--tally-stack=embedded")


@pytest.fixture
def copied(pytester):
    """A copy of the malformed recording, with its snapshots."""
    path = pytester.path / "recordings" / "malformed"
    shutil.copytree(RECORDINGS / "malformed", path)
    return path


def add_a_type(path):
    """Write the recording once more, with one message of a type nobody has seen."""
    notifications = list(Recording.open(path).notifications())
    for name in ("manifest.json", "notifications.jsonl.zst"):
        (path / name).unlink()
    inner = {"event_type": "shiny.new.thing", "timestamp": "2026-07-10 11:00:00", "payload": {}}
    body = json.dumps({"oslo.version": "2.0", "oslo.message": json.dumps(inner)}).encode()
    writer = RecordingWriter(path.parent / "written")
    for notification in [*notifications, Notification("nova", "notifications.info", body)]:
        writer.add(notification)
    writer.finish(cloud="os-sim")
    for written in writer.path.iterdir():
        written.rename(path / written.name)


@pytest.fixture
def run(pytester, copied):
    """Drills the copy in a process of its own."""

    def drill(*arguments):
        return pytester.runpytest_subprocess(
            *DRILLS, f"--tally-recording={copied}", "--color=no", *arguments
        )

    return drill


def test_a_recording_matches_its_snapshots_at_any_pace(run):
    result = run("--tally-factor=100000", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*test_recording?malformed? PASSED*", "*5 snapshots passed*"])
    result.stdout.fnmatch_lines(["month *published *", "malformed *22 *8 *2 *12 *2 *4 *"])


def failures_of(result):
    """Return the lines of failures; where CI is set, the short summary repeats them whole."""
    return takewhile(lambda line: "short test summary" not in line, result.outlines)


def test_a_new_type_fails_one_snapshot_with_one_line(run, copied):
    add_a_type(copied)
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*1 snapshot failed. 4 snapshots passed.*"])
    changed = [line.strip() for line in failures_of(result) if line.strip()[:2] in {"+ ", "- "}]
    assert changed == ["+ shiny.new.thing 1"]
    result.stdout.fnmatch_lines(["*/malformed/snapshots/skipped.txt is not what it was:"])
    (again,) = (line for line in failures_of(result) if line.startswith("reproduce: "))
    command = shlex.split(again.removeprefix("reproduce: "))
    assert command[:3] == ["pytest", *DRILLS[:2]]
    assert f"--tally-recording={copied}" in command


def test_snapshots_are_updated_when_asked(run, copied):
    add_a_type(copied)
    leftover = copied / "snapshots" / "gone.txt"
    leftover.write_text("x")
    run("--snapshot-update").assert_outcomes(passed=1)
    assert "shiny.new.thing 1\n" in (copied / "snapshots" / "skipped.txt").read_text()
    assert not leftover.exists()


def test_a_snapshot_that_is_missing_or_unused_fails(run, copied):
    (copied / "snapshots" / "gone.txt").write_text("x")
    (copied / "snapshots" / "rejected.txt").unlink()
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "there is no */snapshots/rejected.txt; run with --snapshot-update to write it",
            "nothing uses */snapshots/gone.txt; run with --snapshot-update*",
        ]
    )
    assert not (copied / "snapshots" / "rejected.txt").exists()


def test_a_recording_that_is_not_whole_fails(run, copied):
    stream = copied / "notifications.jsonl.zst"
    stream.write_bytes(stream.read_bytes()[:-1])
    result = run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["tally: *was truncated*"])


def test_the_mark_and_the_fixture_in_a_test_of_ones_own(pytester, copied):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.tally_recording("malformed")
        def test_mine(tally_recording):
            assert tally_recording.unparseable == 12

        @pytest.mark.tally_recording("malformed")
        def test_again(tally_recording):
            assert tally_recording.skipped["instance.create.end"] == 1

        def test_none(tally_recording):
            pass
        """
    )
    result = pytester.runpytest_subprocess("--tally-stack=embedded", "-rs")
    result.assert_outcomes(passed=2, skipped=1)
    result.stdout.fnmatch_lines(["*name one, as in --tally-recording=recordings/NAME*"])
    assert sum(line.startswith("malformed ") for line in result.outlines) == 1


def test_a_directory_of_recordings_stands_for_all_of_them(pytester, copied):
    shutil.copytree(copied, copied.parent / "another")
    result = pytester.runpytest_inprocess(
        *DRILLS, "--tally-recording=recordings", "--collect-only", "-q"
    )
    result.stdout.fnmatch_lines(["*test_recording?another?", "*test_recording?malformed?"])


@pytest.mark.parametrize(
    "arguments",
    [("--tally-recording=nothing",), ("--tally-recording=recordings", "--tally-factor=-1")],
)
def test_what_is_no_recording_or_no_pace_is_a_usage_error(pytester, copied, arguments):
    result = pytester.runpytest_inprocess(*DRILLS, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("asked", ["--tally-seed=1", f"--tally-recording={RECORDINGS}"])
def test_a_run_that_drills_nothing_says_so(pytester, asked):
    pytester.makepyfile("def test_plain(): pass")
    result = pytester.runpytest_inprocess(asked, "--tally-stack=embedded")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["tally: nothing was drilled or replayed: *pytest_tally.drills"])


def test_a_run_that_failed_before_it_drilled_is_told_nothing_else(pytester):
    pytester.makepyfile("def test_plain(tally_seed): raise OSError")
    result = pytester.runpytest_inprocess("--tally-seed=1", "--tally-stack=embedded")
    result.assert_outcomes(failed=1)
    assert "nothing was drilled" not in result.stdout.str()
