"""Reading the JSON lines our services log."""

from __future__ import annotations

import json
from pathlib import Path


def listening_port(log: Path, begin: int = 0) -> int:
    """Return the port a service says it listens on, 0 while it has not said so.

    Args:
        log: its log.
        begin: offset of the life that is meant.
    """
    with log.open("rb") as stream:
        stream.seek(begin)
        for line in stream:
            if line.endswith(b"\n") and b'"listening"' in line:
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue
                if entry.get("msg") == "listening":
                    return int(entry["port"])
    return 0
