from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.stack import Options


def test_they_survive_the_way_to_another_process() -> None:
    options = Options(
        keep=True, api_token_file=Path("/a b/ü"), amqp_url="amqp://u:secret@h/v", start_timeout=5.5
    )
    assert Options.from_mapping(json.loads(json.dumps(options.to_mapping()))) == options
    assert Options.from_mapping(Options().to_mapping()) == Options()


def test_unset_values_stand_for_the_defaults() -> None:
    assert Options.from_mapping({"keep": None, "rabbitmq_image": "", "export": None}) == Options()


def test_images_are_pinned() -> None:
    for image in (Options().rabbitmq_image, Options().reporting_image):
        assert image.partition(":")[2] not in {"", "latest"}


def test_repr_shows_no_password() -> None:
    secret = "s3cr3t"
    options = Options(
        amqp_url=f"amqp://u:{secret}@h/",
        reporting_db_url=f"postgresql://u:{secret}@h/d",
        engine_db_url=f"postgresql://u:{secret}@h/e",
    )
    assert secret not in repr(options)


def test_a_name_that_is_no_option_is_refused() -> None:
    with pytest.raises(
        UsageError, match=r"rabbit_image: no such option; there are rabbitmq_image,"
    ):
        Options.from_mapping({"rabbit_image": "x"})
