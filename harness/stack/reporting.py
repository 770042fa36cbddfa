"""The Reporting API of a month as a process of its own."""

from __future__ import annotations

import secrets
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import requests

from harness.reporting import admin
from harness.stack.collector import environment
from harness.stack.interface import Access, StackError
from harness.stack.log import listening_port
from harness.stack.process import Process


@dataclass(frozen=True, slots=True)
class Tokens:
    """What lets a month's parts into its Reporting API. ``repr`` shows none."""

    ingest: str = field(repr=False)
    api: str = field(repr=False)
    internal: str = field(repr=False)


def prepare(db_url: str, cloud: str) -> Tokens:
    """Bring a month's reporting database into being, and issue its credentials.

    Args:
        db_url: of a database that is empty.
        cloud: the cloud the ingest credential is bound to.
    """
    admin.migrate(db_url)
    return Tokens(
        ingest=admin.create_ingest_credential(db_url, "openstack", cloud).token,
        api=admin.create_api_token(db_url, "admin").token,
        internal=secrets.token_urlsafe(32),
    )


class ReportingProcess:
    """``tally-harness reporting serve``; keeps its port over a restart.

    Attributes:
        port: where it listens on 127.0.0.1; 0 before the first start.
    """

    def __init__(
        self, db_url: str, tokens: Tokens, *, directory: Path, start_timeout: float
    ) -> None:
        """Prepare a Reporting API; nothing runs before `start`.

        Args:
            db_url: a database `prepare` was used on.
            tokens: what `prepare` returned.
            directory: where its log goes.
            start_timeout: seconds until it has to be ready.
        """
        self.port = 0
        self._db_url = db_url
        self._tokens = tokens
        self._log = directory / "reporting.log"
        self._start_timeout = start_timeout
        self._process: Process | None = None

    @property
    def access(self) -> Access:
        """Where it is, and how to be let in."""
        return Access(f"http://127.0.0.1:{self.port}", self._tokens.api, self._tokens.internal)

    def start(self) -> Self:
        """Start it and wait until it is ready.

        Raises:
            StackError: it ended or was not ready in time; shows the tail of its log.
        """
        if self._process is not None and self._process.running:
            raise StackError("the Reporting API of this month runs already; stop it first")
        begin = self._log.stat().st_size if self._log.exists() else 0
        self._process = process = Process(
            "the Reporting API",
            [sys.executable, "-m", "harness", "reporting", "serve"],
            environment=environment(
                {
                    "TALLY_REPORTING_DB_URL": self._db_url,
                    "TALLY_REPORTING_INTERNAL_TOKEN": self._tokens.internal,
                    "TALLY_REPORTING_HTTP_PORT": str(self.port),
                }
            ),
            log=self._log,
        )

        def ready() -> bool:
            port = listening_port(self._log, begin)
            if not port or not answers(f"http://127.0.0.1:{port}/readyz"):
                return False
            self.port = port
            return True

        try:
            process.wait_until(ready, self._start_timeout)
        except StackError:
            process.kill()
            raise
        return self

    def stop(self) -> None:
        """End it cleanly."""
        if self._process is not None:
            self._process.terminate()

    def kill(self) -> None:
        """End it the hard way."""
        if self._process is not None:
            self._process.kill()


def answers(url: str) -> bool:
    """Tell whether a GET is answered with 200."""
    try:
        return requests.get(url, timeout=15).status_code == 200
    except requests.RequestException:
        return False
