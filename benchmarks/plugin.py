"""What loading the plugin adds to a pytest start that does not use it: at most 20 ms."""

from __future__ import annotations

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
        added = []
        for pair in range(PAIRS):
            order = ((), WITH) if pair % 2 else (WITH, ())
            took = {plugin: _start(name, *plugin) for plugin in order}
            added.append((took[WITH] - took[()]) * 1000)
    low, median, high = statistics.quantiles(added)
    print(
        f"plugin: {median:+.1f} ms median of {PAIRS} paired starts "
        f"(quartiles {low:+.1f} … {high:+.1f}), "
        f"bound {BOUND_MS:.0f} ms"
    )
    return 0 if median <= BOUND_MS else 1


def _start(directory: str, *plugin: str) -> float:
    began = time.perf_counter()
    subprocess.run(
        [*COMMAND, *plugin],
        cwd=directory,
        env={"PATH": "/usr/bin:/bin", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "HOME": directory},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
