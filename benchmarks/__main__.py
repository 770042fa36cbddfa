"""Run the benchmarks named on the command line, all of them by default.

A benchmark is a module of this package with ``main() -> int``: it prints its ratio and its bound,
and returns 1 above the bound. The exit status is 1 when one of them does.
"""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path


def names() -> list[str]:
    """Return the modules of this package that are benchmarks."""
    modules = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted(module.name for module in modules if not module.name.startswith("_"))


def main(chosen: list[str]) -> int:
    """Run the chosen benchmarks and return the exit status."""
    known = names()
    unknown = [name for name in chosen if name not in known]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    if len(chosen) == 1:
        return _run(chosen[0])
    # Each in a process of its own: a child's peak memory begins with what its parent holds.
    calls = ([sys.executable, "-m", __spec__.name, name] for name in chosen or known)
    return max(subprocess.run(call, check=False).returncode for call in calls)


def _run(name: str) -> int:
    module = importlib.import_module(f"benchmarks.{name}")
    if not hasattr(module, "main"):
        return 0
    print(f"== {name}", flush=True)
    return int(module.main())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
