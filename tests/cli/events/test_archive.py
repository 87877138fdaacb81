"""`event sgf`: an event's games as a collection, and as files."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
from support.storage.storage_sample import put
from support.tournaments.held_events import HeldEvent

from cgos_server.tournaments.base import BLACK_WINS
from cgos_server.tournaments.running.settings import EventSettings


@pytest.fixture
def event(data: Path) -> str:
    """Its first game is the only one of the database that has ended."""
    held = HeldEvent(EventSettings(name="Open", venue="9x9", system="round-robin"), first_game=1)
    held.start(("Alpha", "Beta"))
    held.play_round(lambda _: BLACK_WINS)
    put(data / "cgos.sqlite", held.records(1, 1))
    return "Open"


def test_an_event_as_one_collection(run: Any, event: str, tmp_path: Path) -> None:
    target = tmp_path / "open.sgf"
    assert "1 row to" in run("event", "sgf", event, str(target)).stderr
    assert "EV[Open]RO[1]GN[1]" in target.read_text()
    assert target.read_text() == run("sgf", "1").stdout


def test_an_event_as_an_archive_of_files(run: Any, event: str, tmp_path: Path) -> None:
    target = tmp_path / "open.zip"
    run("event", "sgf", event, str(target))
    with zipfile.ZipFile(target) as archive:
        assert archive.namelist() == ["Open/1.sgf"]
        assert archive.read("Open/1.sgf").decode() == run("sgf", "1").stdout


def test_an_event_that_nobody_announced(run: Any, tmp_path: Path) -> None:
    assert "There is no event Winter" in run("event", "sgf", "Winter", str(tmp_path / "winter.sgf"), fails=1).output
    assert not list(tmp_path.glob("*winter*"))
