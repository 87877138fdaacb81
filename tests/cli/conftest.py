"""A real database with two bots, an anchor, a finished and a running game, and a runner of commands."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cgos_protocol.terms import encode_terms
from cgos_server.cli.main import main
from cgos_server.config.loader import load
from cgos_server.config.venues import enroll_venues
from cgos_server.core.rating.registry import rating_system
from cgos_server.core.venue import terms_of
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage import schema
from cgos_server.storage.opening import open_store
from cgos_server.storage.writing import records as r
from cgos_server.storage.writing.group_commit import CommitListener

T0 = 1_700_000_000_000  # 2023-11-14 22:13:20 UTC
MOVES = ("C3", "D3", "PASS", "C4", "B3", "C2", "A1", "PASS", "PASS")
"""White takes nothing, Black takes nothing; the last move on the board is A1."""


def _raise(error: Exception) -> None:
    raise error


async def _fill(data: Path) -> None:
    config = load(None, {}, {"server.data": data})
    store = await open_store(config.server.location, CommitListener(failed=_raise, on_error=_raise))
    try:
        venue, *_ = await enroll_venues(config, store, T0, "here")
        ratings = VenueRatings(
            venue.id, rating_system(venue.rating, venue.initial, venue.rating_options.get(venue.rating, {}))
        )
        group: list[r.Record] = []
        for number, name in enumerate(("Alpha", "Beta", "Gamma"), 1):
            group.append(r.BotAdded(number, name, name.lower(), "no hash", "active", T0))
            group.append(r.VersionAdded(number, number, name, name.lower(), "", "", "", "", T0))
        group += ratings.enter(1, 1800.0, T0).records
        group += ratings.enter(2, 1800.0, T0).records
        group += ratings.anchor(2, 1900.0, T0).records
        group.append(r.RoundAdded(1, venue.id, 1, T0, "rolling", "birk", "{}", "7", '{"candidates":[]}', "{}", "[]"))
        terms = encode_terms(terms_of(venue))
        group.append(r.GameAdded(1, venue.id, 1, 1, 2, "1800?", "1900", terms, "", T0 + 1000))
        group.append(r.PairingAdded(1, 1, 2, 1, "Alpha was drawn from 1 candidate.", "Alpha is owed Black.", "{}"))
        left = [300_000_000, 300_000_000]
        for ply, move in enumerate(MOVES, 1):
            left[ply % 2] -= 1_500_000
            group.append(r.MoveAdded(1, ply, move, left[ply % 2], 0, 0, 0, 1_750_000, T0 + 1000 + ply))
        group.append(r.AnalysisAdded(1, 1, '{"winrate":0.5,"comment":"corner"}'))
        group.append(r.GameEnded(T0 + 60_000, 0, "score", 8, "", "B+4.0", 2, 2, 1))
        group += ratings.game(1, 1, 2, 2, T0 + 60_000).records
        group.append(r.GameAdded(2, venue.id, 1, 2, 1, "1900", "1810?", terms, "", T0 + 70_000, "Star"))
        group.append(r.PairingAdded(2, 1, 2, 1, "They waited.", "By lot.", "{}"))
        group.append(r.MoveAdded(2, 1, "E5", 300_000_000, 0, 0, 0, 200_000, T0 + 70_500))
        await store.commit(group)
    finally:
        await store.close()


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory to copy from."""
    data = tmp_path_factory.mktemp("filled")
    schema.prepare(data / "cgos.sqlite")
    asyncio.run(_fill(data))
    return data


@pytest.fixture
def data(filled: Path, tmp_path: Path) -> Path:
    """A data directory with games in it."""
    return Path(shutil.copytree(filled, tmp_path / "data"))


Run = Callable[..., Result]


@pytest.fixture
def run(data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs a command on `data`; `fails` is the exit code to expect."""
    monkeypatch.chdir(tmp_path)
    for variable in ("CGOS_CONFIG", "CGOS_SERVER__DATA"):
        monkeypatch.delenv(variable, raising=False)

    def run(*words: str, fails: int = 0, stdin: str = "", where: Path | None = data) -> Result:
        more = [] if where is None else ["--data", str(where)]
        result = CliRunner().invoke(main, [*words, *more], input=stdin)
        assert result.exit_code == fails, result.output
        return result

    return run


@pytest.fixture
def as_json(run: Run) -> Callable[..., Any]:
    """What a command prints with ``--json``."""

    def ask(*words: str, **more: Any) -> Any:
        return json.loads(run(*words, "--json", **more).stdout)

    return ask
