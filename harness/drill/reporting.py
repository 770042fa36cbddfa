"""What a drill reads from a Reporting API: events, statistics, dead letters, its own counters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import requests
from prometheus_client.parser import text_string_to_metric_families

from harness.calendar import rfc3339
from harness.errors import HarnessError
from harness.stack.interface import Access

PAGE = 1000
TIMEOUT = 60.0


class ReportingError(HarnessError):
    """The Reporting API did not answer a question the drill has to ask. Never shows a token."""


class NotPermitted(ReportingError):
    """The token the drill was given does not cover the question."""


class StoredEvent(msgspec.Struct, frozen=True):
    """The members of a stored event that a drill judges; times as the API writes them."""

    event_id: str
    timestamp: str
    event_type: str
    resource_type: str
    resource_id: str
    project_id: str


class DeadLetter(msgspec.Struct, frozen=True):
    """An event the Reporting API refused and kept."""

    reason: str


class _Events(msgspec.Struct):
    items: list[StoredEvent]
    next_cursor: str | None


class _DeadLetters(msgspec.Struct):
    items: list[DeadLetter]
    next_cursor: str | None


class _Bucket(msgspec.Struct):
    cloud: str
    event_type: str
    count: int
    source: str = "collector"


class _Buckets(msgspec.Struct):
    items: list[_Bucket]


@dataclass(frozen=True, slots=True)
class Tally:
    """The service's own counters about one cloud.

    Attributes:
        duplicates: events it had already stored.
        refused_by_scope: events of another platform or cloud than the credential's.
    """

    duplicates: int
    refused_by_scope: int


class ReportingClient:
    """Asks one Reporting API about one cloud."""

    def __init__(self, access: Access, cloud: str) -> None:
        """Open a session with the api token of `access`."""
        self._url = access.url.rstrip("/")
        self._cloud = cloud
        self._session = requests.Session()
        self._session.trust_env = False
        if access.api_token:
            self._session.headers["Authorization"] = f"Bearer {access.api_token}"

    def close(self) -> None:
        """End the session."""
        self._session.close()

    def events(self) -> tuple[StoredEvent, ...]:
        """Return every event of the cloud a collector delivered, over all instants."""
        found: list[StoredEvent] = []
        query = {"cloud": self._cloud, "source": "collector"}
        for body in self._pages("/api/v1/events", query):
            found.extend(self._decode(body, _Events).items)
        return tuple(found)

    def dead_letters(self) -> tuple[DeadLetter, ...]:
        """Return every event that was refused and kept; needs the role admin."""
        found: list[DeadLetter] = []
        for body in self._pages("/api/v1/rejected-events", {}):
            found.extend(self._decode(body, _DeadLetters).items)
        return tuple(found)

    def statistics(self, start: int, end: int) -> Mapping[str, int]:
        """Return how many collector events of each type lie in ``[start, end)``, by the day."""
        body = self._get(
            "/api/v1/stats/events",
            {
                "group_by": "cloud,event_type,source",
                "from": rfc3339(start),
                "to": rfc3339(end),
                "interval": "1d",
            },
        )
        sums: Counter[str] = Counter()
        for bucket in self._decode(body, _Buckets).items:
            if bucket.cloud == self._cloud and bucket.source == "collector":
                sums[bucket.event_type] += bucket.count
        return sums

    def tally(self) -> Tally:
        """Return the service's counters from its metrics page."""
        duplicates = scope = 0
        for family in text_string_to_metric_families(self._get("/metrics", {}).decode()):
            for sample in family.samples:
                if sample.labels.get("cloud") != self._cloud:
                    continue
                if sample.name == "tally_events_deduplicated_total":
                    duplicates += int(sample.value)
                elif (
                    sample.name == "tally_events_rejected_total"
                    and sample.labels.get("reason") == "scope"
                ):
                    scope += int(sample.value)
        return Tally(duplicates, scope)

    def _pages(self, path: str, query: Mapping[str, str]) -> Iterator[bytes]:
        cursor: str | None = None
        while True:
            page = {**query, "limit": str(PAGE)} | ({"cursor": cursor} if cursor else {})
            body = self._get(path, page)
            yield body
            cursor = self._decode(body, _Page).next_cursor
            if not cursor:
                return

    def _get(self, path: str, query: Mapping[str, str]) -> bytes:
        try:
            answer = self._session.get(self._url + path, params=query, timeout=TIMEOUT)
        except requests.RequestException as error:
            raise ReportingError(
                f"GET {path} at {self._url}: {type(error).__name__}; is the Reporting API up?"
            ) from error
        if answer.status_code in {401, 403}:
            raise NotPermitted(
                f"GET {path} at {self._url} answered {answer.status_code}; "
                "the drill needs an api token of role admin"
            )
        if answer.status_code != 200:
            raise ReportingError(
                f"GET {path} at {self._url} answered {answer.status_code}: {answer.text[:500]}"
            )
        return answer.content

    def _decode(self, body: bytes, shape: type[Any]) -> Any:
        try:
            return msgspec.json.decode(body, type=shape)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            raise ReportingError(
                f"{self._url} answered something else than the API documents: {error}"
            ) from error


class _Page(msgspec.Struct):
    next_cursor: str | None
