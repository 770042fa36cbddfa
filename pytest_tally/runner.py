"""The part of a session that drills: one stack, and each month's verdict once."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pytest_tally.config import MonthKey, TallyConfig
from pytest_tally.report import Row

if TYPE_CHECKING:
    from harness.drill import Subject, Verdict
    from harness.stack import Stack


class Runner:
    """Opens the stack when it is first needed and keeps verdicts.

    Attributes:
        rows: a row of the summary for each month drilled, in the order they were.
    """

    def __init__(
        self, config: TallyConfig, *, services: Mapping[str, str] | None = None, worker: str = ""
    ) -> None:
        """Prepare; nothing is started.

        Args:
            config: what the run was asked for.
            services: what a controller started, by `Stack.handover`; None starts a stack here.
            worker: id of the xdist worker, empty without.
        """
        self.rows: list[Row] = []
        self._config = config
        self._services = services
        self._worker = worker
        self._stack: Stack | None = None
        self._subject: tuple[MonthKey, Subject] | None = None
        self._verdicts: dict[MonthKey, Verdict] = {}
        self._storms = 0

    @property
    def opened(self) -> bool:
        """Whether the stack has been started."""
        return self._stack is not None

    def stack(self) -> Stack:
        """Return the stack, started at the first call.

        Raises:
            HarnessError: it is not to be had on this machine, or did not start.
        """
        if self._stack is None:
            from harness.stack import Options, attach, open_stack

            _quieten("pika")
            if self._services is not None:
                self._stack = attach(self._services)
            else:
                options = Options.from_mapping(self._config.stack_options)
                self._stack = open_stack(self._config.stack, options)
        return self._stack

    def subject(self, key: MonthKey) -> Subject:
        """Generate a month; the last one is kept."""
        if self._subject is None or self._subject[0] != key:
            from harness.drill import prepare

            made = prepare(key.seed, key.period, cloud=key.cloud, faults=key.faults)
            self._subject = key, made
        return self._subject[1]

    def verdict(self, key: MonthKey) -> Verdict:
        """Take a month through the stack, or return what that came to before."""
        if key not in self._verdicts:
            from harness.drill import run

            out = self._config.artifacts
            verdict = run(
                self.subject(key),
                self.stack(),
                name="-".join(filter(None, (key.name, str(len(self._verdicts)), self._worker))),
                out=out / key.name if out else None,
            )
            self._verdicts[key] = verdict
            self.rows.append(Row.of(verdict, key, self._config))
        return self._verdicts[key]

    def disturbed(self, key: MonthKey, disturbances: str, seed: int) -> Verdict:
        """Take a month through the stack while something goes wrong; each call does so anew.

        Args:
            key: the month.
            disturbances: a comma list, as ``tally-harness drill --chaos`` takes it.
            seed: of where they strike.

        Raises:
            HarnessError: an unknown disturbance, or a stack that cannot be disturbed.
        """
        from harness.drill import run
        from harness.drill.chaos import plan

        self._storms += 1
        return run(
            self.subject(key),
            self.stack(),
            name="-".join(filter(None, (key.name, f"storm-{self._storms}", self._worker))),
            chaos=plan(disturbances, seed),
        )

    def close(self) -> None:
        """Stop what was started."""
        stack, self._stack = self._stack, None
        if stack is not None:
            stack.close()


def _quieten(name: str) -> None:
    """Keep a library's expected refusals out of the logs of tests, unless a run set its level."""
    logger = logging.getLogger(name)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.CRITICAL)
