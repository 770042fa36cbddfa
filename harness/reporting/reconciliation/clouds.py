"""The file of clouds to reconcile with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from harness.errors import HarnessError

_MEMBERS = {"cloud": str, "platform": str, "adapter": str, "adapter_config": dict}
_SETTINGS = {"os_cloud": str, "include_octavia": bool}


class CloudsUnreadable(HarnessError):
    """The file of clouds cannot be read, or says something it cannot mean."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """One cloud of the file.

    Attributes:
        cloud: our name of it.
        platform: what it is.
        os_cloud: its name in clouds.yaml.
        include_octavia: whether its load balancers are listed.
    """

    cloud: str
    platform: str
    os_cloud: str
    include_octavia: bool = False


def read(path: Path) -> dict[str, Cloud]:
    """Return the clouds of a file by their names.

    ::

        clouds:
          - cloud: os-sim
            platform: openstack
            adapter: openstack
            adapter_config: {os_cloud: sim, include_octavia: true}

    Raises:
        CloudsUnreadable: with the file and the place in it.
    """
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise CloudsUnreadable(f"reading {path}: {error}") from error
    entries = document.get("clouds") if isinstance(document, dict) else None
    if not isinstance(entries, list) or set(document) != {"clouds"}:
        raise CloudsUnreadable(f"{path}: has to hold one member, clouds, with a list")
    clouds: dict[str, Cloud] = {}
    for index, entry in enumerate(entries):
        cloud = _cloud(entry, f"{path}: clouds[{index}]")
        if cloud.cloud in clouds:
            raise CloudsUnreadable(f'{path}: clouds[{index}]: "{cloud.cloud}" is named twice')
        clouds[cloud.cloud] = cloud
    return clouds


def _cloud(entry: Any, at: str) -> Cloud:
    _check(entry, _MEMBERS, at, optional=())
    if entry["adapter"] != "openstack":
        raise CloudsUnreadable(f'{at}: adapter "{entry["adapter"]}" is not known; use openstack')
    settings = entry["adapter_config"]
    _check(settings, _SETTINGS, f"{at}.adapter_config", optional=("include_octavia",))
    return Cloud(
        cloud=entry["cloud"],
        platform=entry["platform"],
        os_cloud=settings["os_cloud"],
        include_octavia=settings.get("include_octavia", False),
    )


def _check(value: Any, members: Mapping[str, type], at: str, *, optional: tuple[str, ...]) -> None:
    if not isinstance(value, dict):
        raise CloudsUnreadable(f"{at}: has to hold {', '.join(members)}")
    for name in value:
        if name not in members:
            raise CloudsUnreadable(f'{at}: setting "{name}" is not known; use {", ".join(members)}')
    for name, kind in members.items():
        if name in value:
            if not isinstance(value[name], kind) or value[name] == "":
                raise CloudsUnreadable(f"{at}: {name} has to be a {kind.__name__}")
        elif name not in optional:
            raise CloudsUnreadable(f"{at}: {name} is missing")
