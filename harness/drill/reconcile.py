"""A month published piece by piece, its cloud reconciled with its events after each.

A publishing month cannot be paused, so a drill with syncs publishes up to an instant, waits until
all of it is stored, and lets the fake OpenStack API answer for exactly that instant.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
import yaml

from harness.broker.clock import VirtualClock
from harness.calendar import rfc3339
from harness.calendar.instant import HOUR
from harness.cloud.app import run_app
from harness.cloud.identity import PASSWORD, USER
from harness.cloud.publication import Publication
from harness.drill.call import PATIENCE, PRICING
from harness.drill.observer import DrillStalled
from harness.drill.subject import Subject
from harness.drill.syncs import Size, Sync, balancers, expect_syncs
from harness.errors import HarnessError
from harness.month.render import notification
from harness.oracle.compare import Comparison, compare
from harness.pricing import read as read_pricing
from harness.reporting.app import create_app
from harness.reporting.settings import Settings
from harness.service.listener import Listener
from harness.stack.month import OpenMonth

_OS_CLOUD = "simulated"
_TIMEOUT = 120.0
_GLANCE = 0.02


class SyncFailed(HarnessError):
    """The Reporting API did not complete a sync."""


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What a month with syncs came to.

    Attributes:
        syncs: in order of their instants.
        comparison: the export against the oracle.
        balancers: load balancer id to (listeners, pools) as the projection has them at the end.
        expected: the same syncs as they follow from the month; see `expect_syncs`.
        lived: the same load balancers as the oracle has them.
    """

    syncs: tuple[Sync, ...]
    comparison: Comparison
    balancers: Mapping[str, Size]
    expected: tuple[Sync, ...]
    lived: Mapping[str, Size]

    def findings(self) -> tuple[str, ...]:
        """Say what is not as it has to be; empty for a drill that passed.

        Every sync has to book what follows from the month, the load balancers have to end with
        the cloud's sizes, and the export has to match.
        """
        found = [
            f"the sync at {rfc3339(sync.at)} booked {_words(sync)} instead of {_words(expected)}"
            for sync, expected in zip(self.syncs, self.expected, strict=True)
            if sync != expected
        ]
        found += [
            f"load balancer {name} ends with {self.balancers.get(name)} listeners and pools "
            f"instead of {self.lived.get(name)}"
            for name in sorted(self.balancers.keys() | self.lived.keys())
            if self.balancers.get(name) != self.lived.get(name)
        ]
        return (*found, *(difference.line() for difference in self.comparison.differences))

    @property
    def booked(self) -> tuple[int, int, int]:
        """How many creates, updates and deletes the syncs booked together."""
        return (
            sum(sync.created for sync in self.syncs),
            sum(sync.updated for sync in self.syncs),
            sum(sync.deleted for sync in self.syncs),
        )


def _words(sync: Sync) -> str:
    return f"{sync.created} creates, {sync.updated} updates, {sync.deleted} deletes"


def reconcile(
    subject: Subject,
    opened: OpenMonth,
    *,
    every: int = 12 * HOUR,
    first: int | None = None,
    patience: float = PATIENCE,
) -> Reconciled:
    """Publish a month with a sync every so often, bill it, and hold it against its oracle.

    Args:
        subject: a month whose stream is in order of its instants.
        opened: its part of an embedded stack.
        every: virtual seconds between two syncs; the last one stands at the end of the month.
        first: instant of the first sync; default: `every` into the month.
        patience: seconds without progress after which the drill gives up.

    Raises:
        SyncFailed: a sync was not completed.
        DrillStalled: the pipeline does not take what was published.
    """
    oracle = subject.oracle
    instants = [*range(oracle.start + every if first is None else first, oracle.end, every)]
    with ExitStack() as stack:
        drill = stack.enter_context(_open(subject, opened))
        opened.collector.start()
        stack.callback(opened.collector.stop)
        publisher = stack.enter_context(closing(opened.publisher()))
        syncs, stream, published = [], subject.month.stream, 0
        for at in [*instants, oracle.end]:
            piece = published
            while piece < len(stream) and stream[piece].instant <= at:
                piece += 1
            publisher.publish(map(notification, stream[published:piece]))
            published = piece
            _drain(opened, published, patience)
            syncs.append(drill.sync(at))
        with tempfile.TemporaryDirectory(prefix="tally-reconcile-") as scratch:
            export = opened.bill(str(subject.month.period), out=Path(scratch) / "export")
            if export is None:
                raise HarnessError("this stack exports nothing to compare")
            comparison = compare(oracle, export, read_pricing(PRICING))
        return Reconciled(
            syncs=tuple(syncs),
            comparison=comparison,
            balancers=drill.balancers(),
            expected=expect_syncs(subject, [*instants, oracle.end]),
            lived=balancers(oracle, oracle.end),
        )


class _Standing(VirtualClock):
    """A clock that stands where it is put."""

    def __init__(self, instant: float) -> None:
        super().__init__(instant, 0)

    def move(self, instant: float) -> None:
        with self._changed:
            self._base = instant


class _Drill:
    """The fake cloud, and a Reporting API that knows where it is."""

    def __init__(self, subject: Subject, clock: _Standing, url: str, opened: OpenMonth) -> None:
        assert opened.reporting is not None  # noqa: S101 - `_open` has looked
        self._cloud = subject.month.cloud
        self._clock = clock
        self._url = url
        self._access = opened.reporting

    def sync(self, at: int) -> Sync:
        """Have the cloud stand at `at`, and reconcile."""
        self._clock.move(at)
        answer = requests.post(
            f"{self._url}/internal/sync/{self._cloud}",
            json={"at": rfc3339(at)},
            headers={"Authorization": f"Bearer {self._access.internal_token}"},
            timeout=_TIMEOUT,
        )
        if answer.status_code != 200:
            raise SyncFailed(f"the sync at {rfc3339(at)} ended with {answer.text[:500]}")
        stats = answer.json()["stats"]
        return Sync(at, stats["created"], stats["updated"], stats["deleted"])

    def balancers(self) -> Mapping[str, Size]:
        """Return the live load balancers of the projection with their sizes."""
        answer = requests.get(
            f"{self._url}/api/v1/resources",
            params={"cloud": self._cloud, "resource_type": "loadbalancer"},
            headers={"Authorization": f"Bearer {self._access.api_token}"},
            timeout=_TIMEOUT,
        )
        answer.raise_for_status()
        return {
            item["resource_id"]: (item["size"]["listeners"], item["size"]["pools"])
            for item in answer.json()["items"]
        }


@contextmanager
def _open(subject: Subject, opened: OpenMonth) -> Iterator[_Drill]:
    if opened.reporting is None or opened.directory is None:
        raise HarnessError("a drill with syncs needs the embedded stack")
    month, oracle = subject.month, subject.oracle
    clock = _Standing(oracle.start)
    app = run_app(month, oracle, clock, Publication(len(month.stream), 0))
    with ExitStack() as stack:
        cloud = stack.enter_context(Listener(app, "127.0.0.1", 0))
        clouds = _configure(opened.directory, month.cloud, f"http://127.0.0.1:{cloud.port}/v3")
        stack.enter_context(_environment(OS_CLIENT_CONFIG_FILE=str(opened.directory / "os.yaml")))
        service = create_app(
            Settings(
                db_url=f"sqlite:///{opened.directory / 'reporting.db'}",
                internal_token=opened.reporting.internal_token,
                clouds=clouds,
                sync_allow_at=True,
                sync_settle=0,
                sync_budget=_TIMEOUT,
                log_level="ERROR",
            )
        )
        stack.callback(service.state.service.close)
        reporting = stack.enter_context(Listener(service, "127.0.0.1", 0))
        yield _Drill(subject, clock, f"http://127.0.0.1:{reporting.port}", opened)


def _configure(directory: Path, cloud: str, auth_url: str) -> Path:
    """Write clouds.yaml and the Reporting API's file of clouds; return the latter."""
    account: dict[str, Any] = {
        "auth_type": "v3password",  # no guessing of versions at /v3
        "auth": {
            "auth_url": auth_url,
            "username": USER,
            "password": PASSWORD,
            "project_name": "service",
            "user_domain_name": "Default",
            "project_domain_name": "Default",
        },
        "region_name": "RegionOne",
    }
    (directory / "os.yaml").write_text(yaml.safe_dump({"clouds": {_OS_CLOUD: account}}))
    entry = {
        "cloud": cloud,
        "platform": "openstack",
        "adapter": "openstack",
        "adapter_config": {"os_cloud": _OS_CLOUD, "include_octavia": True},
    }
    path = directory / "clouds.yaml"
    path.write_text(yaml.safe_dump({"clouds": [entry]}))
    return path


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _drain(opened: OpenMonth, published: int, patience: float) -> None:
    """Wait until the collector has handled and delivered everything published so far."""
    last: Sequence[int] = ()
    since = time.monotonic()
    while True:
        counters = opened.collector.counters()
        if counters is None:
            raise HarnessError("a drill with syncs needs a collector whose counters can be read")
        seen = counters.handled, counters.buffered
        if seen == (published, 0):
            return
        if seen != last:
            last, since = seen, time.monotonic()
        if time.monotonic() - since > patience:
            raise DrillStalled(
                f"{counters.handled} of {published} notifications handled and "
                f"{counters.buffered} events waiting after {patience:g} s without progress"
            )
        time.sleep(_GLANCE)
