"""What loading the plugin adds to a pytest start that does not use it: at most 20 ms.

Judged by the wall's clock. The processor's is printed beside it: a start is one thread that hardly
waits, so where the two disagree, the machine was busy.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAIRS = 25
BOUND_MS = 20.0
#: Plugins of third parties stay out, so that a pair differs in this one only.
COMMAND = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--collect-only")
WITH = ("-p", "pytest_tally.plugin")
EMPTY = "def test_nothing(): pass\n"


def main() -> int:
    """Time paired starts, print the median difference, and return 0 when it is within bounds."""
    with tempfile.TemporaryDirectory(prefix="tally-bench-") as name:
        (Path(name) / "test_nothing.py").write_text(EMPTY)
        _start(name)
        _start(name, *WITH)
        wall, processor = [], []
        for pair in range(PAIRS):
            order = ((), WITH) if pair % 2 else (WITH, ())
            took = {plugin: _start(name, *plugin) for plugin in order}
            for added, of, without in zip((wall, processor), took[WITH], took[()], strict=True):
                added.append((of - without) * 1000)
    median = _show("wall", wall)
    _show("processor", processor)
    print(f"bound: {BOUND_MS:.0f} ms by the wall's clock")
    return 0 if median <= BOUND_MS else 1


def _show(clock: str, added: list[float]) -> float:
    low, median, high = statistics.quantiles(added)
    print(
        f"plugin, {clock} time: {median:+.1f} ms median of {PAIRS} paired starts "
        f"(quartiles {low:+.1f} … {high:+.1f})"
    )
    return median


def _start(directory: str, *plugin: str) -> tuple[float, float]:
    """Return the seconds of one start by the wall's clock, and those its processor worked."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [*COMMAND, *plugin],
        cwd=directory,
        env={"PATH": "/usr/bin:/bin", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "HOME": directory},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
