"""Reading a pricing model, with refusals that name the member."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.pricing.document import MOST_BYTES, Offence, join, load
from harness.pricing.model import Dimension, Kind, PricingModel, Tariff

_INSTANT = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[-+]\d\d:\d\d)", re.ASCII
)
_CURRENCY = re.compile(r"[A-Z]{3}")
_PRICE = re.compile(r"[0-9]+(\.[0-9]+)?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RESERVED_METRIC = "total"
_LONGEST_PRICE = 64
_LARGEST_EXPONENT = 30


class PricingError(HarnessError):
    """A pricing model that cannot be read.

    Attributes:
        path: the offending member, ``pricing.openstack.volume.dimensions[0].metric``; empty
            when it is the file or the document as a whole.
    """

    def __init__(self, source: str, path: str, text: str) -> None:
        """Word the error from the file's name, the member's path and what is wrong with it."""
        place = f"{path}: " if path else ""
        super().__init__(f"reading the pricing model {source}: {place}{text}")
        self.path = path


def packaged() -> tuple[str, ...]:
    """Return the versions this project carries."""
    models = resources.files("harness.pricing") / "models"
    return tuple(
        sorted(
            entry.name.removesuffix(".yaml")
            for entry in models.iterdir()
            if entry.name.endswith(".yaml")
        )
    )


def read(source: str | Path) -> PricingModel:
    """Read a pricing model.

    Args:
        source: a path, or the name of a packaged version such as ``2026-03``.

    Raises:
        PricingError: the file cannot be read, or holds something a model does not.
    """
    if isinstance(source, str) and source in packaged():
        entry = resources.files("harness.pricing") / "models" / f"{source}.yaml"
        return parse(entry.read_bytes(), source)
    try:
        with Path(source).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        text = error.strerror or str(error)
        if isinstance(error, FileNotFoundError):
            text += f"; name a YAML file, or a packaged version: {', '.join(packaged())}"
        raise PricingError(str(source), "", text) from error
    return parse(content, str(source))


def parse(content: bytes | Mapping[str, Any], source: str = "document") -> PricingModel:
    """Read a pricing model out of YAML text or out of what `PricingModel.document` returned.

    Raises:
        PricingError: as `read`; `source` is what the error calls the text.
    """
    try:
        return _model(load(content) if isinstance(content, bytes) else content)
    except Offence as offence:
        raise PricingError(source, offence.path, offence.text) from offence


def _model(value: Any) -> PricingModel:
    top = _members(value, "", required=("version", "valid_from", "currency", "pricing"))
    version = _text(top["version"], "version")
    currency = _text(top["currency"], "currency")
    if not _CURRENCY.fullmatch(currency):
        raise Offence("currency", f'"{currency}" is no currency; write three capital letters, EUR')
    tariffs: dict[tuple[str, str], Tariff] = {}
    for platform, types in _mapping(top["pricing"], "pricing").items():
        place = join("pricing", _name(platform, "pricing"))
        for resource_type, tariff in _mapping(types, place).items():
            tariffs[platform, _name(resource_type, place)] = _tariff(
                tariff, join(place, resource_type)
            )
    return PricingModel(version, _instant(top["valid_from"], "valid_from"), currency, tariffs)


def _tariff(value: Any, path: str) -> Tariff:
    members = _members(
        value, path, required=("dimensions",), optional=("state_modifiers", "type_modifiers")
    )
    place = join(path, "dimensions")
    entries = members["dimensions"]
    if not isinstance(entries, list) or not entries:
        raise Offence(place, f"{_said(entries)} must be a list of at least one dimension")
    dimensions: list[Dimension] = []
    for index, entry in enumerate(entries):
        dimension = _dimension(entry, f"{place}[{index}]")
        if any(dimension.metric == earlier.metric for earlier in dimensions):
            raise Offence(
                f"{place}[{index}].metric", f'"{dimension.metric}" stands twice in one type'
            )
        dimensions.append(dimension)
    return Tariff(
        tuple(dimensions),
        _modifiers(members, "state_modifiers", path),
        _modifiers(members, "type_modifiers", path),
    )


def _dimension(value: Any, path: str) -> Dimension:
    members = _members(
        value,
        path,
        required=("metric", "type"),
        optional=tuple(kind.price_member for kind in Kind),
    )
    metric = _text(members["metric"], join(path, "metric"))
    if metric == _RESERVED_METRIC:
        raise Offence(join(path, "metric"), f'"{metric}" is what statements call their sums')
    word = _text(members["type"], join(path, "type"))
    kind = next((kind for kind in Kind if kind.value == word), None)
    if kind is None:
        raise Offence(join(path, "type"), f'"{word}" must be time_gauge or counter')
    for other in Kind:
        member = other.price_member
        if other is not kind and member in members:
            raise Offence(join(path, member), f"does not go with {word}; state {kind.price_member}")
    if kind.price_member not in members:
        raise Offence(join(path, kind.price_member), f"is missing; a {word} states it")
    price = _number(members[kind.price_member], join(path, kind.price_member))
    return Dimension(metric, kind, price)


def _modifiers(members: Mapping[str, Any], name: str, path: str) -> dict[str, Decimal]:
    place = join(path, name)
    if name not in members:
        return {}
    return {
        key: _number(factor, join(place, key))
        for key, factor in _mapping(members[name], place).items()
    }


def _members(
    value: Any, path: str, *, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return a mapping that holds every required member and none that is unknown."""
    members = _mapping(value, path)
    accepted = (*required, *optional)
    for name in members:
        if name not in accepted:
            raise Offence(join(path, name), f"is unknown; accepted are {', '.join(accepted)}")
    for name in required:
        if name not in members:
            raise Offence(join(path, name), "is missing")
    return members


def _mapping(value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Offence(path, f"{_said(value)} must be a mapping")
    return value


def _name(key: str, path: str) -> str:
    if not key:
        raise Offence(path, "holds an empty name")
    return key


def _text(value: Any, path: str) -> str:
    if not isinstance(value, str) or not value:
        raise Offence(path, f"{_said(value)} must be a text that is not empty; quote it")
    return value


def _number(value: Any, path: str) -> Decimal:
    """Return a price or a factor: a number, or a text of digits, not negative."""
    number: Decimal | None = None
    if isinstance(value, Decimal):
        number = value
    elif isinstance(value, str) and len(value) <= _LONGEST_PRICE and _PRICE.fullmatch(value):
        number = Decimal(value)
    if number is None:
        raise Offence(path, f"{_said(value)} must be a number such as 0.02 or a text of digits")
    if number < 0:
        raise Offence(path, f"{value} is negative")
    if abs(number.adjusted()) > _LARGEST_EXPONENT or len(f"{number:f}") > _LONGEST_PRICE:
        raise Offence(path, f"{value} is beyond what a price can be")
    return number


def _instant(value: Any, path: str) -> int:
    """Return microseconds of an RFC 3339 instant; finer digits are cut off."""
    text = _text(value, path)
    match = _INSTANT.fullmatch(text)
    if match:
        day, clock, fraction, zone = match.groups()
        zone = "+00:00" if zone in "Zz" else zone
        try:
            moment = datetime.fromisoformat(f"{day}T{clock}{zone}")
        except ValueError:
            pass
        else:
            micros = int((fraction or "0").ljust(6, "0")[:6])
            return (moment - _EPOCH) // timedelta(microseconds=1) + micros
    raise Offence(path, f'"{text}" is no RFC 3339 instant such as 2026-03-01T00:00:00Z')


def _said(value: Any) -> str:
    """Show a value in an error, shortened."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = "nothing" if value is None else f'"{value}"'
    return text if len(text) <= _LONGEST_PRICE else f"{text[:_LONGEST_PRICE]}…"
