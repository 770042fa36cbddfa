"""Equality of JSON values."""

from __future__ import annotations

from typing import Any


def same(one: Any, other: Any) -> bool:
    """Tell whether two JSON values are equal, numbers by value (``4`` is ``4.0``) at any depth.

    Unlike ``==``, a boolean equals no number.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
