"""The engine: periods, runs, corrections and exports over two databases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import sqlalchemy as sa

from harness.calendar import Period
from harness.engine import pricelist, runs
from harness.engine.computation import Computation
from harness.engine.counters import CounterSource
from harness.engine.errors import DatabaseError, ExportRefused
from harness.engine.export import Directory, require_empty, write_documents, write_tables
from harness.engine.instant import bounds, read
from harness.engine.lock import locked
from harness.engine.reporting import LateResource, snapshot
from harness.errors import UsageError
from harness.pricing import PricingModel
from harness.pricing import read as read_pricing
from harness.service import database

ATTRIBUTING = ("infrastructure_tenant",)
FORMATS = ("json", "csv")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run or a correction did.

    Attributes:
        run_id: its id.
        period: the billing period.
        pricing_version: the model it rated with.
        corrects_run_id: for a correction, the finalized run it stands beside.
        stats: what it counted and warned of, as the run's row holds it.
        superseded: ids of completed runs it takes the place of.
        reclaimed: ids of interrupted runs it booked as failed.
    """

    run_id: str
    period: Period
    pricing_version: str
    corrects_run_id: str | None
    stats: dict[str, Any]
    superseded: Sequence[str] = ()
    reclaimed: Sequence[str] = ()

    @property
    def candidates(self) -> int:
        """How many resources were looked at."""
        return int(self.stats["candidates"])

    @property
    def usage_records(self) -> int:
        """How many usage records were booked."""
        return int(self.stats["usage_records"])

    @property
    def rated_records(self) -> int:
        """How many rated records were booked."""
        return int(self.stats["rated_records"])

    @property
    def statements(self) -> int:
        """How many statements (of a correction: credit notes) were booked."""
        return int(self.stats["statements"])

    @property
    def deltas(self) -> int:
        """How many deltas a correction booked."""
        return int(self.stats.get("deltas", 0))


@dataclass(frozen=True, slots=True)
class Late:
    """Events that arrived after the latest finalized run read its period.

    Attributes:
        run_id: that run.
        period: the billing period.
        snapshot_at: what it read; microseconds.
        resources: by key.
    """

    run_id: str
    period: Period
    snapshot_at: int
    resources: Sequence[LateResource]


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote; `deltas` is None but for the tables of a correction."""

    run_id: str
    period: Period
    kind: str
    statements: int = 0
    rated_records: int = 0
    deltas: int | None = None


@dataclass(slots=True)
class Engine:
    """Meters and rates periods of a Reporting API's database into a database of its own.

    Attributes:
        database_url: the engine's database, ``sqlite:///PATH`` or ``postgresql://…``.
        reporting_database_url: the Reporting API's; it is only read.
        counter_sources: what fills in consumption figures.
        attributing: types of relations that move cost to another project's statement.
    """

    database_url: str = field(repr=False)
    reporting_database_url: str = field(default="", repr=False)
    counter_sources: Sequence[CounterSource] = ()
    attributing: Sequence[str] = ATTRIBUTING
    _own: sa.Engine | None = field(default=None, init=False, repr=False)
    _reporting: sa.Engine | None = field(default=None, init=False, repr=False)

    def migrate(self) -> None:
        """Bring the engine's database to the schema this build needs."""
        from harness.engine.migrate import migrate  # noqa: PLC0415 - alembic is slow to load

        with _translated():
            migrate(self._store)

    def import_pricing(self, source: str | Path) -> tuple[PricingModel, bool]:
        """Import a pricing model, a file or a packaged version.

        Returns:
            the model, and whether it is new; importing the same one again changes nothing.

        Raises:
            PricingError: the file is no model.
            PricingRefused: it contradicts an imported one.
        """
        model = read_pricing(source)
        with self._writing() as connection:
            return model, pricelist.store(connection, model)

    def pricing_models(self) -> list[pricelist.Imported]:
        """Return the imported models."""
        with _translated(), self._store.begin() as connection:
            return pricelist.imported(connection)

    def periods(self) -> list[runs.BillingPeriod]:
        """Return the billing periods."""
        with _translated(), self._store.begin() as connection:
            return runs.periods(connection)

    def run(self, period: str, clouds: Sequence[str] = ()) -> Outcome:
        """Meter and rate a period; supersedes its completed run.

        Args:
            period: ``YYYY-MM``.
            clouds: only resources of these; all when empty.

        Raises:
            PeriodBusy: another run of the period is in progress.
            RunRefused: the period is finalized.
            PricingRefused: no pricing model is valid.
            InvariantsViolated: usage records contradict events; the run is booked as failed.
            CounterFailure: a required counter source failed; so is the run then.
        """
        month = Period.parse(period)
        with _translated(), locked(self._store, month):
            with self._writing() as connection:
                runs.require_open(connection, month)
                model = pricelist.valid_for(connection, month)
                reclaimed = runs.reclaim(connection, month)
                run = runs.begin(connection, month, model.version, clouds)
            return self._compute(run, model, reclaimed)

    def correct(self, period: str) -> Outcome:
        """Meter a finalized period again, and book what that changes beside the latest run.

        The pricing version and the clouds are those of the run it corrects.

        Raises:
            RunRefused: the period is not finalized.
            PeriodBusy, InvariantsViolated, CounterFailure: as for `run`.
        """
        month = Period.parse(period)
        with _translated(), locked(self._store, month):
            with self._writing() as connection:
                base = runs.baseline(connection, month)
                model = pricelist.version(connection, base.pricing_version or "")
                reclaimed = runs.reclaim(connection, month)
                run = runs.begin(connection, month, model.version, base.clouds, base.id)
            return self._compute(run, model, reclaimed)

    def finalize(self, period: str, run_id: str) -> runs.Run:
        """Finalize a completed run: a regular one closes the period, a correction stands.

        Raises:
            RunRefused: the run or the period is not in the state for it.
        """
        month = Period.parse(period)
        with _translated(), locked(self._store, month), self._writing() as connection:
            return runs.finalize(connection, month, run_id)

    def detect_late(self, period: str) -> Late:
        """Find events of a finalized period that its latest finalized run has not read.

        Raises:
            RunRefused: the period is not finalized.
        """
        month = Period.parse(period)
        with _translated():
            with self._store.begin() as connection:
                base = runs.baseline(connection, month)
            since = read(base.stats["snapshot_at"])
            with snapshot(self._source) as events:
                found = events.late(*bounds(month), since, base.clouds)
        return Late(base.id, month, since, found)

    def export(self, run_id: str, form: str, out: Path) -> Exported:
        """Export a completed or finalized run into a new or empty directory.

        Args:
            run_id: the run.
            form: ``json`` or ``csv``.
            out: the directory.

        Raises:
            ExportRefused: the run is not exportable, or the directory not empty.
            RunRefused: there is no such run.
        """
        if form not in FORMATS:
            raise UsageError(f'--format: "{form}" must be json or csv')
        require_empty(out)
        with _translated(), self._store.begin() as connection:
            run = runs.find(connection, run_id)
            if run.status not in {runs.COMPLETED, runs.FINALIZED}:
                raise ExportRefused(
                    f"run {run_id} is {run.status}; name a completed or finalized one to export"
                )
            with Directory(out) as directory:
                exported = _export(connection, run, form, directory)
                self._require_unchanged(run)
        return exported

    def close(self) -> None:
        """Close the connections."""
        for store in (self._own, self._reporting):
            if store is not None:
                store.dispose()
        self._own = self._reporting = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _compute(self, run: runs.Run, model: PricingModel, reclaimed: Sequence[str]) -> Outcome:
        computation = Computation(run.period, model, self.counter_sources, self.attributing)
        try:
            with snapshot(self._source) as events, self._writing() as connection:
                stats = computation.book(connection, events, run)
                superseded = runs.complete(connection, run, stats)
        except BaseException as error:
            text = str(_readable(error))
            with self._writing() as connection:
                runs.fail(connection, run, {**computation.counted(), "error": text})
            raise
        return Outcome(
            run.id,
            run.period,
            model.version,
            run.corrects_run_id,
            stats,
            superseded,
            reclaimed,
        )

    def _require_unchanged(self, run: runs.Run) -> None:
        """Refuse to stand by an export of a run that became something else meanwhile."""
        with self._store.begin() as connection:
            status = runs.find(connection, run.id).status
        if status != run.status:
            raise ExportRefused(
                f"nothing exported: run {run.id} is {status} now and was {run.status} at first; "
                "export the run that took its place"
            )

    @property
    def _store(self) -> sa.Engine:
        if self._own is None:
            self._own = database.engine(self.database_url)
        return self._own

    @property
    def _source(self) -> sa.Engine:
        if self._reporting is None:
            if not self.reporting_database_url:
                raise UsageError("TALLY_ENGINE_REPORTING_DB_URL: must be set")
            self._reporting = database.engine(self.reporting_database_url)
        return self._reporting

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        connection = self._store.connect().execution_options(immediate=True)
        with _translated(), connection, connection.begin():
            yield connection


def _export(connection: sa.Connection, run: runs.Run, form: str, directory: Directory) -> Exported:
    if form == "csv":
        rated, deltas = write_tables(connection, run, directory)
        return Exported(run.id, run.period, run.kind, rated_records=rated, deltas=deltas)
    statements = write_documents(connection, run, directory)
    return Exported(run.id, run.period, run.kind, statements=statements)


@contextmanager
def _translated() -> Iterator[None]:
    """Turn what the database driver raises into an error without addresses or statements."""
    try:
        yield
    except sa.exc.SQLAlchemyError as error:
        raise _readable(error) from error


def _readable(error: BaseException) -> BaseException:
    if not isinstance(error, sa.exc.SQLAlchemyError):
        return error
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    text = str(cause).strip().partition("\n")[0]
    return DatabaseError(f"database: {text}; check that both databases are reachable and migrated")
