import pytest

from harness.broker.address import is_local, parameters, redact
from harness.errors import UsageError


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("amqp://localhost", True),
        ("amqp://u:p@127.0.0.1:5672/x", True),
        ("amqp://127.9.9.9", True),
        ("amqps://[::1]:5671/x", True),
        ("amqp://rabbit.example.org", False),
        ("amqp://localhost.example.org", False),
        ("amqp://10.0.0.1", False),
        ("amqp://0.0.0.0", False),
        ("amqp://[2001:db8::1]", False),
    ],
)
def test_local_is_this_machine_only(url, local):
    assert is_local(url) is local


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("amqp://user:s3cret@host:5673/vhost", "amqp://host:5673/vhost"),
        ("amqp://user:s3cret@host", "amqp://host:5672"),
        ("amqps://user:s3cret@[::1]/a%2Fb", "amqps://[::1]:5671/a/b"),
        ("amqp://host/x?heartbeat=7", "amqp://host:5672/x"),
        ("s3cret", "(unusable AMQP URL)"),
    ],
)
def test_a_shown_address_holds_no_secret(url, shown):
    assert redact(url) == shown


@pytest.mark.parametrize(
    "url",
    [
        "",
        "s3cret",
        "http://s3cret@host",
        "amqp://",
        "amqp://u:s3cret@",
        "amqp://u:s3cret@host:port",
        "amqp://u:s3cret@host:70000",
        "amqp://u:s3cret@host:0",
        "amqp://u:s3cret@[::1",
        "amqp://u:s3cret@host/v?heartbeat=s3cret",
        "amqp://u:s3cret@host/" + "v" * 300,
    ],
)
def test_what_is_no_address_is_refused_without_being_shown(url):
    with pytest.raises(UsageError) as caught:
        parameters(url)
    assert "s3cret" not in str(caught.value)
    assert "amqp://user:password@host:port/vhost" in str(caught.value)
