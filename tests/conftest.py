"""Shared by all tests. The configuration of pytest makes `support`, beside this file, importable."""

from __future__ import annotations

from importlib.metadata import distributions

import pytest
from hypothesis import settings
from support.core.vectors import Vectors, load

# The tests of cgos-protocol and cgos-client run without the server too.
if any(distribution.name == "cgos-server" for distribution in distributions()):
    pytest_plugins = ["support.observability.logging_state", "support.storage.fixtures"]

# Speed is measured in benchmarks; a busy machine must not fail an example for it.
settings.register_profile("house", deadline=None)
settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--vectors", metavar="DIR", help="read vector files from DIR instead of tests/vectors")


@pytest.fixture(scope="session")
def vectors(request: pytest.FixtureRequest) -> Vectors:
    """`vectors("learned_prior")` is that vector file, read."""
    return lambda name: load(name, request.config)
