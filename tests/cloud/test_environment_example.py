"""``.env.example`` names what a run reads, no more and no less."""

from pathlib import Path

import pytest

from harness.cli import run_options
from harness.service.environment import Environment

ROOT = Path(__file__).parents[2]


class Noting(dict):
    """An environment that keeps the names it was asked for."""

    def __init__(self, **variables):
        super().__init__(variables)
        self.asked = set()

    def get(self, name, default=None):
        self.asked.add(name)
        return super().get(name, default)


def test_the_example_lists_every_variable():
    variables = Noting(
        TALLY_SIM_AMQP_URL="amqp://127.0.0.1",
        TALLY_SIM_OTLP_URL="http://h/",
        TALLY_SIM_OTLP_USER="u",
        TALLY_SIM_OTLP_PASSWORD="p",
        TALLY_SIM_OTLP_INSECURE="true",
        TALLY_SIM_REPORTING_URL="http://h",
        TALLY_SIM_REPORTING_INSECURE="true",
        TALLY_SIM_API_TOKEN="t",
        TALLY_SIM_GARDEN_CLOUD="g",
    )

    class Arguments:
        cloud = out = None
        period, seed, factor, wait = "2026-07", "1", "744", "2m"
        metrics_interval, faults, register, allow_remote_broker = "300s", "", "true", False

    run_options.read_options(Arguments, variables)
    lines = (ROOT / ".env.example").read_text().splitlines()
    listed = {line.partition("=")[0] for line in lines if "=" in line and line[0] != "#"}
    assert listed == variables.asked


@pytest.mark.parametrize("name", ["TALLY_SIM_AMQP_URL", "TALLY_SIM_API_TOKEN"])
def test_a_secret_may_stand_in_a_file(tmp_path, name):
    path = tmp_path / "secret"
    path.write_text("hidden\n")
    assert Environment({f"{name}_FILE": str(path)}).secret(name) == "hidden"
