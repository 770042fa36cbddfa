"""A Reporting API's database filled by hand, and an engine beside it."""

from __future__ import annotations

import csv
import itertools
import shutil
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa

from harness.engine import Engine, Samples
from harness.service import database
from harness.timeline import Event, fold

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
GIB = 1 << 30

_TABLES = sa.MetaData()
_BYTES = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _table(name: str, texts: str, instants: str, key: str) -> sa.Table:
    columns = [sa.Column(text, _BYTES) for text in texts.split()]
    columns += [sa.Column(instant, sa.BigInteger) for instant in instants.split()]
    return sa.Table(name, _TABLES, *columns, sa.PrimaryKeyConstraint(*key.split()))


EVENTS = _table(
    "events",
    "event_id event_type platform cloud resource_type resource_id project_id source payload",
    "timestamp received_at",
    "event_id timestamp",
)
sa.Index(
    "ix_events_resource",
    *(EVENTS.c[n] for n in ("cloud", "resource_type", "resource_id", "timestamp")),
)
RESOURCES = _table(
    "current_resources",
    "cloud resource_type resource_id platform project_id state size last_event_type last_payload",
    "created_at deleted_at first_event_at last_event_at",
    "cloud resource_type resource_id",
)
PROJECTS = _table("projects", "id platform cloud external_id name metadata", "created_at", "id")
RELATIONS = _table(
    "project_relations",
    "id source_id target_id relation_type metadata",
    "valid_from valid_to created_at",
    "id",
)


def micros(text: str) -> int:
    """Read an instant such as ``2026-03-11`` or ``2026-03-11T05:00:00``, UTC."""
    return (datetime.fromisoformat(text).replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


def encode(value: Any) -> str:
    return msgspec.json.encode(value, enc_hook=str).decode()


@dataclass
class Warehouse:
    """The four tables an engine reads."""

    url: str
    store: sa.Engine = field(init=False)
    clock: int = micros("2026-04-02")
    _ids: Any = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.store = database.engine(self.url)
        _TABLES.create_all(self.store)

    def tell(
        self,
        what: str,
        at: str | int,
        *,
        resource: tuple[str, str] = ("instance", "abc-123"),
        state: str | None = None,
        size: Mapping[str, Any] | str | None = None,
        project: str = "proj-456",
        cloud: str = "os-prod",
        platform: str = "openstack",
        event_id: str = "",
    ) -> None:
        """Store one event and bring the projection up to date; `size` may be JSON text."""
        self.clock += 1
        size_text = size if isinstance(size, str) or size is None else encode(size)
        members = {"provider": "{}"}
        if state is not None:
            members["state"] = encode(state)
        if size_text is not None:
            members["size"] = size_text
        payload = "{" + ",".join(f'"{name}":{text}' for name, text in members.items()) + "}"
        row = {
            "event_id": event_id or f"event-{next(self._ids)}",
            "timestamp": micros(at) if isinstance(at, str) else at,
            "event_type": what,
            "platform": platform,
            "cloud": cloud,
            "resource_type": resource[0],
            "resource_id": resource[1],
            "project_id": project,
            "source": "collector",
            "payload": payload,
            "received_at": self.clock,
        }
        with self.store.begin() as connection:
            connection.execute(sa.insert(EVENTS), [row])
        self.project([(cloud, *resource)])

    def load(self, lines: Iterable[bytes]) -> None:
        """Store events as a collector posts them, in one batch."""
        self.clock += 1
        rows = []
        for line in lines:
            members = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
            row = {
                name: msgspec.json.decode(raw)
                for name, raw in members.items()
                if name not in {"payload", "timestamp"}
            }
            stamp = msgspec.json.decode(members["timestamp"]).removesuffix("Z")
            rows.append(
                {
                    **row,
                    "timestamp": micros(stamp),
                    "payload": bytes(members["payload"]).decode(),
                    "received_at": self.clock,
                }
            )
        with self.store.begin() as connection:
            connection.execute(sa.insert(EVENTS), rows)
        self.project({(row["cloud"], row["resource_type"], row["resource_id"]) for row in rows})

    def project(self, keys: Iterable[tuple[str, str, str]]) -> None:
        """Fold histories anew into the projection."""
        wanted = set(keys)
        histories: dict[tuple[str, str, str], list[Any]] = {}
        with self.store.begin() as connection:
            for row in connection.execute(sa.select(EVENTS)):
                key = (row.cloud, row.resource_type, row.resource_id)
                if key in wanted:
                    histories.setdefault(key, []).append(row)
            for (cloud, kind, identity), rows in histories.items():
                timeline = fold(
                    Event(
                        row.timestamp,
                        row.received_at,
                        row.event_id,
                        row.event_type,
                        None,
                        None,
                        row.project_id,
                    )
                    for row in rows
                )
                here = sa.and_(
                    RESOURCES.c.cloud == cloud,
                    RESOURCES.c.resource_type == kind,
                    RESOURCES.c.resource_id == identity,
                )
                connection.execute(sa.delete(RESOURCES).where(here))
                connection.execute(
                    sa.insert(RESOURCES).values(
                        cloud=cloud,
                        resource_type=kind,
                        resource_id=identity,
                        platform=rows[0].platform,
                        project_id=rows[-1].project_id,
                        state="",
                        size="{}",
                        created_at=timeline.created_at,
                        deleted_at=timeline.deleted_at,
                        first_event_at=rows[0].timestamp,
                        last_event_type=rows[-1].event_type,
                        last_event_at=rows[-1].timestamp,
                    )
                )

    def register(self, cloud: str, external_id: str, platform: str = "openstack") -> str:
        """Register a project and return its id."""
        identity = str(uuid.UUID(int=next(self._ids)))
        with self.store.begin() as connection:
            connection.execute(
                sa.insert(PROJECTS).values(
                    id=identity,
                    platform=platform,
                    cloud=cloud,
                    external_id=external_id,
                    metadata="{}",
                    created_at=0,
                )
            )
        return identity

    def relate(
        self,
        source: str,
        target: str,
        kind: str = "infrastructure_tenant",
        valid_from: str = "2026-01-01",
        valid_to: str | None = None,
    ) -> str:
        """Relate two projects and return the relation's id; later calls give higher ids."""
        identity = str(uuid.UUID(int=next(self._ids)))
        with self.store.begin() as connection:
            connection.execute(
                sa.insert(RELATIONS).values(
                    id=identity,
                    source_id=source,
                    target_id=target,
                    relation_type=kind,
                    metadata="{}",
                    valid_from=micros(valid_from),
                    valid_to=None if valid_to is None else micros(valid_to),
                    created_at=0,
                )
            )
        return identity


@pytest.fixture(scope="session")
def open_warehouse() -> type[Warehouse]:
    """Opens further databases, by address."""
    return Warehouse


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """An empty Reporting API's database."""
    made = Warehouse(f"sqlite:///{tmp_path}/reporting.db")
    yield made
    made.store.dispose()


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An engine's database with the packaged prices, to copy: migrating takes its time."""
    path = tmp_path_factory.mktemp("empty") / "engine.db"
    with Engine(f"sqlite:///{path}") as made:
        made.migrate()
        made.import_pricing("2026-03")
    return path


@pytest.fixture
def engine(tmp_path: Path, warehouse: Warehouse, empty: Path) -> Engine:
    """An engine with the packaged prices and an egress source that knows nothing."""
    shutil.copy(empty, tmp_path / "engine.db")
    with Engine(f"sqlite:///{tmp_path}/engine.db", warehouse.url, (Samples([]),)) as made:
        yield made


@pytest.fixture
def rows(engine: Engine, tmp_path: Path) -> Any:
    """Export a run as CSV and return the rows of one of its tables."""

    def read(run_id: str, table: str = "rated.csv") -> list[dict[str, str]]:
        out = tmp_path / f"csv-{uuid.uuid4()}"
        engine.export(run_id, "csv", out)
        with (out / table).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    return read


@pytest.fixture
def documents(engine: Engine, tmp_path: Path) -> Any:
    """Export a run as JSON and return file name to document, numbers as decimals."""

    def read(run_id: str) -> dict[str, Any]:
        out = tmp_path / f"json-{uuid.uuid4()}"
        engine.export(run_id, "json", out)
        decoder = msgspec.json.Decoder(float_hook=Decimal)
        return {path.name: decoder.decode(path.read_bytes()) for path in out.iterdir()}

    return read
