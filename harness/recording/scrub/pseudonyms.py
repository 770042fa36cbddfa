"""Keyed pseudonyms: the same text under the same key is always the same other text.

A pseudonym keeps the form of what it stands for. An id's carries the version number of UUIDs made
by rules of one's own, 8, which no service hands out: so a check can tell it from an original.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import ipaddress
import re
from collections.abc import Callable

from harness.errors import HarnessError, UsageError
from harness.recording.scrub import vocabulary
from harness.recording.scrub.forms import (
    EMAIL,
    HEX,
    INSTANT,
    MAC,
    RANGE_6,
    RANGES,
    URL,
    UUID,
)

#: Fewest bytes of a key: a shorter one can be guessed.
KEY_MIN = 16

_DOCUMENTED = 3 * 256


class PseudonymsError(HarnessError):
    """There is no room for another pseudonym."""


class Pseudonyms:
    """Pseudonyms under one key. ``repr`` does not show it, and nothing writes it.

    Attributes:
        fingerprint: tells two keys apart and says nothing of either.
    """

    def __init__(self, key: bytes) -> None:
        """Take a key of at least `KEY_MIN` bytes.

        Raises:
            UsageError: it is shorter.
        """
        if len(key) < KEY_MIN:
            raise UsageError(
                f"the key has {len(key)} bytes; take {KEY_MIN} or more, as from "
                "`openssl rand -hex 32`"
            )
        self._key = key
        self._taken: dict[int, str] = {}
        self._given: dict[str, int] = {}
        self.fingerprint = self._digest("fingerprint", "").hex()[:16]
        self._cached = functools.lru_cache(1 << 16)(self._make)

    def __call__(self, text: str, member: str) -> str:
        """Return what stands for `text`, found under `member`.

        An empty text and an instant stand for themselves.
        """
        if not text:
            return text
        return self._cached(text, vocabulary.kind_of(member))

    def name(self, text: str, kind: str) -> str:
        """Return ``kind-`` and twelve hex digits."""
        return f"{kind}-{self._digest('name', text).hex()[:12]}"

    def _make(self, text: str, kind: str) -> str:
        for pattern, make in self._forms():
            if pattern.fullmatch(text):
                return make(text)
        return self._address(text) or self.name(text, kind)

    def _forms(self) -> tuple[tuple[re.Pattern[str], Callable[[str], str]], ...]:
        return (
            (INSTANT, str),
            (UUID, self._uuid),
            (HEX, self._hex),
            (MAC, self._mac),
            (URL, self._url),
            (EMAIL, lambda text: f"{self.name(text, 'user')}@example.org"),
        )

    def _uuid(self, text: str) -> str:
        digits = self._hex(text.replace("-", ""))
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def _hex(self, text: str) -> str:
        digits = self._digest("hex", text.lower())
        while len(digits) * 2 < len(text):
            digits += self._digest("hex", digits.hex())
        made = list(digits.hex()[: len(text)])
        made[12] = "8"
        if len(made) > 16:
            made[16] = "89ab"[int(made[16], 16) % 4]
        return "".join(made) if text == text.lower() else "".join(made).upper()

    def _mac(self, text: str) -> str:
        digits = "02" + self._digest("mac", text.lower()).hex()[:10]
        return text[2].join(digits[at : at + 2] for at in range(0, 12, 2))

    def _url(self, text: str) -> str:
        scheme, _, rest = text.partition("://")
        host, slash, rest = rest.partition("/")
        segments = re.split(r"[/?#&=]", rest) if slash else []
        path = "".join(f"/{self(segment, 'path')}" for segment in segments)
        return f"{scheme.lower()}://{self.name(host, 'host')}.example{path}"

    def _address(self, text: str) -> str:
        """Return another address for one, maybe with the length of its network; else nothing."""
        address, slash, length = text.partition("/")
        try:
            original = ipaddress.ip_address(address)
        except ValueError:
            return ""
        if slash and not (length.isascii() and length.isdigit() and int(length) <= 128):
            return ""
        if original.is_unspecified or original.is_loopback:
            return text
        if isinstance(original, ipaddress.IPv6Address):
            host = int.from_bytes(self._digest("address", str(original))[:12], "big")
            made = str(RANGE_6[host])
        else:
            made = self._address_4(str(original))
        return f"{made}{slash}{length}"

    def _address_4(self, original: str) -> str:
        """Return the address given to `original`, one nobody else has."""
        if original not in self._given:
            room, first = _DOCUMENTED, 0
            if len(self._taken) >= room:
                room, first = RANGES[-1].num_addresses, _DOCUMENTED
            if len(self._taken) >= _DOCUMENTED + RANGES[-1].num_addresses:
                raise PseudonymsError(
                    f"the recording holds more than {len(self._taken)} IPv4 addresses, and the "
                    "reserved ranges have room for no more; scrub it with --allow-list"
                )
            place = int.from_bytes(self._digest("address", original)[:8], "big") % room
            while first + place in self._taken:
                place = (place + 1) % room
            self._taken[first + place] = original
            self._given[original] = first + place
        return _at(self._given[original])

    def _digest(self, purpose: str, text: str) -> bytes:
        message = f"{purpose}\0{text}".encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, message, hashlib.sha256)


def _at(place: int) -> str:
    for network in RANGES:
        if place < network.num_addresses:
            return str(network[place])
        place -= network.num_addresses
    raise AssertionError("a place beyond the ranges is never given")
