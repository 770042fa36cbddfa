"""Ids drawn from a stream: sixteen bytes each, two words in little-endian order."""

from __future__ import annotations

from harness.prng.pcg import Pcg

# Byte 6 carries the version in its upper half, byte 8 the variant in its upper two bits; the
# sixteen bytes are one number here, its lowest byte first.
_CLEARED = ~(0xF0 << 48 | 0xC0 << 64)
_SET = 0x40 << 48 | 0x80 << 64


class Identifiers:
    """The ids a stream yields, in the order they are asked for."""

    __slots__ = ("_pcg",)

    def __init__(self, pcg: Pcg) -> None:
        """Draw from `pcg`."""
        self._pcg = pcg

    def hex(self) -> str:
        """Return 32 lower-case hex digits, the form of project and user ids."""
        return (self._pcg.word() | self._pcg.word() << 64).to_bytes(16, "little").hex()

    def uuid(self) -> str:
        """Return a version 4 UUID in its lower-case text form."""
        return _spell(self._pcg.word() | self._pcg.word() << 64)

    def uuids(self, count: int) -> list[str]:
        """Return `count` UUIDs, as so many calls of `uuid` would."""
        words = iter(self._pcg.words(2 * count))
        return [_spell(low | high << 64) for low, high in zip(words, words, strict=True)]

    def permutation(self, count: int) -> list[int]:
        """Return the numbers 0 to `count` - 1 in random order, drawn from the same stream."""
        return self._pcg.permutation(count)


def _spell(bits: int) -> str:
    digits = (bits & _CLEARED | _SET).to_bytes(16, "little").hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
