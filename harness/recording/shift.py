"""Moving messages into another month, and giving them fresh ids."""

from __future__ import annotations

import hashlib
import hmac
import re
import uuid
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from harness.calendar import Period, rfc3339
from harness.oslo import Notification
from harness.recording.errors import RecordingError
from harness.recording.instants import NANO, head

#: A string that is an instant, at any depth of quoting, its fraction and zone apart.
_INSTANT = re.compile(
    rb'(\\*+")([0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2})'
    rb"((?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)(?=\1)"
)
#: The serial of a DNS zone is the Unix time of its last change.
_SERIAL = re.compile(rb'(\\*+"serial\\*+":\s*)([0-9]{10})(?![0-9])')
_IDS = re.compile(rb'(\\*+"(?:message_id|_unique_id)\\*+":\s*\\*+")([^"\\]+)(?=\\*+")')


class Shift:
    """Moves every instant of a message, in its envelope and in its payload, by whole months.

    Nothing else of a body changes, down to its spelling.

    Attributes:
        distance: seconds everything moves by.
        dropped: messages left out so far because the other month has no such day.
    """

    def __init__(self, source: Period, target: Period, *, drop_outside: bool = False) -> None:
        """Move from `source` to `target`.

        Args:
            source: month the messages are of; what lies outside of it moves along.
            target: month they are to be of.
            drop_outside: leave out what falls behind the end of a shorter month, instead of
                refusing it.
        """
        self.distance = target.start - source.start
        self.dropped = 0
        self._source = source
        self._target = target
        self._drop_outside = drop_outside

    def __call__(self, notifications: Iterable[Notification]) -> Iterator[Notification]:
        """Yield the moved messages.

        Raises:
            RecordingError: a message falls behind the end of the target month, or an instant out
                of the years that can be written.
        """
        for notification in notifications:
            if self._outside(notification):
                self.dropped += 1
                continue
            yield Notification(
                notification.exchange, notification.routing_key, self.body(notification.body)
            )

    def body(self, body: bytes) -> bytes:
        """Return a body with every instant moved."""
        body = _INSTANT.sub(self._moved, body)
        if b"dns." in body:
            body = _SERIAL.sub(self._moved_serial, body)
        return body

    def _outside(self, notification: Notification) -> bool:
        known = head(notification.body)
        if known is None:
            return False
        instant = known.instant // NANO
        if instant >= self._source.end or instant + self.distance < self._target.end:
            return False
        if not self._drop_outside:
            raise RecordingError(
                f"the {known.event_type} of {rfc3339(instant)} falls behind the end of "
                f"{self._target}, which is shorter than {self._source}; shift to a month as long, "
                "or pass --drop-outside to leave such messages out"
            )
        return True

    def _moved(self, match: re.Match[bytes]) -> bytes:
        quote, wall, rest = match.groups()
        text = wall.decode()
        try:
            instant = datetime.fromisoformat(text) + timedelta(seconds=self.distance)
        except ValueError:  # the thirtieth of February is no instant
            return match[0]
        except OverflowError as error:
            raise RecordingError(f"{text} cannot be moved to {self._target}") from error
        return quote + instant.isoformat(text[10], "seconds").encode() + rest

    def _moved_serial(self, match: re.Match[bytes]) -> bytes:
        return match[1] + str(int(match[2]) + self.distance).encode()


class FreshIds:
    """Gives every message another id; messages of one id keep having one.

    An ingest that knows the recording already takes the messages as new ones.
    """

    def __init__(self, salt: bytes) -> None:
        """Derive ids with `salt`; the same salt gives the same ids."""
        self._salt = salt

    def __call__(self, notifications: Iterable[Notification]) -> Iterator[Notification]:
        """Yield the messages under their other ids."""
        for notification in notifications:
            yield Notification(
                notification.exchange,
                notification.routing_key,
                _IDS.sub(self._fresh, notification.body),
            )

    def _fresh(self, match: re.Match[bytes]) -> bytes:
        derived = hmac.digest(self._salt, match[2], hashlib.sha256)
        fresh = uuid.UUID(bytes=derived[:16], version=4)
        text = fresh.hex if b"-" not in match[2] else str(fresh)
        return match[1] + text.encode()
