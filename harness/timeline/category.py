"""What an event type does to a resource."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache


class Category(Enum):
    """The three effects an event can have."""

    CREATE = "create"
    DELETE = "delete"
    UPDATE = "update"


@lru_cache(maxsize=1024)
def category(event_type: str) -> Category:
    """Tell the effect of an event type by its dotted parts; a create part wins over a delete."""
    parts = event_type.split(".")
    if "create" in parts:
        return Category.CREATE
    if "delete" in parts:
        return Category.DELETE
    return Category.UPDATE
