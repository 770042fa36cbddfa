"""One JSON object a line."""

import io
import json
import logging

import pytest

from harness.service import log


@pytest.fixture
def root():
    """The root logger, put back as it was."""
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    yield logger
    logger.handlers[:], logger.level = handlers, level


def test_a_line_is_one_object_with_its_fields(root):
    stream = io.StringIO()
    log.configure("run", "INFO", stream)
    logging.getLogger("x").info("listening", extra={"fields": {"port": 8080, "text": 'a"\n'}})
    logging.getLogger("x").debug("not shown")
    (line,) = stream.getvalue().splitlines()
    document = json.loads(line)
    assert document.pop("time").endswith("Z")
    assert document == {
        "level": "INFO",
        "msg": "listening",
        "service": "run",
        "port": 8080,
        "text": 'a"\n',
    }


def test_warn_is_the_name_of_a_warning(root):
    stream = io.StringIO()
    log.configure("run", "WARN", stream)
    logging.getLogger("x").info("not shown")
    logging.getLogger("x").warning("shown")
    assert json.loads(stream.getvalue())["level"] == "WARN"


def test_an_exception_stays_on_its_line(root):
    stream = io.StringIO()
    log.configure("run", "INFO", stream)
    try:
        raise ValueError("bad")
    except ValueError:
        logging.getLogger("x").exception("failed")
    (line,) = stream.getvalue().splitlines()
    assert "ValueError: bad" in json.loads(line)["error"]
