"""The file that lists counter sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from harness.engine.counters.metricsql import MetricsQuery
from harness.engine.counters.samples import samples
from harness.engine.counters.source import CounterSource, EventCount
from harness.errors import UsageError

#: What each kind states besides platform, resource_type, metric and kind; True: optional.
_MEMBERS = {
    "events": {"event_type": False},
    "metricsql": {"query": False, "required": True},
    "samples": {"path": False},
}
_COMMON = ("platform", "resource_type", "metric", "kind")


def read_sources(path: Path, *, metrics_url: str = "") -> tuple[CounterSource, ...]:
    """Read a YAML list of counter sources.

    Args:
        path: the file. A ``samples`` source's own path is relative to it.
        metrics_url: base URL of the metrics store that ``metricsql`` sources ask.

    Raises:
        UsageError: the file cannot be read, or an entry is malformed; names the entry.
        CounterFailure: the file of a ``samples`` source cannot be read.
    """
    try:
        entries = yaml.safe_load(path.read_bytes())
    except OSError as error:
        raise UsageError(f"reading the counter sources {path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise UsageError(f"reading the counter sources {path}: {error}") from error
    if entries is None:
        return ()
    if not isinstance(entries, list):
        raise UsageError(f"the counter sources {path} must be a list of sources")
    sources: list[CounterSource] = []
    for index, entry in enumerate(entries):
        place = f"the counter sources {path}: [{index}]"
        source = _source(entry, place, path.parent, metrics_url)
        key = (source.platform, source.resource_type, source.metric)
        if any(key == (one.platform, one.resource_type, one.metric) for one in sources):
            raise UsageError(f"{place}.metric: {source.metric} has a source for this type already")
        sources.append(source)
    return tuple(sources)


def _source(entry: Any, place: str, directory: Path, metrics_url: str) -> CounterSource:
    kind = _checked(entry, place)
    key = (entry["platform"], entry["resource_type"], entry["metric"])
    if kind == "events":
        return EventCount(*key, event_type=entry["event_type"])
    if kind == "samples":
        platform, resource_type, metric = key
        return samples(
            directory / entry["path"],
            platform=platform,
            resource_type=resource_type,
            metric=metric,
        )
    required = entry.get("required", True)
    if not isinstance(required, bool):
        raise UsageError(f"{place}.required must be true or false")
    if not metrics_url:
        raise UsageError(f"{place} is a metricsql source; set TALLY_ENGINE_VM_URL to ask one")
    return MetricsQuery(*key, query=entry["query"], url=metrics_url, required=required)


def _checked(entry: Any, place: str) -> str:
    """Return the kind of an entry that states what its kind needs and nothing else."""
    if not isinstance(entry, dict):
        raise UsageError(f"{place} must be a mapping with {', '.join(_COMMON)}")
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in _MEMBERS:
        raise UsageError(f'{place}.kind: "{kind}" must be one of {", ".join(_MEMBERS)}')
    own = _MEMBERS[kind]
    for name in entry:
        if name not in _COMMON and name not in own:
            accepted = ", ".join((*_COMMON, *own))
            raise UsageError(f"{place}.{name} is unknown; a {kind} source states {accepted}")
    for name in (*_COMMON, *(name for name, optional in own.items() if not optional)):
        if not isinstance(entry.get(name), str) or not entry[name]:
            raise UsageError(f"{place}.{name} must be a text that is not empty")
    return kind
