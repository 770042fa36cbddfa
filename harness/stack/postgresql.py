"""A PostgreSQL of one's own: a server process on a free port, its data in a temporary directory."""

from __future__ import annotations

import os
import pwd
import re
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

import sqlalchemy
from sqlalchemy.exc import OperationalError

from harness.service import database
from harness.stack.interface import StackError, Unavailable
from harness.stack.ports import free_ports
from harness.stack.process import Process

#: Where Debian keeps the programs, newest version first.
_DEBIAN = Path("/usr/lib/postgresql")
_USER = "tally"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}", re.ASCII)
_UNPRIVILEGED = ("postgres", "nobody")


def find_postgresql(program: str = "postgres") -> Path:
    """Return the path of one of PostgreSQL's programs.

    Raises:
        Unavailable: it is not installed.
    """
    found = shutil.which(program)
    versions = sorted(_DEBIAN.glob("*"), key=lambda path: path.name.zfill(4), reverse=True)
    for candidate in [path / "bin" / program for path in versions] + [Path(found or "/")]:
        if candidate.is_file():
            return candidate
    raise Unavailable(
        f"{program} is neither below {_DEBIAN} nor on PATH; install PostgreSQL "
        "(Debian: apt install postgresql)"
    )


class PrivatePostgres:
    """A PostgreSQL server that belongs to this process and ends with it.

    ::

        with PrivatePostgres() as postgres:
            url = postgres.create_database("july")

    It listens on 127.0.0.1 only and asks for a password. The server refuses to run as root, so
    there it runs as an unprivileged account.

    Attributes:
        port: where it listens.
        directory: its data and log.
    """

    def __init__(self, *, start_timeout: float = 60.0) -> None:
        """Prepare a server; nothing runs before ``start`` or ``with``.

        Args:
            start_timeout: seconds a start may take.

        Raises:
            Unavailable: PostgreSQL is not installed, or nothing lets root give up its rights.
        """
        self._programs = {
            name: str(find_postgresql(name)) for name in ("initdb", "postgres", "pg_ctl")
        }
        self._start_timeout = start_timeout
        self._password = secrets.token_urlsafe(24)
        self._account = _account()
        self.directory = Path(tempfile.mkdtemp(prefix="tally-postgresql-"))
        self._data = self.directory / "data"
        (self.port,) = free_ports(1)
        self._process: Process | None = None

    def url(self, name: str = "postgres") -> str:
        """Return the address of a database, password included."""
        return f"postgresql://{_USER}:{self._password}@127.0.0.1:{self.port}/{name}"

    @property
    def running(self) -> bool:
        """Whether the server process is there."""
        return self._process is not None and self._process.running

    def create_database(self, name: str) -> str:
        """Create an empty database and return its address."""
        self._execute(f'CREATE DATABASE "{_checked(name)}"')
        return self.url(name)

    def drop_database(self, name: str) -> None:
        """Drop a database, closing whoever is connected; one that is gone is no error."""
        self._execute(f'DROP DATABASE IF EXISTS "{_checked(name)}" WITH (FORCE)')

    def start(self) -> Self:
        """Start the server and wait until it answers.

        Raises:
            StackError: it did not come up in time; shows the tail of its log.
        """
        if not self._data.exists():
            self._initialise()
        self._process = Process(
            "postgres",
            self._as_account(
                *(self._programs["postgres"], "-D", str(self._data)),
                *("-c", "listen_addresses=127.0.0.1", "-c", f"port={self.port}"),
                *("-c", "unix_socket_directories="),
            ),
            environment=self._environment(),
            log=self.directory / "output.log",
            remove=self.directory,
        )
        self._process.wait_until(self.answers, self._start_timeout)
        return self

    def answers(self) -> bool:
        """Whether a connection and a query succeed."""
        try:
            self._execute("SELECT 1")
        except OperationalError:
            return False
        return True

    def stop(self) -> None:
        """End the server at once, as it does after a crash of its own; data and port stay."""
        if self._process is not None:
            if self._process.running:
                self._run("pg_ctl", "stop", "-D", str(self._data), "-m", "immediate", "-w")
            self._process.terminate(15)

    def tail(self) -> str:
        """Return the last lines of the server's log."""
        return "" if self._process is None else self._process.tail()

    def close(self) -> None:
        """End the server at once and remove all it kept; closing twice is harmless."""
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _initialise(self) -> None:
        if self._account is not None:
            os.chown(self.directory, self._account.pw_uid, self._account.pw_gid)
        password = self.directory / "password"
        password.touch(mode=0o600)
        password.write_text(self._password, encoding="ascii")
        if self._account is not None:
            os.chown(password, self._account.pw_uid, self._account.pw_gid)
        self._run(
            *("initdb", "-D", str(self._data), "--username", _USER, "--pwfile", str(password)),
            *("--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C"),
        )
        password.unlink()

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            self._as_account(self._programs[program], *arguments),
            env=self._environment(),
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=self._start_timeout,
            check=False,
        )
        if done.returncode:
            said = done.stdout.decode(errors="replace")
            raise StackError(f"{program} failed with status {done.returncode}:\n{said}")

    def _as_account(self, *command: str) -> list[str]:
        if self._account is None:
            return list(command)
        ids = (f"--reuid={self._account.pw_uid}", f"--regid={self._account.pw_gid}")
        return ["setpriv", *ids, "--clear-groups", *command]

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        return kept | {"HOME": str(self.directory), "LC_ALL": "C"}

    def _execute(self, statement: str) -> None:
        store = database.engine(self.url(), connections=1)
        try:
            with store.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(sqlalchemy.text(statement))
        finally:
            store.dispose()


def _account() -> pwd.struct_passwd | None:
    """Return the account to run under, None for the one there is."""
    if os.geteuid() != 0:
        return None
    if shutil.which("setpriv") is None:
        raise Unavailable(
            "PostgreSQL does not run as root, and setpriv (Debian: util-linux) is not on PATH"
        )
    for name in _UNPRIVILEGED:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise Unavailable(f"PostgreSQL does not run as root, and none of {_UNPRIVILEGED} exists")


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise StackError(f'"{name}" is no database name; use lower-case letters, digits, _')
    return name
