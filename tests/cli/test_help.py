"""Help texts: every flag says what it is for, and every variable that is read is named."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Iterator

import pytest

from harness.cli.main import COMMANDS
from harness.collector.settings import Settings as CollectorSettings
from harness.collector.settings import Source, Surface
from harness.drill.options import MONTHS, STACK
from harness.reporting.settings import Settings as ReportingSettings
from harness.service.environment import Environment

#: What readers insist on.
SET = {
    "TALLY_OSC_AMQP_URL": "amqp://127.0.0.1",
    "TALLY_OSC_CLOUD": "os-sim",
    "TALLY_OSC_REPORTING_URL": "http://127.0.0.1",
    "TALLY_OSC_REPORTING_INSECURE": "true",
    "TALLY_OSC_TOKEN": "a-token-of-sixteen-characters",
    "TALLY_OSC_BUFFER_PATH": "outbox.db",
    "TALLY_REPORTING_DB_URL": "sqlite:///reporting.db",
}


def parsers(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, argparse.Action]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, inner in action.choices.items():
                yield from parsers(inner, f"{name} {word}")
        else:
            yield name, action


def configured(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=name)
    importlib.import_module(f"harness.cli.{name}").configure(parser)
    return parser


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_says_what_it_is_for(name):
    silent = [
        (command, action.dest)
        for command, action in parsers(configured(name), name)
        if not action.help
    ]
    assert silent == []


class Asked(dict[str, str]):
    """Variables that remember their names having been asked for."""

    def __init__(self) -> None:
        super().__init__(SET)
        self.names: set[str] = set()

    def get(self, name, default=None):
        self.names.add(name)
        return super().get(name, default)


@pytest.mark.parametrize(
    ("words", "readers"),
    [
        (["collector"], [CollectorSettings, Source, Surface]),
        (["reporting", "serve"], [ReportingSettings]),
    ],
)
def test_every_variable_that_is_read_is_named(words, readers, capsys):
    variables = Asked()
    for reader in readers:
        reader.from_environment(Environment(variables))
    parser = configured(words[0])
    with pytest.raises(SystemExit):
        parser.parse_args([*words[1:], "--help"])
    text = capsys.readouterr().out
    text = re.sub(r"(TALLY_\w+)\[_FILE\]", r"\1 \1_FILE", text)
    text = re.sub(r"(TALLY_\w+)_HTTP_ADDR, _HTTP_PORT", r"\1_HTTP_ADDR \1_HTTP_PORT", text)
    named = set(re.findall(r"TALLY_\w+", text))
    refused = {"TALLY_REPORTING_OIDC_JWKS_URL"}
    assert variables.names - refused == named


def test_a_drill_names_the_variable_of_each_option(capsys):
    with pytest.raises(SystemExit):
        configured("drill").parse_args(["--help"])
    text = "".join(capsys.readouterr().out.split())
    assert [o.environment for o in (*MONTHS, *STACK) if f"({o.environment};" not in text] == []
