"""The drill of late events, which is run when it is named.

::

    pytest --pyargs pytest_tally.drills.held_back --tally-seed=1
"""

from __future__ import annotations

import pytest

from harness.drill import Subject, run_held_back
from harness.stack import Stack


@pytest.mark.tally_faults("held-back")
def test_late_events_are_corrected(tally_month: Subject, tally_stack: Stack) -> None:
    """A month closed without what was held differs; once released and corrected it matches."""
    drill = run_held_back(tally_month, tally_stack, name=f"{tally_month.name}-corrected")
    assert drill.findings() == ()
