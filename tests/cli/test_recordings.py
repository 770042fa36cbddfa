"""`record` and `recordings`: what they refuse before anything is kept or lost."""

import gzip

import pytest

from harness.cli import main


@pytest.mark.parametrize(
    "content", [None, gzip.compress(b"{}" * 10_000)[:-20]], ids=["missing", "torn"]
)
def test_an_oracle_that_cannot_be_read_is_refused_before_the_bus_is_recorded(
    content, tmp_path, capsys
):
    oracle, out = tmp_path / "oracle.json.gz", tmp_path / "recorded"
    if content is not None:
        oracle.write_bytes(content)
    url = "amqp://127.0.0.1:1"  # nobody answers there: it is not asked
    assert main(["record", "--amqp-url", url, "--out", str(out), "--oracle", str(oracle)]) == 1
    assert f"Error: reading {oracle}: " in capsys.readouterr().err
    assert not out.exists()


def test_a_list_tells_an_empty_directory_from_one_that_is_not_there(tmp_path, capsys):
    for directory, state in (
        (tmp_path, "holds no recordings"),
        (tmp_path / "missing", "does not exist"),
    ):
        assert main(["recordings", "list", str(directory)]) == 2
        assert (
            f"Error: {directory} {state}; name a directory that holds recordings"
            in capsys.readouterr().err
        )
