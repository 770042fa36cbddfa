"""The table of options: help, ini keys, environment names, values a worker can be handed."""

import json
import re
from pathlib import Path

import pytest

from harness.drill.options import STACKS
from harness.stack.interface import KINDS
from pytest_tally.config import TallyConfig, resolve
from pytest_tally.options import TABLE

README = Path(__file__).parents[2] / "README.md"


def test_every_option_is_in_the_help_with_its_default(pytester):
    text = re.sub(r"\s+", " ", pytester.runpytest_inprocess("--help").stdout.str())
    group = text[text.index("tally: drill months") :]
    for option in TABLE:
        assert option.flag in group
        assert f"(default: {option.default})" in group


def test_every_option_has_an_ini_key(pytester):
    text = pytester.runpytest_inprocess("--help").stdout.str()
    for option in TABLE:
        assert f"\n  {option.dest} (string):" in text


def test_names_are_unique():
    assert len({option.flag for option in TABLE}) == len(TABLE)
    assert len({option.environment for option in TABLE}) == len(TABLE)


def test_a_stack_is_called_what_the_stacks_are_called():
    assert list(STACKS) == ["auto", *KINDS]


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        ("--tally-period=July", '"July" is not a YYYY-MM month; write one like 2026-07'),
        ("--tally-period=2999-01", "has not ended yet; name a past month like 2026-07"),
        ("--tally-cloud=partner", "is a virtual platform"),
        ("--tally-faults=duplicate", 'unknown fault switch "duplicate"; the switches are pre-existing'),
        ("--tally-faults=pre-existing,missing-create", "exclude each other"),
        ("--tally-stack=docker", "must be one of auto, containers, local, embedded, external"),
        ("--tally-seeds=1", "unrecognized arguments"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_a_usage_error_with_the_accepted_form(pytester, argument, text):
    result = pytester.runpytest_inprocess(argument)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert text in result.stderr.str()


def test_a_percent_sign_in_a_value_does_not_break_the_message(pytester):
    result = pytester.runpytest_inprocess("--tally-seed=100%s")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert '"100%s" names no seeds' in result.stderr.str()


def test_switches_come_in_canonical_order(ask):
    assert ask("config.faults", "--tally-faults=held-back,duplicates") == (
        "('duplicates', 'held-back')"
    )


def test_options_of_the_stack_are_handed_on_as_texts(ask):
    assert ask(
        "{k: v for k, v in config.stack_options.items() if v != 'false'}", "--tally-amqp-url=amqp://h/v", "--tally-allow-remote-broker"
    ) == "{'amqp_url': 'amqp://h/v', 'allow_remote_broker': 'true'}"  # fmt: skip


def test_artifacts_are_found_from_where_pytest_was_called(pytester, ask):
    assert ask("config.artifacts", "--tally-artifacts=kept") == str(pytester.path / "kept")


def test_what_a_worker_is_handed_is_plain_and_reads_the_same(pytester):
    config = pytester.parseconfig("--tally-seed=1..3", "--tally-artifacts=kept")
    resolved = resolve(config)
    assert TallyConfig.load(json.loads(json.dumps(resolved.dump()))) == resolved


def test_the_readme_lists_every_option():
    text = README.read_text()
    missing = [row for row in map(readme_row, TABLE) if row not in text]
    assert not missing, "put these rows into the README:\n" + "\n".join(missing)


def readme_row(option):
    return (
        f"| `{option.flag}` | `{option.environment}` | `{option.dest}` | {option.default} "
        f"| {option.help} |"
    )
