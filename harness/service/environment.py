"""Reading settings from the environment, with ``_FILE`` companions for secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from harness.errors import UsageError


class Environment:
    """The variables of a process, read once, with errors that name the variable.

    An empty variable is an unset one.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        """Read from `variables`, ``os.environ`` in production."""
        self._variables = variables

    def text(self, name: str, default: str = "") -> str:
        """Return the value of `name`, or `default`."""
        return self._variables.get(name, "") or default

    def required(self, name: str) -> str:
        """Return the value of `name`; raise UsageError when it is not set."""
        value = self.text(name)
        if not value:
            raise UsageError(f"{name}: must be set")
        return value

    def secret(self, name: str) -> str:
        """Return `name`, or the content of the file `name`_FILE names, less one line end.

        Raises:
            UsageError: both are set, or the file is unreadable or empty. Never shows the value.
        """
        value, path = self.text(name), self.text(f"{name}_FILE")
        if value and path:
            raise UsageError(f"set {name} or {name}_FILE, not both")
        if not path:
            return value
        return read_secret(f"{name}_FILE", Path(path))

    def token(self, name: str) -> str:
        """Return a secret that travels as a bearer token, empty when it is not set.

        Raises:
            UsageError: as `secret` and `check_token`.
        """
        value = self.secret(name)
        if value:
            check_token(name if self.text(name) else f"{name}_FILE", value)
        return value

    def flag(self, name: str, *, default: bool) -> bool:
        """Return a switch: ``true`` or ``false``."""
        value = self.text(name)
        if not value:
            return default
        if value not in {"true", "false"}:
            raise UsageError(f'{name}: "{value}" must be true or false')
        return value == "true"

    def integer(self, name: str, default: int, *, least: int, most: int) -> int:
        """Return a whole number within ``least … most``."""
        value = self.text(name)
        if not value:
            return default
        digits = value.lstrip("0") or "0"
        # The length comes first: int() refuses thousands of digits with an error of its own.
        if (
            not (value.isascii() and value.isdigit())
            or len(digits) > len(str(most))
            or not least <= int(digits) <= most
        ):
            raise UsageError(f'{name}: "{value}" must be a whole number from {least} to {most}')
        return int(digits)

    def seconds(self, name: str, default: float, *, least: float, most: float) -> float:
        """Return a number of seconds within ``least … most``; fractions are allowed."""
        value = self.text(name)
        if not value:
            return default
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not least <= number <= most:
            raise UsageError(f'{name}: "{value}" must be a number from {least:g} to {most:g}')
        return number

    def choice(self, name: str, default: str, accepted: tuple[str, ...]) -> str:
        """Return one of the accepted words, compared exactly."""
        value = self.text(name, default)
        if value not in accepted:
            raise UsageError(f'{name}: "{value}" must be one of {", ".join(accepted)}')
        return value

    def words(self, name: str, default: str) -> tuple[str, ...]:
        """Return a comma list, blanks around its members taken off, empty members refused."""
        value = self.text(name, default)
        members = tuple(member.strip() for member in value.split(","))
        if not all(members):
            raise UsageError(f'{name}: "{value}" has an empty member; list names as a,b,c')
        return members

    def http_url(self, name: str, *, insecure: str) -> str:
        """Return a required http(s) base URL without query, fragment or final slash.

        Plain http is refused unless the switch named `insecure` is true.
        """
        value = self.required(name)
        try:
            parts = urlsplit(value)
            usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:  # brackets that are no address, a port that is no number
            usable = False
        if not usable or set("?#") & set(value):
            raise UsageError(
                f"{name}: give a base URL such as https://host:8443, without query and fragment"
            )
        if parts.scheme == "http" and not self.flag(insecure, default=False):
            raise UsageError(
                f"{name}: must use https, because a token travels on it; "
                f"set {insecure}=true to allow plaintext"
            )
        return value.rstrip("/")


def check_token(name: str, value: str) -> None:
    """See that a header can carry `value`; `name` is what errors call it.

    Raises:
        UsageError: it holds anything but printable ASCII, or a blank. Never shows the value, which
            an HTTP library would.
    """
    if not re.fullmatch("[!-~]+", value):
        raise UsageError(
            f"{name}: a token is one line of printable ASCII characters without blanks; "
            "give it as it was issued"
        )


def read_secret(name: str, path: Path) -> str:
    """Return the content of a secret file, less one line end; `name` is what errors call it."""
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"reading {name}: {error}") from error
    content = content.removesuffix("\n")
    if not content:
        raise UsageError(f"{name}: file {path} is empty")
    return content
