"""Pushing a month's traffic and inventory to an OTLP endpoint, along the run's clock."""

from __future__ import annotations

import base64
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import requests
from requests.auth import AuthBase

from harness.broker.clock import VirtualClock
from harness.calendar import rfc3339
from harness.cloud import otlp
from harness.errors import HarnessError
from harness.month import Month
from harness.oracle import Oracle
from harness.oracle.inventory import Inventory
from harness.oracle.sample import Sample
from harness.oracle.traffic import samples

_LOG = logging.getLogger("harness.cloud.push")

_ATTEMPTS = 5
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 5.0
_TIMEOUT = 30.0
_MOST_ANSWER = 512


class PushError(HarnessError):
    """An endpoint did not take a batch. Never shows a password."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where to push to."""

    url: str
    user: str
    password: str = field(repr=False)


def redact(url: str) -> str:
    """Return a URL as it may be shown: credentials replaced, query and fragment dropped."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        host = ""
    if not host:
        return "the configured endpoint"
    user = "redacted@" if "@" in parts.netloc else ""
    return f"{parts.scheme}://{user}{host}{parts.path}"


class _Basic(AuthBase):
    """HTTP Basic in UTF-8; given as an object it keeps a ``.netrc`` from replacing it."""

    def __init__(self, target: Target) -> None:
        credential = f"{target.user}:{target.password}".encode()
        self._header = f"Basic {base64.b64encode(credential).decode()}"

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = self._header
        return request


class Endpoint:
    """An OTLP endpoint that takes batches."""

    def __init__(self, target: Target, attributes: dict[str, str]) -> None:
        """Push to `target`, with `attributes` on each point."""
        self._target = target
        self._attributes = attributes
        self._stopped = threading.Event()
        self._session = requests.Session()
        self._session.auth = _Basic(target)

    def push(self, batch: Sequence[Sample]) -> None:
        """Send a batch, in requests of at most 5000 points; stop at the first that fails.

        Connection failures, 429 and 5xx but 501 are tried five times with growing waits.

        Raises:
            PushError: refused, or not taken in five attempts.
            MixedSeries: a name comes as gauge and as counter.
        """
        for first in range(0, len(batch), otlp.MOST_POINTS):
            self._send(otlp.encode(batch[first : first + otlp.MOST_POINTS], self._attributes))

    def interrupt(self) -> None:
        """Give up between two attempts from now on."""
        self._stopped.set()

    def _send(self, body: bytes) -> None:
        wait = _FIRST_WAIT
        for attempt in range(1, _ATTEMPTS + 1):
            failure = self._attempt(body)
            if failure is None:
                return
            if attempt < _ATTEMPTS and not self._stopped.wait(wait):
                wait = min(wait * 2, _LONGEST_WAIT)
                continue
            raise failure

    def _attempt(self, body: bytes) -> PushError | None:
        """Try once; return what may be tried again, raise what may not."""
        where = f"pushing metrics to {redact(self._target.url)}"
        try:
            with self._session.post(
                self._target.url,
                data=body,
                headers={"Content-Type": "application/json"},
                timeout=_TIMEOUT,
                allow_redirects=False,
                stream=True,
            ) as answer:
                status = answer.status_code
                if 200 <= status < 300:
                    return None
                said = next(answer.iter_content(_MOST_ANSWER), b"")
        except requests.RequestException as error:
            return PushError(f"{where}: {_cause(error)}")
        text = said.decode("utf-8", "replace").strip()
        failure = PushError(f"{where}: unexpected status {status}: {text}")
        if status == 429 or (status >= 500 and status != 501):
            return failure
        raise failure


def _cause(error: requests.RequestException) -> str:
    """Word what went wrong without the URL that the library's own text repeats."""
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    inner = error.args[0] if error.args else error
    reason = getattr(inner, "reason", inner)
    return f"{type(reason).__name__}: {str(reason).rpartition(': ')[2]}"


class Push:
    """The pushing of one month, in a thread beside the publishing.

    Attributes:
        pushed: points taken so far.
        error: why the pushing ended early; None otherwise.
    """

    def __init__(
        self,
        month: Month,
        oracle: Oracle,
        clock: VirtualClock,
        endpoint: Endpoint,
        step: int,
    ) -> None:
        """Get ready to push the grid of `step` seconds."""
        self._oracle = oracle
        self._inventory = Inventory(month, oracle)
        self._clock = clock
        self._endpoint = endpoint
        self._step = step
        self._thread = threading.Thread(target=self._run, name="metric-push", daemon=True)
        self.pushed = 0
        self.error: HarnessError | None = None

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def interrupt(self) -> None:
        """Try no failed request again; the clock's interrupt ends the rest."""
        self._endpoint.interrupt()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end of the grid, of the pushing, or of `timeout` seconds."""
        self._thread.join(timeout)

    def _run(self) -> None:
        try:
            for instant, batch in batches(
                self._oracle, self._inventory.at, self._clock, self._step
            ):
                self._endpoint.push(batch)
                self.pushed += len(batch)
                _LOG.debug(
                    "pushed", extra={"fields": {"at": rfc3339(instant), "points": len(batch)}}
                )
        except HarnessError as error:
            self.error = error
            _LOG.error(
                "pushing stopped", extra={"fields": {"error": str(error), "pushed": self.pushed}}
            )


def batches(
    oracle: Oracle,
    inventory: Callable[[int], list[Sample]],
    clock: VirtualClock,
    step: int,
) -> Iterator[tuple[int, list[Sample]]]:
    """Yield what to send and the grid instant it reaches, as the clock passes the grid.

    Each step adds the traffic up to it and its inventory. What waits goes out as soon as it fills a
    request or the clock has still to reach the next step, and with the last step in any case. An
    interrupted clock ends the grid.
    """
    traffic = samples(oracle, step)
    ahead = next(traffic, None)
    waiting: list[Sample] = []
    for instant in range(oracle.start, oracle.end, step):
        if not clock.sleep_until(instant):
            return
        while ahead is not None and ahead.instant <= instant:
            waiting.append(ahead)
            ahead = next(traffic, None)
        waiting += inventory(instant)
        following = instant + step
        if (
            len(waiting) >= otlp.MOST_POINTS
            or following >= oracle.end
            or (clock.factor and clock.now() < following)
        ):
            yield instant, waiting
            waiting = []
