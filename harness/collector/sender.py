"""The sender: takes events from the outbox to the Reporting API, in order, none dropped."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
import requests
import urllib3

from harness.collector.counters import Counters
from harness.collector.event import EVENT_MAX
from harness.collector.outbox import Outbox, OutboxError, Row
from harness.errors import HarnessError

_log = logging.getLogger(__name__)

_TIMEOUT = 30.0
_ANSWER_MAX = 8 * 1024 * 1024
_DELAY_FIRST, _DELAY_MAX = 1.0, 300.0


class DeliveryError(HarnessError):
    """A post did not end in a 200 that accounts for every event of it."""


class _TooLarge(DeliveryError):
    """The Reporting API refused a batch for its size (413)."""


_Count = Annotated[int, msgspec.Meta(ge=0)]


class Answer(msgspec.Struct):
    """What the Reporting API says about a batch; no member may be missing.

    Attributes:
        accepted: events stored.
        duplicates: events it had.
        rejected: one object for each event it refused, with ``index``, ``event_id``, ``reason``.
    """

    accepted: _Count
    duplicates: _Count
    rejected: list[dict[str, Any]]

    @property
    def accounted(self) -> int:
        """How many events it says something about."""
        return self.accepted + self.duplicates + len(self.rejected)


_decode_answer = msgspec.json.Decoder(Answer).decode


@dataclass(slots=True)
class BatchLimit:
    """How many events go into one post.

    A 413 halves the length; successes double it again, but below the smallest length refused.

    Attributes:
        most: the configured length, 1 to 1000.
        current: the length of the next post.
        refused: the smallest length refused so far.
    """

    most: int
    current: int = field(init=False)
    refused: int | None = None

    def __post_init__(self) -> None:
        self.current = self.most

    def shrink(self, length: int) -> None:
        """Take a refusal of `length` events into account."""
        self.refused = length if self.refused is None else min(self.refused, length)
        self.current = max(1, length // 2)

    def grow(self, length: int) -> None:
        """Take a success of `length` events into account."""
        if self.refused is not None and self.refused <= length:
            self.refused = None  # what was refused then passes now
        bound = self.most if self.refused is None else self.refused - 1
        self.current = max(1, min(self.most, bound, 2 * self.current))


class Sender:
    """Posts the oldest events until told to stop.

    A batch is deleted once a 200 accounted for each of its events, whatever became of them: those
    refused are the Reporting API's now. Anything else keeps it for the next attempt, also a 200
    of something in between that never saw the events, such as a maintenance page.
    """

    def __init__(
        self,
        outbox: Outbox,
        counters: Counters,
        url: str,
        token: str,
        *,
        batch_max: int,
        flush_interval: float,
        stop: threading.Event,
        checkpoint: Callable[[str], None],
    ) -> None:
        """Send from `outbox` to the Reporting API at `url`.

        Args:
            outbox: where events come from.
            counters: where deliveries are counted.
            url: base URL, without a final slash.
            token: ingest token.
            batch_max: events in a post, at most.
            flush_interval: seconds between two posts that are not full.
            stop: ends `run`.
            checkpoint: called at ``posted``, between an answer and the deletion.
        """
        self._outbox = outbox
        self._counters = counters
        self._url = f"{url}/api/v1/events"
        self._limit = BatchLimit(batch_max)
        self._flush_interval = flush_interval
        self._stop = stop
        self._checkpoint = checkpoint
        self._session = requests.Session()
        self._session.auth = _Bearer(token)

    def run(self) -> None:
        """Post until stopped."""
        delay = _DELAY_FIRST
        while not self._stop.is_set():
            try:
                full = self.post()
            except _TooLarge as error:
                self._failed(error)
                delay = self._back_off(delay) if self._limit.refused == 1 else _DELAY_FIRST
            except (DeliveryError, OutboxError) as error:
                self._failed(error)
                delay = self._back_off(delay)
            else:
                delay = _DELAY_FIRST
                if not full:
                    self._stop.wait(self._flush_interval)
        self._session.close()

    def post(self) -> bool:
        """Post one batch, and tell whether it was a full one.

        Raises:
            DeliveryError: it was not taken and stays in the outbox.
            OutboxError: the outbox cannot be read, or a delivered batch not deleted.
        """
        rows = self._outbox.oldest(self._limit.current)
        if not rows:
            return False
        try:
            answer = self._deliver(rows)
        except _TooLarge:
            self._limit.shrink(len(rows))
            if len(rows) == 1 and len(rows[0].event.encode()) > EVENT_MAX:
                _log.error(
                    "an event is too large for the Reporting API and is dropped",
                    extra={"fields": {"bytes": len(rows[0].event.encode())}},
                )
                self._outbox.delete(rows)
                self._limit.refused = None
            raise
        self._checkpoint("posted")
        self._counters.deliver(answer.accepted)
        for item in answer.rejected:
            _log.warning(
                "an event was refused by the Reporting API",
                extra={
                    "fields": {
                        name: _loggable(item.get(name)) for name in ("index", "event_id", "reason")
                    }
                },
            )
        full = len(rows) == self._limit.current
        self._outbox.delete(rows)
        self._limit.grow(len(rows))
        return full

    def _deliver(self, rows: Sequence[Row]) -> Answer:
        body = ("[" + ",".join(row.event for row in rows) + "]").encode()
        try:
            with self._session.post(
                self._url,
                data=body,
                headers={"Content-Type": "application/json"},
                timeout=_TIMEOUT,
                allow_redirects=False,
                stream=True,
            ) as response:
                content = _read(response)
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise DeliveryError(f"posting {len(rows)} events: {error}") from error
        if response.status_code == requests.codes.request_entity_too_large:
            raise _TooLarge(f"posting {len(rows)} events: answered 413")
        if response.status_code != requests.codes.ok:
            raise DeliveryError(f"posting {len(rows)} events: answered {response.status_code}")
        try:
            answer = _decode_answer(content)
        except (msgspec.DecodeError, RecursionError) as error:
            raise DeliveryError(
                f"posting {len(rows)} events: answered 200 with something else than accepted, "
                f"duplicates and rejected: {error}; see what answers at {self._url}"
            ) from error
        if answer.accounted != len(rows):
            raise DeliveryError(
                f"posting {len(rows)} events: answered 200 for {answer.accounted}: accepted "
                f"{answer.accepted}, duplicates {answer.duplicates}, rejected "
                f"{len(answer.rejected)}; see what answers at {self._url}"
            )
        return answer

    def _failed(self, error: HarnessError) -> None:
        self._counters.fail()
        _log.warning(
            "delivering failed, the events stay in the outbox",
            extra={"fields": {"error": str(error), "buffered": self._outbox.depth}},
        )

    def _back_off(self, delay: float) -> float:
        self._stop.wait(delay + random.random())  # noqa: S311 - jitter, no secret
        return min(_DELAY_MAX, 2 * delay)


class _Bearer(requests.auth.AuthBase):
    """Sends the token; as an object of its own it keeps ``.netrc`` out of the request."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


def _loggable(value: Any) -> Any:
    """Return a scalar as it is, of anything nested its type: a log may be unable to write it."""
    return value if isinstance(value, str | int | float | None) else type(value).__name__


def _read(response: requests.Response) -> bytes:
    """Read a body within the time-out as a whole, not for each piece of it."""
    end = time.monotonic() + _TIMEOUT
    content = b""
    while piece := response.raw.read1(65536, decode_content=True):
        content += piece
        if time.monotonic() > end:
            raise DeliveryError(f"the answer did not end within {_TIMEOUT:g} s")
        if len(content) > _ANSWER_MAX:
            raise DeliveryError(f"the answer is longer than {_ANSWER_MAX} bytes")
    return content
