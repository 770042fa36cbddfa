"""The fixtures: the stack for a session, a month for a seed, a verdict for a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tally import marks

if TYPE_CHECKING:
    from harness.drill import Subject, Verdict
    from harness.stack import Stack
    from pytest_tally.config import TallyConfig
    from pytest_tally.runner import Runner


@pytest.fixture(scope="session")
def tally_config(pytestconfig: pytest.Config) -> TallyConfig:
    """The run's options: command line before environment before ini before default."""
    from pytest_tally.state import config_of

    return config_of(pytestconfig)


@pytest.fixture(scope="session")
def tally_stack(pytestconfig: pytest.Config) -> Stack:
    """The stack months run on, started once; `Stack.month` opens a part of it."""
    __tracebackhide__ = True
    with plainly():
        return _runner(pytestconfig).stack()


@pytest.fixture(scope="session")
def tally_seed(request: pytest.FixtureRequest) -> int:
    """The seed of the test's month; tests that use it run once for each seed."""
    seed: int = request.param
    return seed


@pytest.fixture
def tally_month(request: pytest.FixtureRequest, tally_seed: int) -> Subject:
    """The test's month: what was generated, its oracle, and what both ask of a pipeline."""
    __tracebackhide__ = True
    with plainly():
        return _runner(request.config).subject(_key(request, tally_seed))


@pytest.fixture
def tally_verdict(request: pytest.FixtureRequest, tally_seed: int) -> Verdict:
    """The verdict on the test's month; a month is drilled once however many tests ask."""
    __tracebackhide__ = True
    with plainly():
        verdict = _runner(request.config).verdict(_key(request, tally_seed))
    from pytest_tally.state import VERDICT

    request.node.stash[VERDICT] = verdict
    return verdict


@pytest.fixture
def tally_skip_counters(tally_verdict: Verdict) -> dict[str, int]:
    """What the collector skipped: type to count, most frequent first."""
    counters = tally_verdict.skip_counters()
    if counters is None:
        pytest.skip("the collector's counters cannot be read on this stack")
    return counters


@pytest.fixture
def tally_make_month(request: pytest.FixtureRequest) -> Callable[..., Subject]:
    """Return a factory ``(seed, *, period=…, cloud=…, faults=…)`` of months of one's own."""

    def make(seed: int, **stated: Any) -> Subject:
        __tracebackhide__ = True
        with plainly():
            return _runner(request.config).subject(_stated_key(request.config, seed, stated))

    return make


@pytest.fixture
def tally_drill(request: pytest.FixtureRequest) -> Callable[..., Verdict]:
    """Return a factory ``(seed, *, period=…, cloud=…, faults=…)`` of verdicts on such months."""

    def drill(seed: int, **stated: Any) -> Verdict:
        __tracebackhide__ = True
        with plainly():
            return _runner(request.config).verdict(_stated_key(request.config, seed, stated))

    return drill


@pytest.fixture
def tally_chaos(request: pytest.FixtureRequest) -> Callable[..., Verdict]:
    """Return a factory ``(seed, disturbances, *, chaos_seed=…, period=…, …)`` of verdicts.

    The month goes through the stack once more while ``disturbances`` strike, a comma list as
    ``tally-harness drill --chaos`` takes it. Where they strike follows from ``chaos_seed``, which
    is the month's seed unless stated.
    """

    def disturb(
        seed: int, disturbances: str, *, chaos_seed: int | None = None, **stated: Any
    ) -> Verdict:
        __tracebackhide__ = True
        with plainly():
            return _runner(request.config).disturbed(
                _stated_key(request.config, seed, stated),
                disturbances,
                seed if chaos_seed is None else chaos_seed,
            )

    return disturb


def _runner(config: pytest.Config) -> Runner:
    from pytest_tally.state import runner_of

    return runner_of(config)


def _key(request: pytest.FixtureRequest, seed: int) -> Any:
    from pytest_tally.state import config_of

    return config_of(request.config).key(seed, marks.stated(request.node.iter_markers()))


def _stated_key(config: pytest.Config, seed: int, stated: dict[str, Any]) -> Any:
    from pytest_tally.state import config_of

    return config_of(config).key(seed, stated)


@contextmanager
def plainly() -> Iterator[None]:
    """Report what the harness refuses as its message, without the frames it came through."""
    __tracebackhide__ = True
    from harness.errors import HarnessError

    try:
        yield
    except HarnessError as error:
        pytest.fail(f"tally: {error}", pytrace=False)
