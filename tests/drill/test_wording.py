"""Tables that differ, in words; tables that do not cost nothing."""

import subprocess
import sys

from harness.drill.wording import LIMIT, differences


def test_equal_tables_need_no_words_and_no_deepdiff():
    code = (
        "import sys; from harness.drill.wording import differences; "
        "assert differences('x', {'a': 1}, {'a': 1}) == []; assert 'deepdiff' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_each_member_is_named_with_both_values():
    expected = {"port.create.end": 676, "image.create": 9, "router.delete.end": 1}
    found = {"port.create.end": 675, "image.create": 9, "network.delete.end": 2}
    assert differences("skipped", expected, found) == [
        "skipped network.delete.end: expected none, found 2",
        "skipped port.create.end: expected 676, found 675",
        "skipped router.delete.end: expected 1, found none",
    ]


def test_many_differences_are_capped():
    lines = differences("skipped", {str(n): 1 for n in range(50)}, {})
    assert len(lines) == LIMIT + 1
    assert lines[-1] == f"skipped: {50 - LIMIT} further differences"
