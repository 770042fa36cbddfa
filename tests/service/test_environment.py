"""Settings from the environment: each refusal names the variable and the accepted form."""

import pytest

from harness.errors import UsageError
from harness.service.environment import Environment


def environment(**variables):
    return Environment(variables)


def test_an_empty_variable_counts_as_unset():
    assert environment(TALLY_X="").text("TALLY_X", "default") == "default"
    with pytest.raises(UsageError, match="TALLY_X: must be set"):
        environment(TALLY_X="").required("TALLY_X")


def test_a_secret_comes_from_the_variable():
    assert environment(TALLY_TOKEN="s3cret").secret("TALLY_TOKEN") == "s3cret"


@pytest.mark.parametrize(
    ("content", "value"), [("a\n", "a"), ("a", "a"), ("a\n\n", "a\n"), (" a ", " a ")]
)
def test_a_secret_file_loses_one_line_end(tmp_path, content, value):
    path = tmp_path / "token"
    path.write_text(content)
    assert environment(TALLY_TOKEN_FILE=str(path)).secret("TALLY_TOKEN") == value


def test_a_secret_is_given_once(tmp_path):
    both = environment(TALLY_TOKEN="s3cret", TALLY_TOKEN_FILE=str(tmp_path))
    with pytest.raises(UsageError, match="set TALLY_TOKEN or TALLY_TOKEN_FILE, not both") as error:
        both.secret("TALLY_TOKEN")
    assert "s3cret" not in str(error.value)


def test_an_empty_or_missing_secret_file_is_refused(tmp_path):
    path = tmp_path / "token"
    with pytest.raises(UsageError, match="reading TALLY_TOKEN_FILE"):
        environment(TALLY_TOKEN_FILE=str(path)).secret("TALLY_TOKEN")
    path.write_text("\n")
    with pytest.raises(UsageError, match="is empty"):
        environment(TALLY_TOKEN_FILE=str(path)).secret("TALLY_TOKEN")


STRANGE = [
    "a\nb",
    "a\rb",
    "\ra",
    "a\n",
    "a b",
    " a",
    "a\t",
    "a\0",
    "\x7f",
    "é",
    "€",
    "a\udcff",
    " ",
]


@pytest.mark.parametrize("value", STRANGE)
def test_a_token_fits_a_header(value, tmp_path):
    value = f"s3cret{value}"
    with pytest.raises(UsageError, match=r"^TALLY_TOKEN: a token is one line") as error:
        environment(TALLY_TOKEN=value).token("TALLY_TOKEN")
    assert "s3cret" not in str(error.value)
    path = tmp_path / "token"
    path.write_bytes(f"{value}\n".encode(errors="surrogateescape"))
    with pytest.raises(UsageError, match="TALLY_TOKEN_FILE: ") as error:
        environment(TALLY_TOKEN_FILE=str(path)).token("TALLY_TOKEN")
    assert "s3cret" not in str(error.value)


def test_a_token_is_a_secret_otherwise(tmp_path):
    printable = "".join(chr(code) for code in range(33, 127))
    assert environment(TALLY_TOKEN=printable).token("TALLY_TOKEN") == printable
    assert environment().token("TALLY_TOKEN") == ""
    path = tmp_path / "token"
    path.write_bytes(b"tly_i_1\r\n")
    assert environment(TALLY_TOKEN_FILE=str(path)).token("TALLY_TOKEN") == "tly_i_1"
    assert environment(TALLY_URL="amqp://u:é@h").secret("TALLY_URL") == "amqp://u:é@h"


@pytest.mark.parametrize("value", ["yes", "True", "1", "TRUE", " true"])
def test_a_flag_is_true_or_false(value):
    with pytest.raises(UsageError, match=f'TALLY_F: "{value}" must be true or false'):
        environment(TALLY_F=value).flag("TALLY_F", default=False)


@pytest.mark.parametrize(
    "value", ["0", "1001", "-1", "1.5", "٣", "many", "1_0", "9" * 5000, "0" * 5000]
)
def test_an_integer_keeps_its_bounds(value):
    with pytest.raises(UsageError, match="whole number from 1 to 1000"):
        environment(TALLY_N=value).integer("TALLY_N", 5, least=1, most=1000)


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "x", "11"])
def test_seconds_keep_their_bounds(value):
    with pytest.raises(UsageError, match="number from 0 to 10"):
        environment(TALLY_S=value).seconds("TALLY_S", 5, least=0, most=10)


def test_seconds_may_be_fractions():
    assert environment(TALLY_S="0.25").seconds("TALLY_S", 5, least=0, most=10) == 0.25


def test_a_choice_is_compared_exactly():
    with pytest.raises(UsageError, match='"info" must be one of DEBUG, INFO'):
        environment(TALLY_LEVEL="info").choice("TALLY_LEVEL", "INFO", ("DEBUG", "INFO"))


def test_a_list_has_no_empty_member():
    assert environment().words("TALLY_L", "a, b") == ("a", "b")
    with pytest.raises(UsageError, match="empty member"):
        environment(TALLY_L="a,,b").words("TALLY_L", "")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host",
        "https://",
        "https://h?x",
        "https://h#",
        "h:80",
        "https://h/?",
        "https://[",
        "https://]",
        "https://[::1",
        "https://[x]",
        "https://h:x",
        "https://h:99999",
        "https://h:0",
    ],
)
def test_a_base_url_is_absolute_and_bare(url):
    with pytest.raises(UsageError, match="give a base URL"):
        environment(TALLY_URL=url).http_url("TALLY_URL", insecure="TALLY_INSECURE")


def test_plain_http_needs_the_switch():
    with pytest.raises(UsageError, match="set TALLY_INSECURE=true"):
        environment(TALLY_URL="http://h").http_url("TALLY_URL", insecure="TALLY_INSECURE")
    allowed = environment(TALLY_URL="http://h/", TALLY_INSECURE="true")
    assert allowed.http_url("TALLY_URL", insecure="TALLY_INSECURE") == "http://h"
