"""What can be wrong with a recording."""

from __future__ import annotations

from harness.errors import HarnessError


class RecordingError(HarnessError):
    """A recording that is torn, altered, too new, or cannot be read or written."""
