"""What a test does to the process' logging ends with that test: commands that serve configure it for good."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import structlog

from cgos_server.observability.logs import QUIET_LOGGERS


@pytest.fixture(autouse=True)
def logging_restored() -> Iterator[None]:
    """Leave logging as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in QUIET_LOGGERS}
    yield
    if structlog.is_configured():
        structlog.reset_defaults()
        root.handlers[:] = handlers
        root.setLevel(level)
        for name, old in levels.items():
            logging.getLogger(name).setLevel(old)
