"""Shared by all tests. The configuration of pytest makes `support`, beside this file, importable."""

from __future__ import annotations

from importlib.metadata import distributions

import pytest
from hypothesis import settings
from support.core.vectors import Vectors, load

# The tests of cgos-protocol and cgos-client run without the server too.
if any(distribution.name == "cgos-server" for distribution in distributions()):
    pytest_plugins = ["support.storage.fixtures"]

# Speed is measured in benchmarks; a busy machine must not fail an example for it.
settings.register_profile("house", deadline=None)
settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--vectors", metavar="DIR", help="read vector files from DIR instead of tests/vectors")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """How tests of whole servers are shared out: a file is one group, and so are all that look at pages in a browser,
    whose server plays on until the end."""
    for item in items:
        browser = item.path.parent.name == "browser"
        if browser or item.get_closest_marker("e2e") or item.get_closest_marker("wheel"):
            item.add_marker(pytest.mark.xdist_group("browser" if browser else item.path.stem))


@pytest.fixture(scope="session")
def vectors(request: pytest.FixtureRequest) -> Vectors:
    """`vectors("learned_prior")` is that vector file, read."""
    return lambda name: load(name, request.config)
