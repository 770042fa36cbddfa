"""FNV-1a, the hash that turns the name of a stream into half of its seed."""

from __future__ import annotations

_BASIS = 0xCBF29CE484222325
_PRIME = 0x100000001B3
_WORD = (1 << 64) - 1


def fnv1a64(data: bytes) -> int:
    """Return the 64-bit FNV-1a hash of `data`."""
    digest = _BASIS
    for byte in data:
        digest = (digest ^ byte) * _PRIME & _WORD
    return digest
