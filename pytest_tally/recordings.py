"""Recordings in a run: which ones, the fixture, and what each came to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tally import marks
from pytest_tally.fixtures import plainly

if TYPE_CHECKING:
    from harness.drill.recorded import Replayed

#: Where a recording named without a path is looked for, below the root of the run.
DIRECTORY = "recordings"
_NONE = "no recording to replay: name one, as in --tally-recording=recordings/NAME"
_REPLAYED: pytest.StashKey[dict[Path, Replayed]] = pytest.StashKey()


def chosen(config: pytest.Config) -> tuple[Path, ...]:
    """Return the recordings a run names; a directory of recordings stands for all of them.

    Raises:
        pytest.UsageError: a path leads to none.
    """
    from pytest_tally.state import config_of

    texts = config_of(config).further.get("recording", "").splitlines()
    return tuple(path for text in texts if text for path in _found(config, text))


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Run a test that needs a recording once for each."""
    if "tally_recording" not in metafunc.fixturenames:
        return
    try:
        names = marks.stated(metafunc.definition.iter_markers()).get("recording", ())
    except pytest.UsageError:
        names = ()  # the mark is refused for the whole run once everything is collected
    config = metafunc.config
    paths = [path for name in names for path in _found(config, name)] or chosen(config)
    cases = [pytest.param(path, id=path.name) for path in dict.fromkeys(paths)]
    metafunc.parametrize(
        "tally_recording",
        cases or [pytest.param(None, marks=pytest.mark.skip(reason=_NONE), id="none")],
        indirect=True,
    )


@pytest.fixture
def tally_recording(request: pytest.FixtureRequest) -> Replayed:
    """What the test's recording came to; it is replayed once however many tests ask."""
    __tracebackhide__ = True
    path: Path = request.param
    replayed = request.config.stash.setdefault(_REPLAYED, {})
    if path not in replayed:
        with plainly():
            replayed[path] = _replay(request.config, path, len(replayed))
    return replayed[path]


def _replay(config: pytest.Config, path: Path, number: int) -> Replayed:
    from harness.drill import recorded
    from harness.recording.recording import Recording
    from pytest_tally.report import Row
    from pytest_tally.state import config_of, runner_of, workerinput

    options, runner = config_of(config), runner_of(config)
    worker = workerinput(config).get("workerid", "")
    outcome = recorded.replay(
        Recording.open(path),
        runner.stack(),
        name="-".join(filter(None, (path.name, "recorded", str(number), worker))),
        factor=float(options.further["factor"]),
        out=options.artifacts / path.name if options.artifacts else None,
    )
    runner.rows.append(Row.of_recording(outcome, path, options))
    return outcome


def _found(config: pytest.Config, text: str) -> list[Path]:
    """Return the recordings a text names: a path, or a name below the usual directory."""
    for base in (config.invocation_params.dir, config.rootpath, config.rootpath / DIRECTORY):
        path = (base / text).resolve()
        if (path / "manifest.json").exists():
            return [path]
        if path.is_dir() and (found := sorted(path.glob("*/manifest.json"))):
            return [manifest.parent for manifest in found]
    raise pytest.UsageError(
        f"tally: {text} is no recording: no directory with a manifest.json, and neither is "
        f"{DIRECTORY}/{text}"
    )


def factor(text: str) -> Any:
    """Read the pace of replayed recordings."""
    import math

    from harness.errors import UsageError

    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise UsageError(f'"{text}" must be a number, zero or more')
    return value
