"""Databases for the pages: one with a past, one of a server that is new."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import jinja2
import pytest
from jinja2.bccache import Bucket
from support.web.databases import database, history  # noqa: F401 - every test of pages may ask for them

from cgos_server.storage import schema
from cgos_server.storage.reading.history import History


class Compiled(jinja2.BytecodeCache):
    """Templates that were compiled once."""

    def __init__(self) -> None:
        self.known: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self.known:
            bucket.bytecode_from_string(self.known[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self.known[bucket.key] = bucket.bytecode_to_string()


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> Iterator[None]:
    """Nearly every test makes an application of its own: they share what compiling the templates gives."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jinja2, "Environment", partial(jinja2.Environment, bytecode_cache=Compiled()))
        yield


@pytest.fixture
async def rated(rated_past: Path) -> AsyncIterator[History]:
    """Of the venue whose games were rated."""
    async with History(rated_past / "cgos.sqlite") as opened:
        yield opened


@pytest.fixture
async def empty_history(tmp_path: Path) -> AsyncIterator[History]:
    """Of a server that has never had a bot, nor even its venues."""
    path = tmp_path / "cgos.sqlite"
    schema.prepare(path)
    async with History(path) as opened:
        yield opened
