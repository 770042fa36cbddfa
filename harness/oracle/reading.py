"""Reading ``oracle.json``: a document that leaves anything out is refused.

A comparison would blame the engine for whatever an oracle leaves out, so each member has to be
stated; what stands inside a ``size`` is free.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any, Never, TypeVar

import msgspec

from harness.calendar import rfc3339
from harness.errors import HarnessError
from harness.oracle.model import FORMAT, Count, Interval, Oracle, Resource, TrafficRow

_T = TypeVar("_T")
_Instant = Annotated[datetime, msgspec.Meta(tz=True)]
_Whole = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Unsigned = Annotated[int, msgspec.Meta(ge=0)]


class _Interval(msgspec.Struct, forbid_unknown_fields=True):
    start: _Instant | None = msgspec.field(name="from", default=None)
    end: _Instant | None = msgspec.field(name="to", default=None)
    state: str | None = None
    project_id: str | None = None
    size: dict[str, Any] | None = None


class _Resource(msgspec.Struct, forbid_unknown_fields=True):
    resource_type: str | None = None
    resource_id: str | None = None
    workload: str | None = None
    intervals: list[_Interval] | None = None
    faults: list[str] | None = None


class _Count(msgspec.Struct, forbid_unknown_fields=True):
    project_id: str | None = None
    event_type: str | None = None
    count: _Whole | None = None


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    resource_id: str | None = None
    start: _Instant | None = msgspec.field(name="from", default=None)
    end: _Instant | None = msgspec.field(name="to", default=None)
    egress_bytes: _Whole | None = None
    ingress_bytes: _Whole | None = None


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    format: _Whole | None = None
    cloud: str | None = None
    seed: _Unsigned | None = None
    period_from: _Instant | None = None
    period_to: _Instant | None = None
    resources: list[_Resource] | None = None
    counts: list[_Count] | None = None
    faults: list[str] | None = None
    traffic: list[_Row] | None = None


#: No size is as large, and a quantity of it would need more digits than are reckoned with.
_TOO_LARGE = 10**100


class OracleError(HarnessError):
    """A file that is no complete oracle of this build's format; names the file and the fault."""


def read(path: Path) -> Oracle:
    """Read an oracle; numbers inside a size keep the value they are written with.

    Raises:
        OracleError: unreadable, no such document, a member too many or too few.
    """
    try:
        stated = _decoder().decode(path.read_bytes())
    except OSError as error:
        raise OracleError(f"reading {path}: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise OracleError(f"reading {path}: {error}") from error
    except RecursionError:
        raise OracleError(f"reading {path}: nested too deep") from None
    except InvalidOperation:
        raise OracleError(f"reading {path}: a number's exponent is out of range") from None
    _Reader(path).check(stated)
    return Oracle(
        cloud=_some(stated.cloud),
        seed=_some(stated.seed),
        start=_instant(stated.period_from),
        end=_instant(stated.period_to),
        resources=tuple(map(_resource, stated.resources or ())),
        counts=tuple(
            Count(_some(row.project_id), _some(row.event_type), _some(row.count))
            for row in stated.counts or ()
        ),
        faults=tuple(stated.faults or ()),
        traffic=tuple(
            TrafficRow(
                _some(row.resource_id),
                _instant(row.start),
                _instant(row.end),
                _some(row.egress_bytes),
                _some(row.ingress_bytes),
            )
            for row in stated.traffic or ()
        ),
    )


class _Reader:
    """The checks, in order; the first that fails ends the reading."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def check(self, stated: _Document) -> None:
        if (stated.seed or 0) >= 2**64:
            raise OracleError(
                f"reading {self._path}: seed {stated.seed} is out of range; seeds end at 2**64 - 1"
            )
        self._whole_seconds(stated)
        if (stated.format or 0) != FORMAT:
            self._refuse(
                f"states format {stated.format or 0} and this build writes format {FORMAT}"
            )
        if not stated.resources:
            self._refuse("holds no resources")
        if not stated.cloud:
            self._refuse("names no cloud")
        if not (_is_stated(stated.period_from) and _is_stated(stated.period_to)):
            self._refuse("names no period")
        for resource in stated.resources or ():
            self._check_resource(resource)
        for row in stated.traffic or ():
            if not row.resource_id:
                self._refuse("has traffic of no resource")
            if not (_is_stated(row.start) and _is_stated(row.end)):
                self._refuse(f"has traffic of instance {row.resource_id} that lacks a bound")
        self._nothing_left_out(stated)

    def _check_resource(self, resource: _Resource) -> None:
        if not (resource.resource_type and resource.resource_id):
            self._refuse("has a resource that lacks its type or id")
        name = f"{resource.resource_type} {resource.resource_id}"
        if not resource.intervals:
            self._refuse(f"states no interval for {name}")
        for interval in resource.intervals or ():
            if not (_is_stated(interval.start) and _is_stated(interval.end)):
                self._refuse(f"states an interval of {name} without bounds")
            since = rfc3339(_instant(interval.start))
            if not interval.state:
                self._refuse(f"states no state for {name} from {since}")
            if not interval.project_id:
                self._refuse(f"states no project for {name} from {since}")
            if interval.size is None:
                self._refuse(f"states no size for {name} from {since}")
            for member, value in interval.size.items():
                if isinstance(value, int | Decimal) and Decimal(value).copy_abs() >= _TOO_LARGE:
                    raise OracleError(
                        f"reading {self._path}: {member} of {name} from {since} is out of range; "
                        "a size is below 1e100"
                    )

    def _whole_seconds(self, stated: _Document) -> None:
        for where, record in _records(stated):
            for name in ("period_from", "period_to", "start", "end"):
                instant = getattr(record, name, None)
                if instant is not None and instant.microsecond:
                    raise OracleError(
                        f"reading {self._path}: {where} states the instant {instant.isoformat()}; "
                        "an oracle's instants are whole seconds"
                    )

    def _nothing_left_out(self, stated: _Document) -> None:
        """Refuse the absence of the members the numbered checks do not look at."""
        for where, record in _records(stated):
            for name, spelled in zip(
                record.__struct_fields__, record.__struct_encode_fields__, strict=True
            ):
                if getattr(record, name) is None:
                    self._refuse(f'leaves out "{spelled}" of {where}; state it, empty or 0 if so')

    def _refuse(self, text: str) -> Never:
        raise OracleError(f"{self._path} {text}")


def _records(stated: _Document) -> Iterator[tuple[str, msgspec.Struct]]:
    """Give every record of the document but the interiors of sizes, with where it stands."""
    yield "the document", stated
    for resource in stated.resources or ():
        name = f"{resource.resource_type} {resource.resource_id}"
        yield name, resource
        for interval in resource.intervals or ():
            yield f"an interval of {name}", interval
    for index, count in enumerate(stated.counts or ()):
        yield f"counts[{index}]", count
    for index, row in enumerate(stated.traffic or ()):
        yield f"traffic[{index}]", row


def _is_stated(instant: datetime | None) -> bool:
    return instant is not None and instant != datetime(1, 1, 1, tzinfo=UTC)


def _instant(instant: datetime | None) -> int:
    return int(_some(instant).timestamp())


def _some(value: _T | None) -> _T:
    """Unwrap a member the checks have found stated."""
    if value is None:
        raise AssertionError("an unstated member passed the checks")
    return value


def _resource(stated: _Resource) -> Resource:
    return Resource(
        resource_type=_some(stated.resource_type),
        resource_id=_some(stated.resource_id),
        workload=_some(stated.workload),
        intervals=tuple(
            Interval(
                _instant(interval.start),
                _instant(interval.end),
                _some(interval.state),
                _some(interval.project_id),
                _some(interval.size),
            )
            for interval in stated.intervals or ()
        ),
        faults=tuple(_some(stated.faults)),
    )


def _decoder() -> msgspec.json.Decoder[_Document]:
    return msgspec.json.Decoder(_Document, float_hook=Decimal)
