"""The counter source that asks a Prometheus-like metrics store."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec
import requests

from harness.engine import number
from harness.engine.counters.source import IdentityNotQueryable
from harness.engine.errors import CounterFailure
from harness.engine.instant import SECOND
from harness.engine.record import UsageRecord
from harness.timeline import Event

_IDENTITY = re.compile(r"[A-Za-z0-9._:/@-]*")
_PLACEHOLDER = re.compile(r"\{(cloud|resource_id|project_id|window)\}")
_TIMEOUT_S = 30
#: Failures in a row after which a source is asked only now and then.
_PATIENCE = 5
_EVERY = 50


class MetricsQuery:
    """Evaluates a query at the end of every usage record.

    The query may hold ``{cloud}``, ``{resource_id}``, ``{project_id}`` and ``{window}``, the
    length of the record.
    """

    def __init__(
        self,
        platform: str,
        resource_type: str,
        metric: str,
        *,
        query: str,
        url: str,
        required: bool = True,
    ) -> None:
        """Name the store by its base `url`; queries go to ``/api/v1/query`` below it."""
        self.platform = platform
        self.resource_type = resource_type
        self.metric = metric
        self.required = required
        self._query = query
        self._url = f"{url.rstrip('/')}/api/v1/query"
        self._session = requests.Session()
        self._failures = 0
        self._skipped = 0

    def quantity(self, record: UsageRecord, events: Sequence[Event]) -> Decimal:  # noqa: ARG002 - a source that needs no history
        """Return the value of the only series, at four places; 0 when there is none."""
        query = self._bind(record)
        if self._failures >= _PATIENCE:
            self._skipped = (self._skipped + 1) % _EVERY
            if self._skipped:
                raise CounterFailure(
                    f"not asked: {self._failures} queries in a row failed; check {self._url}"
                )
        try:
            value = _value(self._ask(query, record.end))
        except CounterFailure:
            self._failures += 1
            raise
        self._failures = self._skipped = 0
        return value

    def _bind(self, record: UsageRecord) -> str:
        known = {
            "cloud": record.resource.cloud,
            "resource_id": record.resource.resource_id,
            "project_id": record.project_id,
            "window": window(record.seconds),
        }
        for name, identity in known.items():
            if not _IDENTITY.fullmatch(identity):
                raise IdentityNotQueryable(
                    f"{name} {identity!r} holds more than letters, digits and ._:/@-"
                )
        return _PLACEHOLDER.sub(lambda match: known[match[1]], self._query)

    def _ask(self, query: str, instant: int) -> Any:
        seconds, micros = divmod(instant, SECOND)
        try:
            answer = self._session.post(
                self._url,
                data={"query": query, "time": f"{seconds}.{micros:06d}"},
                timeout=_TIMEOUT_S,
            )
        except requests.RequestException as error:
            raise CounterFailure(f"{self._url}: {type(error).__name__}") from error
        if answer.status_code != requests.codes.ok:
            raise CounterFailure(f"{self._url} answered {answer.status_code}: {answer.text[:512]}")
        try:
            return msgspec.json.decode(answer.content)["data"]
        except (msgspec.DecodeError, KeyError, TypeError) as error:
            raise CounterFailure(f"{self._url} answered no query result") from error


def window(seconds: int) -> str:
    """Write a length in the coarsest of hours, minutes and seconds that divides it."""
    if seconds < 1:
        return "1s"
    for unit, length in (("h", 3600), ("m", 60)):
        if seconds % length == 0:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def _value(data: Any) -> Decimal:
    """Return the number of an instant query's result."""
    try:
        result = data["result"]
        if data["resultType"] == "scalar":
            text = result[1]
        elif data["resultType"] != "vector":
            raise CounterFailure(f"the query gives a {data['resultType']}; it has to give a vector")
        elif not result:
            return number.ZERO
        elif len(result) > 1:
            raise CounterFailure(f"the query gives {len(result)} series; aggregate them to one")
        else:
            text = result[0]["value"][1]
        value = Decimal(text)
    except (KeyError, IndexError, TypeError, InvalidOperation) as error:
        raise CounterFailure("the query gives no number") from error
    if not value.is_finite():
        raise CounterFailure(f"the query gives {text}")
    return number.to_four(value)
