from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_an_unknown_benchmark_is_named() -> None:
    call = [sys.executable, "-m", "benchmarks", "bogus"]
    ended = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "no benchmark bogus; there are " in ended.stderr
    assert "generation" in ended.stderr
