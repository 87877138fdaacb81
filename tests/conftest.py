"""Shared by all tests: the support package beside this file is importable as `support`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

from support.later_schema import make_later  # noqa: F401 - every test may ask for it
from support.postgres_fixtures import new_url, postgres  # noqa: F401 - every test may ask for them
from support.rated_past import rated_past  # noqa: F401
from support.vectors import Vectors, load

# Speed is measured in benchmarks; a busy machine must not fail an example for it.
settings.register_profile("house", deadline=None)
settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--vectors", metavar="DIR", help="read vector files from DIR instead of tests/vectors")


@pytest.fixture(scope="session")
def vectors(request: pytest.FixtureRequest) -> Vectors:
    """`vectors("learned_prior")` is that vector file, read."""
    return lambda name: load(name, request.config)
