from __future__ import annotations

import re
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.stack import MonthStack, Options, StackError, open_stack
from harness.stack.month import OpenMonth


def test_it_needs_a_broker() -> None:
    with pytest.raises(UsageError, match="needs the broker's address: --amqp-url"):
        open_stack("external")


def test_a_remote_broker_is_refused_without_leave_and_no_password_is_shown() -> None:
    url = "amqp://u:s3cr3t@broker.example:5671/cloud"
    expected = re.escape(
        "amqp://broker.example:5671/cloud is not on this machine: what is published"
    )
    with pytest.raises(UsageError, match=expected) as caught:
        open_stack("external", Options(amqp_url=url))
    assert "s3cr3t" not in str(caught.value)
    stack = open_stack("external", Options(amqp_url=url, allow_remote_broker=True))
    assert "s3cr3t" not in stack.describe() + repr(stack)


def test_it_takes_one_month() -> None:
    stack = open_stack("external", Options(amqp_url="amqp://localhost"))
    with stack.month("seed-1", cloud="os-sim"):
        pass
    expected = "takes one month per run, and seed-1 was it"
    with pytest.raises(UsageError, match=expected), stack.month("seed-2", cloud="os-sim"):
        pass


def test_what_cannot_be_read_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TALLY_API_TOKEN", raising=False)
    stack = open_stack("external", Options(amqp_url="amqp://localhost", reporting_url="http://x"))
    with stack.month("seed-1", cloud="os-sim") as month:
        assert month.reporting is None
        month.collector.start()
        assert month.collector.counters() is None
        assert month.bill("2026-07", out=tmp_path / "out") is None
        with pytest.raises(StackError, match="not ours to kill"):
            month.collector.kill()


@pytest.mark.parametrize("token", ["tly_a_1234\nx", "tly_a_1234\u20ac", "tly_a 1234"])
def test_tokens_no_header_carries_are_refused_unseen(
    token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"
    path.write_text(token, encoding="utf-8")
    for options in (Options(api_token_file=path), Options(internal_token_file=path)):
        with pytest.raises(UsageError, match=r"the file of TALLY_\w+_TOKEN: a token") as refusal:
            open_stack("external", replace(options, amqp_url="amqp://localhost"))
        assert "1234" not in str(refusal.value)
    for name in ("TALLY_API_TOKEN", "TALLY_INTERNAL_TOKEN"):
        with monkeypatch.context() as patch:
            patch.setenv(name, token)
            with pytest.raises(UsageError, match=f"{name}: a token") as refusal:
                open_stack("external", Options(amqp_url="amqp://localhost"))
            assert "1234" not in str(refusal.value)


def test_tokens_come_from_files_or_the_environment_and_are_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tmp_path / "token"
    token.write_text("tly_a_1234\n")
    monkeypatch.setenv("TALLY_INTERNAL_TOKEN", "inner")
    options = Options(
        amqp_url="amqp://localhost",
        reporting_url="http://127.0.0.1:1/",
        api_token_file=token,
        export=tmp_path,
    )
    with open_stack("external", options).month("seed-1", cloud="os-sim") as month:
        assert isinstance(month, OpenMonth)
        access = month.reporting
        assert access is not None
        assert (access.url, access.api_token, access.internal_token) == (
            "http://127.0.0.1:1",
            "tly_a_1234",
            "inner",
        )
        assert "tly_a_1234" not in repr(month)
        assert month.bill("2026-07", out=tmp_path / "out") == tmp_path


def test_a_collector_that_cannot_be_read_is_an_error() -> None:
    options = Options(
        amqp_url="amqp://localhost", collector_metrics_url="http://127.0.0.1:1/metrics"
    )
    stack = open_stack("external", options)
    with (
        stack.month("seed-1", cloud="os-sim") as month,
        pytest.raises(StackError, match="reading the collector's counters"),
    ):
        month.collector.start()


def test_an_engine_needs_both_databases() -> None:
    options = Options(amqp_url="amqp://localhost", engine_db_url="sqlite:///x")
    with pytest.raises(UsageError, match="--reporting-db-url"):
        open_stack("external", options)


def test_exchanges_that_no_queue_is_bound_to_are_no_place_to_publish(amqp_url: str) -> None:
    def month() -> AbstractContextManager[MonthStack]:
        return open_stack("external", Options(amqp_url=amqp_url)).month("seed-1", cloud="os-sim")

    expected = "the exchanges nova, .* declared just now, so nothing was published"
    with month() as opened, pytest.raises(StackError, match=expected):
        opened.publisher()
    with month() as opened:
        opened.publisher().close()


@pytest.mark.parametrize(
    "url", ["http://u:s3cr3t@x", "http://x?t=s3cr3t", "http://x#s3cr3t", "http://[s3cr3t", "s3cr3t"]
)
def test_an_address_that_may_hold_a_secret_is_refused_unseen(url: str) -> None:
    with pytest.raises(UsageError, match="--reporting-url: not a usable address") as caught:
        open_stack("external", Options(amqp_url="amqp://localhost", reporting_url=url))
    assert "s3cr3t" not in str(caught.value)
