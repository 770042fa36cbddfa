"""What a drill removes from its directory, and what it refuses to."""

import pytest

from harness.drill import prepare, take
from harness.errors import UsageError


class Refusing:
    """A disturbance that cannot begin."""

    disturbed = False

    def begin(self, opened):
        raise UsageError("not here")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("export/rated.csv", "not here"),
        ("verdict.json", "not here"),
        ("export/notes.txt", "no drill wrote: notes.txt"),
        ("verdict.json/x", "is a directory where a drill writes a file"),
        ("export", "is no directory"),
    ],
)
def test_a_refused_drill_removes_nothing(tmp_path, name, text):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("kept")
    with pytest.raises(UsageError, match=text):
        take(prepare(1, "2026-07"), None, out=tmp_path, chaos=Refusing())
    assert path.read_text() == "kept"
