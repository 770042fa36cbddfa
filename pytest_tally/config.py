"""What a run was asked for: resolved once, frozen, the same in every worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.drill import grammar
from harness.errors import UsageError
from pytest_tally.options import TABLE, given


@dataclass(frozen=True, slots=True)
class MonthKey:
    """Which month a test is about.

    Attributes:
        seed: seed of the month.
        period: ``YYYY-MM``.
        cloud: its cloud.
        faults: switches, canonical order.
    """

    seed: int
    period: str
    cloud: str
    faults: tuple[str, ...]

    @property
    def name(self) -> str:
        """A name for directories and reports; holds nothing a file system minds."""
        return "-".join((self.period, f"seed-{self.seed}", *self.faults))


@dataclass(frozen=True, slots=True)
class TallyConfig:
    """The options of a run: command line before environment before ini before default.

    Attributes:
        seeds: seeds to drill; empty when the run asks for none.
        period: ``YYYY-MM``.
        cloud: name of the cloud.
        faults: switches, canonical order.
        stack: kind of the stack, or ``auto``.
        artifacts: where each month leaves its files; None for nowhere.
        stack_options: what the stack takes, by the names of `harness.stack.Options`; texts.
        further: every other option of the table, by name; texts.
    """

    seeds: tuple[int, ...]
    period: str
    cloud: str
    faults: tuple[str, ...]
    stack: str
    artifacts: Path | None
    stack_options: Mapping[str, str]
    further: Mapping[str, str]

    def dump(self) -> dict[str, Any]:
        """Return plain values that `load` reads, for a worker."""
        return asdict(self) | {"artifacts": str(self.artifacts or "")}

    @classmethod
    def load(cls, values: Mapping[str, Any]) -> TallyConfig:
        """Read what `dump` returned, tuples turned to lists on the way or not."""
        return cls(
            seeds=tuple(values["seeds"]),
            period=values["period"],
            cloud=values["cloud"],
            faults=tuple(values["faults"]),
            stack=values["stack"],
            artifacts=Path(values["artifacts"]) if values["artifacts"] else None,
            stack_options=dict(values["stack_options"]),
            further=dict(values["further"]),
        )

    def key(self, seed: int, stated: Mapping[str, Any]) -> MonthKey:
        """Return the month of `seed`, with what a test's marks state in front."""
        return MonthKey(
            seed,
            str(stated.get("period", self.period)),
            stated.get("cloud", self.cloud),
            stated.get("faults", self.faults),
        )


def resolve(config: pytest.Config) -> TallyConfig:
    """Read the options of a run.

    Raises:
        pytest.UsageError: a variable or an ini key holds what its flag would refuse.
    """
    texts: dict[str, str] = {}
    read: dict[str, Any] = {}
    for option in TABLE:
        text, where = given(config, option)
        text = text or option.value
        texts[option.name] = text
        if text and option.check is not None:
            try:
                read[option.name] = option.check(text)
            except UsageError as error:
                raise pytest.UsageError(f"{where}: {error}") from error
    if read["stack"] == "external" and len(read.get("seed", ())) > 1:
        raise pytest.UsageError(
            "--tally-seed: the stack external takes one month per run, because the data of a "
            "foreign pipeline cannot be kept apart; name one seed"
        )
    named = {"seed", "period", "cloud", "faults", "stack", "artifacts"}
    stack = {option.name: option.stack for option in TABLE if option.stack}
    artifacts = texts["artifacts"]
    return TallyConfig(
        seeds=read.get("seed", ()),
        period=str(read.get("period") or grammar.last_period()),
        cloud=read["cloud"],
        faults=read.get("faults", ()),
        stack=read["stack"],
        artifacts=(config.invocation_params.dir / artifacts).resolve() if artifacts else None,
        stack_options={stack[name]: text for name, text in texts.items() if name in stack and text},
        further={name: text for name, text in texts.items() if name not in named | set(stack)},
    )
