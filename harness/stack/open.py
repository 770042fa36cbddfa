"""Taking the right kind of stack."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Protocol

from harness.errors import UsageError
from harness.stack.interface import KINDS, Stack, Unavailable
from harness.stack.options import Options
from harness.stack.scratch import sweep

#: What ``auto`` tries, the better kinds first.
_BY_MERIT = ("containers", "local", "embedded")


def open_stack(kind: str, options: Options | None = None) -> Stack:
    """Start a stack.

    Args:
        kind: one of `KINDS`, or ``auto``: the first of containers, local and embedded that this
            machine has what it takes for; why the better ones were not taken is the stack's
            ``reason``. A kind that is named never falls back.
        options: what it is told.

    Raises:
        UsageError: no such kind, or options that do not go with it.
        Unavailable: the machine lacks what the kind needs; says what, and how to get it. With
            ``auto`` only where ``TALLY_REQUIRE_STACKS`` (a comma list) names a kind passed over.
        StackError: a service did not start; holds the tail of its log.
    """
    options = options or Options()
    if kind != "auto" and kind not in KINDS:
        raise UsageError(f'"{kind}" is no stack; there are auto, {", ".join(KINDS)}')
    sweep()
    if kind != "auto":
        return _start(kind, options, reason="")
    if options.keep or options.reuse:
        return _start("containers", options, reason="")
    required = os.environ.get("TALLY_REQUIRE_STACKS", "").split(",")
    lacking: list[str] = []
    for candidate in _BY_MERIT:
        try:
            return _start(candidate, options, reason="; ".join(lacking))
        except Unavailable as error:
            if candidate in required:
                raise
            lacking.append(f"no {candidate}: {str(error).partition(chr(10))[0]}")
    raise AssertionError("embedded needs nothing and is always available")


def attach(handed: Mapping[str, str]) -> Stack:
    """Use a stack that another process of this run started.

    Args:
        handed: what its ``handover`` returned.

    The stack returned ends none of the other process's services when it is closed.

    Raises:
        UsageError: the kind cannot be shared between processes.
    """
    return _class(handed["kind"]).attach(handed)


def _start(kind: str, options: Options, *, reason: str) -> Stack:
    if (options.keep or options.reuse) and kind != "containers":
        raise UsageError(f"keeping and reusing a stack goes with containers, not with {kind}")
    return _class(kind).start(options, reason=reason)


def _class(kind: str) -> type[_Kind]:
    """Load the kind's own module, and nothing of the others'."""
    module = importlib.import_module(f"harness.stack.{kind}")
    found: type[_Kind] = getattr(module, f"{kind.removesuffix('s').capitalize()}Stack")
    return found


class _Kind(Stack, Protocol):
    """What each kind's class adds to a stack."""

    @classmethod
    def start(cls, options: Options, *, reason: str = "") -> Stack: ...

    @classmethod
    def attach(cls, handed: Mapping[str, str]) -> Stack: ...
