"""The exceptions of the harness.

::

    HarnessError               anything the harness refuses or fails at; exit status 1
    ├── UsageError             the call itself is wrong; exit status 2
    └── …                      each room's own, next to what raises it, derived from these

A message names what was given, what would have been accepted and what to do next. It never
shows a secret.
"""

from __future__ import annotations


class HarnessError(Exception):
    """Root of every exception this project raises on purpose."""


class UsageError(HarnessError):
    """A flag, an option or a variable is missing, malformed, or excluded by another one."""
