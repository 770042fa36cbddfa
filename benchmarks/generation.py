"""A month written by ``tally-harness run``, against CPython's json over the same notifications.

The run is a process of its own: start, imports, generation, oracle with traffic, events, files.
The other side decodes every line and the message inside it, and encodes both again; reading the
file is not counted, and neither is that process's start. Neither side waits for anything, so what
is judged is processor time, user and system: a busy machine stretches the wall clock, which is
shown beside it. Both sides take turns, and each is judged by its best round.

Bytecode is cached as in an installed program, in a directory of the benchmark's own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROUNDS = 7
MOST_RATIO = 2.0
MOST_MEMORY = 200  # MiB


def main() -> int:
    """Print the ratio and the memory; return 1 when one of them is above its bound."""
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        out = work / "month"
        run(work, out)  # fills the bytecode cache
        lines = (out / "notifications.jsonl").read_text(encoding="utf-8").splitlines()
        runs, codings = [], []
        for _ in range(ROUNDS):
            runs.append(run(work, out))
            codings.append(recode(lines))
    generated, recoded = min(cost.cpu for cost in runs), min(cost.cpu for cost in codings)
    walls = [min(cost.wall for cost in costs) for costs in (runs, codings)]
    memory = max(cost.memory for cost in runs)
    ratio = generated / recoded
    print(f"run --out: {generated:.3f} s, json: {recoded:.3f} s ({len(lines)} notifications)")
    print(f"ratio: {ratio:.2f} (at most {MOST_RATIO}); by the wall clock {walls[0] / walls[1]:.2f}")
    print(f"peak memory: {memory:.0f} MiB (at most {MOST_MEMORY})")
    return int(ratio > MOST_RATIO or memory > MOST_MEMORY)


@dataclass(frozen=True)
class Cost:
    """Processor seconds, wall seconds, and peak memory in MiB where it is a process's own."""

    cpu: float
    wall: float
    memory: float = 0.0


def run(work: Path, out: Path) -> Cost:
    """Write seed 1 of July 2026 in a process of its own."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(work / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    call = [sys.executable, "-m", "harness", "run", "--period", "2026-07", "--seed", "1"]
    call += ["--cloud", "os-sim", "--out", str(out)]
    began = time.perf_counter()
    process = subprocess.Popen(call, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(call)} ended with status {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, seconds, usage.ru_maxrss / 1024)


def recode(lines: list[str]) -> Cost:
    """Decode and encode every line and the message in it."""
    began, spent = time.perf_counter(), time.process_time()
    for line in lines:
        notification = json.loads(line)
        body = notification["body"]
        body["oslo.message"] = json.dumps(json.loads(body["oslo.message"]))
        json.dumps(notification)
    return Cost(time.process_time() - spent, time.perf_counter() - began)
