"""The engine of a month, in the drill's process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from harness.engine import Engine, samples

#: The pricing model every drill bills with.
PRICING = "2026-03"


@dataclass(frozen=True, slots=True)
class Books:
    """Where a month is billed. ``repr`` shows no address, which may hold a password.

    Attributes:
        engine_url: database of the engine.
        reporting: gives the address of the Reporting API's database, for as long as it is entered.
    """

    engine_url: str = field(repr=False)
    reporting: Callable[[], AbstractContextManager[str]] = field(repr=False)

    def bill(self, period: str, *, egress: Path | None, out: Path) -> Path:
        """Run the engine over a period and export it; see `harness.stack.MonthStack.bill`."""
        with self.reporting() as url, self.engine(url, egress) as engine:
            run = engine.run(period)
            engine.export(run.run_id, "csv", out)
        return out

    def engine(self, reporting_url: str, egress: Path | None = None) -> Engine:
        """Open the engine with its schema and its pricing in place."""
        sources = () if egress is None else (samples(egress),)
        engine = Engine(self.engine_url, reporting_url, counter_sources=sources)
        try:
            engine.migrate()
            engine.import_pricing(PRICING)
        except BaseException:
            engine.close()
            raise
        return engine


def at(url: str) -> Callable[[], AbstractContextManager[str]]:
    """Give a database that is read where it is."""
    return lambda: nullcontext(url)
