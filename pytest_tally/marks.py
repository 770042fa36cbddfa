"""The marks: what each one says, how stacked ones merge, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pytest


class _Mark(NamedTuple):
    signature: str
    meaning: str
    read: Callable[..., Any]


def _seeds(*seeds: int | str) -> tuple[int, ...]:
    from harness.drill import grammar

    return grammar.seeds(",".join(str(seed) for seed in seeds))


def _period(period: str) -> str:
    from harness.drill import grammar

    return str(grammar.period(period))


def _cloud(cloud: str) -> str:
    from harness.drill import grammar

    return grammar.cloud(cloud)


def _faults(*faults: str) -> tuple[str, ...]:
    from harness.drill import grammar

    return grammar.switches(*faults)


def _recording(*names: str) -> tuple[str, ...]:
    from harness.errors import UsageError

    if not names or not all(isinstance(name, str) and name for name in names):
        raise UsageError("name recordings, each a path or a name below recordings/")
    return names


MARKS = {
    "tally_seed": _Mark(
        "*seeds", "seeds of the test's months, each a number or a text like '1..5'", _seeds
    ),
    "tally_period": _Mark("period", "the test's billing period, like '2026-07'", _period),
    "tally_cloud": _Mark("cloud", "name of the test's cloud", _cloud),
    "tally_faults": _Mark(
        "*faults", "fault switches of the test's months; none switches all off", _faults
    ),
    "tally_recording": _Mark(
        "*names", "recordings the test replays, each a path or a name in recordings/", _recording
    ),
}


def register(config: pytest.Config) -> None:
    """Make the marks known to pytest, each with its signature."""
    for name, mark in MARKS.items():
        config.addinivalue_line("markers", f"{name}({mark.signature}): {mark.meaning}")


def stated(marks: Iterable[pytest.Mark]) -> dict[str, Any]:
    """Merge the marks of one test, nearest first, into ``seed``, ``period`` and so on.

    Different marks add up; of two with one name the nearest wins.

    Raises:
        pytest.UsageError: a misspelt mark, or arguments its signature does not take.
    """
    from harness.errors import UsageError

    found: dict[str, Any] = {}
    for mark in marks:
        if not mark.name.startswith("tally"):
            continue
        known = MARKS.get(mark.name)
        if known is None:
            raise pytest.UsageError(
                f"@pytest.mark.{mark.name} is no mark of tally; the marks are {_forms()}"
            )
        member = mark.name.removeprefix("tally_")
        try:
            value = known.read(*mark.args, **mark.kwargs)
        except UsageError as error:
            raise pytest.UsageError(f"@pytest.mark.{mark.name}: {error}") from error
        except (TypeError, AttributeError) as error:
            raise pytest.UsageError(
                f"@pytest.mark.{mark.name} takes ({known.signature}): {known.meaning}"
            ) from error
        found.setdefault(member, value)
    return found


def _forms() -> str:
    return ", ".join(f"{name}({mark.signature})" for name, mark in MARKS.items())
