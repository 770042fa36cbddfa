"""What a size may look like: JSON schemas per (platform, resource type), and names for ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal, DecimalException
from functools import lru_cache
from typing import Any

import jsonschema
import referencing
import sqlalchemy
from jsonschema.exceptions import SchemaError
from jsonschema.validators import extend

from harness.reporting import wire
from harness.reporting.schema import RESOURCE_TYPES, SIZE_NAMES

REPORTED = "size_as_reported"

_DEPTH_MAX = 64
_DIGITS_MAX = 100

Names = Mapping[tuple[str, str], str]
"""(member, value) of a size to the name that stands for the value."""


def _integer(_checker: Any, value: Any) -> bool:
    if isinstance(value, Decimal):
        return value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)


def _number(_checker: Any, value: Any) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


_Validator = extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"integer": _integer, "number": _number}
    ),
)


def check_schema(schema: str) -> str | None:
    """Return what is wrong with a size schema, None when it can be used.

    References have to stay within the schema: nothing is fetched.
    """
    try:
        document = wire.decode(schema)
        jsonschema.Draft202012Validator.check_schema(document)
        for reference in _references(document):
            if not reference.startswith("#"):
                return f'"{reference}" leads out of the schema; only references like #/$defs/x do'
        # An instance no keyword is indifferent to would be hard to find; an empty one proves at
        # least that the schema's own references resolve and end.
        _first_error(schema, "{}")
    except SchemaError as error:
        return f"{error.json_path}: {error.message[:200]}"
    except (ValueError, RecursionError, referencing.exceptions.Unresolvable) as error:
        return str(error)[:200]
    return None


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            if name in {"$ref", "$dynamicRef"} and isinstance(member, str):
                yield member
            yield from _references(member)
    elif isinstance(value, list):
        for member in value:
            yield from _references(member)


@lru_cache(maxsize=256)
def _validator(schema: str) -> Any:
    return _Validator(wire.decode(schema), registry=referencing.Registry())


def _first_error(schema: str, size: str) -> str | None:
    errors = sorted(_validator(schema).iter_errors(wire.decode(size)), key=lambda e: e.json_path)
    return "\n".join(f"{e.json_path}: {e.message[:200]}" for e in errors[:8]) or None


@lru_cache(maxsize=8192)
def mismatch(schema: str, size: str) -> str | None:
    """Return how the JSON text of a size misses the JSON text of a schema, None when it does not.

    Sizes of a cloud repeat (flavors, volume types), so answers are remembered by the two texts.
    """
    try:
        return _first_error(schema, size)
    except DecimalException:
        return "a number is out of the range that can be compared"
    except RecursionError:
        return "the size or its schema nests too deeply"
    except (ValueError, referencing.exceptions.Unresolvable) as error:
        return str(error)[:200]


@lru_cache(maxsize=8192)
def unbearable(size: str) -> str | None:
    """Return why the JSON text of a size cannot be folded and billed later, None when it can.

    Holds for every type, those without a schema too: one event nobody can read back would keep
    the whole month from being billed.
    """
    try:
        return _excess(wire.decode(size), _DEPTH_MAX)
    except (ValueError, RecursionError) as error:
        return str(error)[:200]


def _excess(value: Any, depth: int) -> str | None:
    if isinstance(value, dict | list):
        if depth == 0:
            return f"nests deeper than {_DEPTH_MAX} levels"
        members = value.values() if isinstance(value, dict) else value
        return next(filter(None, (_excess(member, depth - 1) for member in members)), None)
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        number = Decimal(value)
        if len(number.as_tuple().digits) > _DIGITS_MAX or abs(number.adjusted()) > _DIGITS_MAX:
            return f"holds a number of more than {_DIGITS_MAX} digits"
    return None


def load_schemas(
    connection: sqlalchemy.Connection, platforms: Iterable[str]
) -> dict[tuple[str, str], str]:
    """Return (platform, resource type) to the JSON text of its size schema."""
    query = sqlalchemy.select(RESOURCE_TYPES).where(RESOURCE_TYPES.c.platform.in_(list(platforms)))
    return {(row.platform, row.resource_type): row.size_schema for row in connection.execute(query)}


def load_names(
    connection: sqlalchemy.Connection, clouds: Iterable[str]
) -> dict[tuple[str, str], Names]:
    """Return (cloud, resource type) to the names of its size members."""
    query = sqlalchemy.select(SIZE_NAMES).where(SIZE_NAMES.c.cloud.in_(list(clouds)))
    names: dict[tuple[str, str], dict[tuple[str, str], str]] = {}
    for row in connection.execute(query):
        names.setdefault((row.cloud, row.resource_type), {})[row.member, row.value] = row.name
    return dict(names)


def rename(payload: str, names: Names) -> tuple[str, str] | None:
    """Return payload and size with names for ids, None where there is nothing to name.

    What was reported stands under ``provider.size_as_reported``.
    """
    value = wire.decode(payload)
    size = value.get("size") or {}
    reported = {
        member: text
        for member, text in size.items()
        if isinstance(text, str) and (member, text) in names
    }
    if not reported:
        return None
    for member, text in reported.items():
        size[member] = names[member, text]
    value["provider"] = {**(value.get("provider") or {}), REPORTED: reported}
    return wire.text(value), wire.text(size)
