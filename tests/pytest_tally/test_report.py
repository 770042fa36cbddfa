"""What a run says: header, summary, reproduce line, differences in words."""

import shlex
from pathlib import Path

import pytest

from harness.calendar import Period
from harness.drill.accounting import Accounting, Counts
from harness.drill.verdict import Verdict
from harness.oracle.compare import Comparison, Difference
from pytest_tally import report
from pytest_tally.config import MonthKey, TallyConfig, resolve

CONFIG = TallyConfig(
    seeds=(1, 2, 3, 9),
    period="2026-07",
    cloud="os-sim",
    faults=("held-back",),
    stack="external",
    artifacts=Path("/kept"),
    stack_options={
        "amqp_url": "amqp://user:secret@broker/v",
        "reporting_url": "http://127.0.0.1:8080",
        "allow_remote_broker": "true",
        "keep": "false",
    },
    further={},
)
KEY = MonthKey(3, "2026-07", "os sim", ("held-back",))


def difference(number, **changes):
    members = {
        "resource_type": "instance",
        "resource_id": f"i-{number:03}",
        "word": "wrong-quantity",
        "start": 1782864000,
        "end": 1782867600,
        "expected": "40.0000",
        "actual": "20.0000",
        "detail": "disk_gb 20.0000 over […), the oracle expects 40.0000",
        "more": 0,
        "touched_by": (),
    }
    return Difference(**(members | changes))


def verdict(*differences):
    return Verdict(
        seed=3,
        period=Period(2026, 7),
        cloud="os sim",
        faults=("held-back",),
        stack="external",
        comparison=Comparison("2026-03", 857, differences, {}, 0, 0, ()),
        counts=Counts(5, 5),
        expected_counts=Counts(5, 5),
        accounting=Accounting(9, {"a": 5}, {"b": 3}, 1, 5, 0, 0, None, 0, ("a sum is off",)),
        documented=frozenset(),
        not_judged=(),
        seconds={"total": 2.34},
    )


def test_header_holds_version_stack_seeds_and_period():
    assert report.header("1.0", "local, amqp://127.0.0.1:5672", CONFIG) == (
        "tally-harness 1.0: local, amqp://127.0.0.1:5672; seeds 1..3,9, 2026-07, os-sim, "
        "faults held-back"
    )


def test_the_summary_has_a_row_a_month_with_every_column():
    marked = difference(2, word="lost", touched_by=("held-back",))
    row = report.Row.of(verdict(difference(1), marked), KEY, CONFIG)
    head, line = report.table([row])
    assert head.split() == [
        "month", "published", "consumed", "skipped", "unparseable", "stored", "duplicates",
        "rejected", "compared", "differences", "marked", "unmarked", "seconds",
    ]  # fmt: skip
    assert line.split() == [
        "2026-07-seed-3-held-back", "os", "sim", "9", "5", "3", "1", "5", "0", "0", "857",
        "1", "lost,", "1", "wrong-quantity", "1", "1", "2.3",
    ]  # fmt: skip
    assert line.index("9") + 1 == head.index("published") + len("published")


def test_the_line_to_reproduce_names_everything_but_passwords(pytester):
    line = report.reproduce(KEY, CONFIG, "external")
    assert line == (
        "pytest --pyargs pytest_tally.drills --tally-seed=3 --tally-period=2026-07 "
        "'--tally-cloud=os sim' --tally-faults=held-back --tally-stack=external "
        "--tally-allow-remote-broker --tally-reporting-url=http://127.0.0.1:8080"
    )
    read = resolve(pytester.parseconfig(*shlex.split(line)[3:]))
    assert (read.seeds, read.period, read.cloud, read.faults) == (
        (3,),
        "2026-07",
        "os sim",
        ("held-back",),
    )
    assert read.stack_options["allow_remote_broker"] == "true"


def test_words_stand_oracle_beside_export_grouped_by_type():
    volume = difference(
        7, resource_type="volume", word="lost", actual=None, detail="missing", more=2
    )
    assert report.words(verdict(difference(1), volume), "/kept/verdict.json") == [
        "seed 3, 2026-07, os sim, on external:",
        "full report: /kept/verdict.json",
        "instance:",
        "  i-001: wrong-quantity, touched by no switch",
        "    disk_gb 20.0000 over […), the oracle expects 40.0000",
        "    oracle: 40.0000",
        "    export: 20.0000",
        "volume:",
        "  i-007: lost (and 2 more), touched by no switch",
        "    missing",
        "    oracle: 40.0000",
        "    export: nothing",
        "a sum is off",
    ]


def test_words_are_capped():
    lines = report.words(verdict(*(difference(number) for number in range(50))))
    assert "… and 30 further resources" in lines
    assert len(lines) < 100


def test_a_long_report_loses_its_middle():
    text = report.section(verdict(*(difference(number) for number in range(857))))
    lines = text.splitlines()
    assert len(lines) == 41
    assert lines[30].startswith("… ")
    assert lines[-1].startswith("failed, 858 findings")


def test_counters_are_laid_out_a_type_a_line():
    assert report.counters_table({"compute.instance.update": 2672, "image.create": 9}) == (
        "compute.instance.update  2672\nimage.create                9\n"
    )
    assert report.counters_table({}) == ""


@pytest.mark.parametrize(
    ("period", "faults", "name"),
    [("2026-07", (), "2026-07-seed-3"), ("2026-02", ("duplicates", "held-back"), "2026-02-seed-3-duplicates-held-back")],
)  # fmt: skip
def test_a_month_has_a_name_for_files(period, faults, name):
    assert MonthKey(3, period, "os/sim", faults).name == name
