"""The drill of late events, from publication to correction."""

from dataclasses import replace

import pytest

from harness.drill import prepare, run_held_back
from harness.errors import UsageError
from harness.stack import Options, open_stack


@pytest.fixture
def stack():
    opened = open_stack("embedded", Options())
    yield opened
    opened.close()


@pytest.mark.slow
def test_seed_1_differs_when_closed_and_matches_when_corrected(stack, tmp_path):
    drill = run_held_back(prepare(1, "2026-07", faults=("held-back",)), stack, out=tmp_path)
    assert drill.findings() == ()
    assert drill.passed
    assert len(drill.before.differences) == 78
    assert all(difference.touched_by == ("held-back",) for difference in drill.before.differences)
    assert not drill.before.matches
    assert drill.after.matches
    assert (drill.before.comparison.compared, drill.after.comparison.compared) == (857, 857)
    assert (len(drill.late.resources), sum(found.events for found in drill.late.resources)) == (
        81,
        84,
    )
    assert drill.correction.corrects_run_id == drill.late.run_id
    assert (drill.correction.candidates, drill.correction.rated_records) == (871, 3241)
    for half in ("before", "after"):
        assert (tmp_path / half / "verdict.json").exists()
    assert (tmp_path / "after" / "export" / "deltas.csv").exists()
    unseen = replace(drill.late, resources=drill.late.resources[1:])
    (finding,) = replace(drill, late=unseen).findings()
    assert "were found late" in finding
    assert "the corrected month differs" in " ".join(replace(drill, after=drill.before).findings())


def test_a_month_that_holds_nothing_is_refused(stack):
    with pytest.raises(UsageError, match="held-back"):
        run_held_back(prepare(1, "2026-07"), stack)
