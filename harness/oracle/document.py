"""``oracle.json``, format 4: written member by member, read with every member accounted for."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

from harness.calendar import rfc3339
from harness.errors import HarnessError
from harness.oracle.model import FORMAT, Oracle, Resource
from harness.oracle.reading import OracleError, read

__all__ = ["OracleError", "OracleWriteError", "encode", "read", "write"]

#: What a month's JSON escapes beyond JSON's own rules, and the lone surrogates that stand for bytes
#: of a cloud's name that are no UTF-8.
_SPECIAL = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


class OracleWriteError(HarnessError):
    """The document cannot be written."""


def write(oracle: Oracle, path: Path) -> None:
    """Write `oracle` to `path`.

    Raises:
        OracleWriteError: the file cannot be written; names the path and the cause.
    """
    try:
        path.write_bytes(encode(oracle))
    except OSError as error:
        raise OracleWriteError(f"writing {path}: {error.strerror}") from error


def encode(oracle: Oracle) -> bytes:
    """Render `oracle` byte for byte: two blanks of indent, members in the document's order."""
    parts = [
        (
            f'{{\n  "format": {FORMAT},\n'
            f'  "cloud": {quote(oracle.cloud)},\n'
            f'  "seed": {oracle.seed},\n'
            f'  "period_from": "{_spell(oracle.start)}",\n'
            f'  "period_to": "{_spell(oracle.end)}",\n'
            '  "resources": '
        ),
        _listed("  ", (_resource(resource) for resource in oracle.resources)),
        ',\n  "counts": ',
        _listed(
            "  ",
            (
                f'{{\n      "project_id": {quote(row.project_id)},\n'
                f'      "event_type": {quote(row.event_type)},\n'
                f'      "count": {row.count}\n    }}'
                for row in oracle.counts
            ),
        ),
        ',\n  "faults": ',
        _listed("  ", map(quote, oracle.faults)),
        ',\n  "traffic": ',
        _listed(
            "  ",
            (
                f'{{\n      "resource_id": {quote(row.resource_id)},\n'
                f'      "from": "{_spell(row.start)}",\n'
                f'      "to": "{_spell(row.end)}",\n'
                f'      "egress_bytes": {row.egress_bytes},\n'
                f'      "ingress_bytes": {row.ingress_bytes}\n    }}'
                for row in oracle.traffic
            ),
        ),
        "\n}\n",
    ]
    return "".join(parts).encode()


def quote(text: str) -> str:
    """Write a string the way every JSON text of a month does."""
    return _SPECIAL.sub(_escape, encode_basestring(text))


def number(value: int | Decimal) -> str:
    """Write a number in its shortest plain decimal form."""
    if isinstance(value, int):
        return str(value)
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return "\ufffd" if 0xD800 <= code < 0xE000 else f"\\u{code:04x}"


@functools.lru_cache(maxsize=8192)
def _spell(instant: int) -> str:
    return rfc3339(instant)


def _resource(resource: Resource) -> str:
    intervals = (
        f'{{\n          "from": "{_spell(interval.start)}",\n'
        f'          "to": "{_spell(interval.end)}",\n'
        f'          "state": {quote(interval.state)},\n'
        f'          "project_id": {quote(interval.project_id)},\n'
        f'          "size": {_size(interval.size)}\n        }}'
        for interval in resource.intervals
    )
    return (
        f'{{\n      "resource_type": {quote(resource.resource_type)},\n'
        f'      "resource_id": {quote(resource.resource_id)},\n'
        f'      "workload": {quote(resource.workload)},\n'
        f'      "intervals": {_listed("      ", intervals)},\n'
        f'      "faults": {_listed("      ", map(quote, resource.faults))}\n    }}'
    )


def _size(size: Mapping[str, int | Decimal | str]) -> str:
    if not size:
        return "{}"
    members = ",\n".join(
        f"            {quote(name)}: {_value(value)}" for name, value in sorted(size.items())
    )
    return f"{{\n{members}\n          }}"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return number(value)
    return json.dumps(value, default=float)  # in no month; a document may hold it


def _listed(indent: str, elements: Iterator[str]) -> str:
    """Write a list whose closing bracket stands behind `indent`; an empty one is ``[]``."""
    inner = f",\n{indent}  ".join(elements)
    return f"[\n{indent}  {inner}\n{indent}]" if inner else "[]"
