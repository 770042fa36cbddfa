"""The variables of a collector: defaults, bounds, secrets."""

from pathlib import Path

import pytest

from harness.collector.settings import Settings, Source, Surface
from harness.errors import UsageError
from harness.service.environment import Environment

COMPLETE = {
    "TALLY_OSC_AMQP_URL": "amqp://u:sesame@broker/vhost",
    "TALLY_OSC_CLOUD": "os-prod",
    "TALLY_OSC_REPORTING_URL": "https://tally.example/base/",
    "TALLY_OSC_TOKEN": "tly_i_sesame",
    "TALLY_OSC_BUFFER_PATH": "/var/lib/tally/outbox.db",
}


def read(**changes):
    environment = Environment(COMPLETE | changes)
    return (
        Settings.from_environment(environment),
        Source.from_environment(environment),
        Surface.from_environment(environment),
    )


def test_defaults():
    assert read() == (
        Settings(
            cloud="os-prod",
            reporting_url="https://tally.example/base",
            token="tly_i_sesame",
            buffer_path=Path("/var/lib/tally/outbox.db"),
            batch_max=500,
            flush_interval=5.0,
            buffer_max_events=1_000_000,
            prefetch=100,
            unhealthy_threshold=600.0,
            summary_interval=60.0,
            counters_path=None,
        ),
        Source(
            amqp_url="amqp://u:sesame@broker/vhost",
            exchanges=("nova", "neutron", "openstack", "glance"),
            topics=("notifications.info",),
            require_exchanges=False,
            queue_type="quorum",
            prefetch=100,
        ),
        Surface(log_level="INFO", metrics_enabled=True, address="127.0.0.1", port=8080),
    )


def test_everything_set():
    settings, source, surface = read(
        TALLY_LOG_LEVEL="DEBUG",
        TALLY_METRICS_ENABLED="false",
        TALLY_OSC_HTTP_ADDR="0.0.0.0",
        TALLY_OSC_HTTP_PORT="0",
        TALLY_OSC_EXCHANGES="nova, octavia",
        TALLY_OSC_TOPICS="notifications.info,versioned_notifications.info",
        TALLY_OSC_REQUIRE_EXCHANGES="true",
        TALLY_OSC_QUEUE_TYPE="classic",
        TALLY_OSC_BATCH_MAX="1000",
        TALLY_OSC_FLUSH_INTERVAL_S="0.25",
        TALLY_OSC_BUFFER_MAX_EVENTS="10",
        TALLY_OSC_PREFETCH="7",
        TALLY_OSC_UNHEALTHY_THRESHOLD_S="30",
        TALLY_OSC_SUMMARY_INTERVAL_S="5",
        TALLY_OSC_COUNTERS_PATH="/tmp/counters.json",
    )
    assert (settings.batch_max, settings.flush_interval, settings.prefetch) == (1000, 0.25, 7)
    assert (settings.buffer_max_events, settings.unhealthy_threshold) == (10, 30.0)
    assert settings.counters_path == Path("/tmp/counters.json")
    assert source.exchanges == ("nova", "octavia")
    assert source.topics == ("notifications.info", "versioned_notifications.info")
    assert (source.require_exchanges, source.queue_type, source.prefetch) == (True, "classic", 7)
    assert (surface.log_level, surface.metrics_enabled) == ("DEBUG", False)
    assert (surface.address, surface.port) == ("0.0.0.0", 0)


@pytest.mark.parametrize("name", sorted(COMPLETE))
def test_what_has_to_be_set(name):
    with pytest.raises(UsageError, match=f"{name}: must be set"):
        read(**{name: ""})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TALLY_LOG_LEVEL", "info"),
        ("TALLY_METRICS_ENABLED", "yes"),
        ("TALLY_OSC_HTTP_PORT", "65536"),
        ("TALLY_OSC_EXCHANGES", "nova,,glance"),
        ("TALLY_OSC_TOPICS", ","),
        ("TALLY_OSC_REQUIRE_EXCHANGES", "1"),
        ("TALLY_OSC_QUEUE_TYPE", "Quorum"),
        ("TALLY_OSC_REPORTING_URL", "tally.example"),
        ("TALLY_OSC_REPORTING_URL", "http://tally.example"),
        ("TALLY_OSC_REPORTING_URL", "https://tally.example/?a=b"),
        ("TALLY_OSC_REPORTING_URL", "https://tally.example/#"),
        ("TALLY_OSC_REPORTING_URL", "https://["),
        ("TALLY_OSC_TOKEN", "tly_i_sesame\nX: y"),
        ("TALLY_OSC_TOKEN", "tly_i_sésame"),
        ("TALLY_OSC_BATCH_MAX", "0"),
        ("TALLY_OSC_BATCH_MAX", "9" * 5000),
        ("TALLY_OSC_BATCH_MAX", "1001"),
        ("TALLY_OSC_FLUSH_INTERVAL_S", "0"),
        ("TALLY_OSC_FLUSH_INTERVAL_S", "nan"),
        ("TALLY_OSC_BUFFER_MAX_EVENTS", "-1"),
        ("TALLY_OSC_PREFETCH", "65536"),
        ("TALLY_OSC_UNHEALTHY_THRESHOLD_S", "x"),
        ("TALLY_OSC_SUMMARY_INTERVAL_S", "inf"),
    ],
)
def test_malformed(name, value):
    with pytest.raises(UsageError, match=name) as error:
        read(**{name: value})
    assert "sesame" not in str(error.value)


def test_plain_http_has_to_be_allowed():
    settings, _, _ = read(
        TALLY_OSC_REPORTING_URL="http://127.0.0.1:80", TALLY_OSC_REPORTING_INSECURE="true"
    )
    assert settings.reporting_url == "http://127.0.0.1:80"


@pytest.mark.parametrize("name", ["TALLY_OSC_AMQP_URL", "TALLY_OSC_TOKEN"])
def test_secrets_from_files(name, tmp_path):
    path = tmp_path / "secret"
    path.write_text("from-a-file\n")
    settings, source, _ = read(**{name: "", f"{name}_FILE": str(path)})
    assert "from-a-file" in (settings.token, source.amqp_url)
    with pytest.raises(UsageError, match=f"set {name} or {name}_FILE, not both"):
        read(**{f"{name}_FILE": str(path)})
    path.write_text("\n")
    with pytest.raises(UsageError, match="is empty"):
        read(**{name: "", f"{name}_FILE": str(path)})
    with pytest.raises(UsageError, match=f"reading {name}_FILE"):
        read(**{name: "", f"{name}_FILE": str(tmp_path / "none")})


def test_no_secret_in_a_repr():
    assert "sesame" not in repr(read())
