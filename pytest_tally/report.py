"""What a run says about its drills: header, summary, reproduce lines, and a difference in words."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pytest_tally.config import MonthKey, TallyConfig
from pytest_tally.options import TABLE

if TYPE_CHECKING:
    from pathlib import Path

    from harness.drill import Verdict
    from harness.drill.recorded import Replayed

_DRILLS = ("pytest", "--pyargs", "pytest_tally.drills")
#: Most resources an assertion message words.
RESOURCES = 20
_HEAD = (
    "month",
    "published",
    "consumed",
    "skipped",
    "unparseable",
    "stored",
    "duplicates",
    "rejected",
    "compared",
    "differences",
    "marked",
    "unmarked",
    "seconds",
)


@dataclass(frozen=True, slots=True)
class Row:
    """One month of the summary; plain values, so that a worker can hand it over.

    Attributes:
        cells: by the summary's columns.
        passed: whether the drill came out as documented.
        findings: what is not as it has to be.
        reproduce: the command that drills this month alone.
    """

    cells: list[str]
    passed: bool
    findings: list[str]
    reproduce: str

    @classmethod
    def of(cls, verdict: Verdict, key: MonthKey, config: TallyConfig) -> Row:
        """Sum a verdict up."""
        places = verdict.accounting
        words = Counter(difference.word for difference in verdict.differences)
        marked = verdict.touched
        return cls(
            cells=[
                key.name if key.cloud == "os-sim" else f"{key.name} {key.cloud}",
                str(places.published),
                _count(places.consumed),
                _count(places.skipped),
                _count(places.unparseable),
                _count(places.stored),
                _count(places.duplicates),
                _count(places.rejected),
                _count(None if verdict.comparison is None else verdict.comparison.compared),
                ", ".join(f"{n} {word}" for word, n in sorted(words.items())) or "0",
                str(marked),
                str(len(verdict.differences) - marked),
                f"{verdict.seconds['total']:.1f}",
            ],
            passed=verdict.passed,
            findings=list(verdict.findings()),
            reproduce=reproduce(key, config, verdict.stack),
        )

    @classmethod
    def of_recording(cls, replayed: Replayed, path: Path, config: TallyConfig) -> Row:
        """Sum up what a recording came to; its cells are those of its verdict where it has one."""
        again = reproduce_recording(path, config, replayed.stack)
        if replayed.verdict is not None:
            key = MonthKey(0, "", "os-sim", ())
            of = cls.of(replayed.verdict, key, config)
            cells = [replayed.name, *of.cells[1:]]
            return cls(cells, replayed.passed, [*of.findings, *replayed.problems], again)
        stored, rejected = (
            None if seen is None else sum(seen.values())
            for seen in (replayed.events, replayed.rejected)
        )
        cells = [
            replayed.name,
            str(replayed.published),
            _count(replayed.consumed),
            _count(replayed.skipped),
            _count(replayed.unparseable),
            _count(stored),
            "-",
            _count(rejected),
            *("-" for _ in range(4)),
            f"{replayed.seconds:.1f}",
        ]
        return cls(cells, replayed.passed, list(replayed.problems), again)

    def document(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return asdict(self)


def reproduce(key: MonthKey, config: TallyConfig, stack: str) -> str:
    """Return the command that drills one month the way this run did."""
    words = [
        *_DRILLS,
        f"--tally-seed={key.seed}",
        f"--tally-period={key.period}",
    ]
    if key.cloud != "os-sim":
        words.append(f"--tally-cloud={key.cloud}")
    if key.faults:
        words.append(f"--tally-faults={','.join(key.faults)}")
    words.append(f"--tally-stack={stack}")
    return shlex.join([*words, *_stack_flags(config)])


def reproduce_recording(path: Path, config: TallyConfig, stack: str) -> str:
    """Return the command that replays one recording the way this run did."""
    command = [*_DRILLS, f"--tally-recording={path}", f"--tally-stack={stack}"]
    return shlex.join([*command, *_stack_flags(config)])


def _stack_flags(config: TallyConfig) -> Iterator[str]:
    for option in TABLE:
        text = config.stack_options.get(option.stack, "")
        if text and text != option.value and not _secret(text):
            yield f"{option.flag}={text}" if option.metavar else option.flag


def table(rows: Sequence[Row]) -> list[str]:
    """Lay the summary out in columns as wide as they need to be."""
    lines = [list(_HEAD), *(row.cells for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    return [
        "  ".join(
            cell.ljust(width) if column in {0, 9} else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def words(verdict: Verdict, artifacts: str = "") -> list[str]:
    """Word a verdict for an assertion: resource by resource, the oracle beside the export."""
    findings = verdict.findings()
    lines = [f"seed {verdict.seed}, {verdict.period}, {verdict.cloud}, on {verdict.stack}:"]
    if artifacts:
        lines.append(f"full report: {artifacts}")  # near the top: pytest cuts long explanations
    shown = verdict.undocumented()
    for resource_type, group in groupby(
        shown[:RESOURCES], key=lambda difference: difference.resource_type
    ):
        lines.append(f"{resource_type}:")
        for difference in group:
            more = f" (and {difference.more} more)" if difference.more else ""
            marks = ", ".join(difference.touched_by) or "no switch"
            lines += [
                f"  {difference.resource_id}: {difference.word}{more}, touched by {marks}",
                f"    {difference.detail}",
                f"    oracle: {difference.expected or 'nothing'}",
                f"    export: {difference.actual or 'nothing'}",
            ]
    if len(shown) > RESOURCES:
        lines.append(f"… and {len(shown) - RESOURCES} further resources")
    worded = {difference.line() for difference in shown}
    lines += [finding for finding in findings if finding not in worded]
    return lines


def section(verdict: Verdict) -> str:
    """Return the report of a failed drill, its middle left out where it is long."""
    lines = list(verdict.lines())
    if len(lines) > 2 * RESOURCES:
        left_out = len(lines) - 2 * RESOURCES
        lines[RESOURCES + 10 : -(RESOURCES - 10)] = [f"… {left_out} further lines …"]
    return "\n".join(lines)


def header(version: str, stack: str, config: TallyConfig) -> str:
    """Return the line a run begins with."""
    faults = f", faults {','.join(config.faults)}" if config.faults else ""
    subjects = []
    if config.seeds:
        seeds = _spans(config.seeds)
        subjects.append(f"seeds {seeds}, {config.period}, {config.cloud}{faults}")
    if recordings := config.further.get("recording", "").split():
        subjects.append(f"recordings {', '.join(recordings)}")
    return f"tally-harness {version}: {stack}; {'; '.join(subjects)}"


def counters_table(counters: Mapping[str, int]) -> str:
    """Lay skip counters out the way a person reads them: a type and its count a line."""
    width = max(map(len, counters), default=0)
    digits = max((len(str(count)) for count in counters.values()), default=0)
    return "".join(
        f"{name.ljust(width)}  {str(count).rjust(digits)}\n" for name, count in counters.items()
    )


def _spans(seeds: Iterable[int]) -> str:
    """Write seeds with their runs drawn together: ``1..5,9``."""
    spans: list[list[int]] = []
    for seed in seeds:
        if spans and spans[-1][1] + 1 == seed:
            spans[-1][1] = seed
        else:
            spans.append([seed, seed])
    return ",".join(str(first) if first == last else f"{first}..{last}" for first, last in spans)


def _count(number: int | Mapping[str, int] | None) -> str:
    if number is None:
        return "?"
    return str(number if isinstance(number, int) else sum(number.values()))


def _secret(text: str) -> bool:
    """Tell whether a text is an address with a password in it."""
    return "@" in text
