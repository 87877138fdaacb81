"""Shared by all tests. The configuration of pytest makes `support`, beside this file, importable."""

from __future__ import annotations

import pytest
from hypothesis import settings
from support.core.vectors import Vectors, load
from support.storage.later_schema import make_later  # noqa: F401 - every test may ask for it
from support.storage.postgres_fixtures import new_url, postgres  # noqa: F401 - every test may ask for them
from support.storage.rated_past import rated_past  # noqa: F401

# Speed is measured in benchmarks; a busy machine must not fail an example for it.
settings.register_profile("house", deadline=None)
settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--vectors", metavar="DIR", help="read vector files from DIR instead of tests/vectors")


@pytest.fixture(scope="session")
def vectors(request: pytest.FixtureRequest) -> Vectors:
    """`vectors("learned_prior")` is that vector file, read."""
    return lambda name: load(name, request.config)
