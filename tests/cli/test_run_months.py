"""Every file of thirteen months, as ``tally-harness run`` writes them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main

MONTHS = json.loads(Path(__file__).with_name("months.json").read_text())


def name_of(month: dict[str, Any]) -> str:
    return "-".join([f"{month['seed']}", month["period"], month["cloud"], *month["faults"]])


@pytest.mark.slow
@pytest.mark.parametrize("month", MONTHS, ids=name_of)
def test_every_digest_comes_out_of_a_run(tmp_path: Path, month: dict[str, Any]) -> None:
    call = ["run", "--period", month["period"], "--seed", str(month["seed"])]
    call += ["--cloud", month["cloud"], "--faults", ",".join(month["faults"])]
    assert main([*call, "--metrics-interval", "300s", "--out", str(tmp_path)]) == 0
    assert month["sha256"] == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in tmp_path.iterdir()
    }


def test_the_months_are_thirteen() -> None:
    assert len({name_of(month) for month in MONTHS}) == 13
