"""What a malformed ``rated.csv`` is refused with."""

import pytest

from harness.oracle.rated import COLUMNS, RatedError, read

GOOD = {
    "cloud": "c",
    "platform": "openstack",
    "resource_type": "instance",
    "resource_id": "i",
    "project_id": "p",
    "state": "active",
    "from_ts": "2026-07-01T00:00:00Z",
    "to_ts": "2026-07-01T01:00:00Z",
    "dimension": "vcpus",
    "quantity": "1.0000",
    "period_from": "2026-07-01T00:00:00Z",
    "period_to": "2026-08-01T00:00:00Z",
}


@pytest.fixture
def refused(tmp_path):
    def reading(text):
        path = tmp_path / "rated.csv"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        with pytest.raises(RatedError) as caught:
            read(path)
        return str(caught.value).replace(str(path), "FILE")

    return reading


def table(*rows):
    lines = [",".join(COLUMNS), *(",".join((GOOD | row).values()) for row in rows)]
    return "".join(f"{line}\n" for line in lines)


def test_a_missing_file(tmp_path):
    with pytest.raises(RatedError, match=r"reading .*: No such file"):
        read(tmp_path / "rated.csv")


@pytest.mark.parametrize("text", ["", "\n"])
def test_an_empty_file(refused, text):
    assert refused(text).startswith("FILE holds no header")


def test_no_utf8(refused):
    assert refused(b"\xff\n").startswith("reading FILE: ")


@pytest.mark.parametrize("column", COLUMNS)
def test_a_missing_column(refused, column):
    text = table().replace(column, "else", 1)
    assert refused(text) == f'FILE: the header lacks the column "{column}"'


def test_the_first_missing_column_is_named(refused):
    assert refused("cloud,quantity\n") == 'FILE: the header lacks the column "platform"'


def test_a_broken_quote(refused):
    assert refused('cloud,"platform\n').startswith("FILE: line 1: ")
    assert refused(table({}) + '"c"x,\n').startswith("FILE: line 3: ")


def test_too_few_fields(refused):
    assert refused(table({}) + "c,openstack\n") == "FILE: line 3: 2 fields under a header of 12"


def test_lines_count_records(refused, tmp_path):
    text = table({"state": '"two\nlines"'}, {"quantity": "abc"})
    assert refused(text) == 'FILE: line 3: quantity "abc" is no decimal number'


@pytest.mark.parametrize("column", ["from_ts", "to_ts", "period_from", "period_to"])
@pytest.mark.parametrize("value", ["yesterday", "2026-07-01", "2026-07-01T00:00:00", ""])
def test_a_malformed_instant(refused, column, value):
    assert refused(table({column: value, "quantity": "x"})).startswith(
        f'FILE: line 2: {column} "{value}": '
    )


@pytest.mark.parametrize("value", ["", "abc", "NaN", "Infinity", "1_0", "1e999", "\u0661", "0x1"])
def test_a_malformed_quantity(refused, value):
    assert refused(table({"quantity": value})).startswith(f'FILE: line 2: quantity "{value}"')


def test_a_column_stated_twice(refused):
    assert refused("cloud," + table()) == 'FILE: the header states the column "cloud" twice'


def test_a_column_that_is_not_needed_stated_twice(refused):
    lines = [f"{line},1,2" for line in table().splitlines()]
    lines[0] = lines[0].replace(",1,2", ",amount,amount")
    assert refused("\n".join(lines)) == 'FILE: the header states the column "amount" twice'


@pytest.mark.parametrize("value", ["0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"])
def test_an_instant_outside_of_what_can_be_written(refused, value):
    assert "outside of the years 1 to 9999" in refused(table({"from_ts": value}))
