"""The schedule on an event's page: what was announced, which rounds were, and those of long events in short."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.tournaments.held_events import HeldEvent
from support.web.held import NAMES, write_held
from web.test_pages import client, get

from cgos_server.storage.reading.history import History
from cgos_server.tournaments.base import BLACK_WINS
from cgos_server.tournaments.running.settings import EventSettings


@pytest.mark.parametrize(("rounds", "first"), [(3, ["Round 1", "Round 2"]), (17, ["Rounds 1 to 5", "Round 6"])])
async def test_rounds_of_the_past(tmp_path: Path, rounds: int, first: list[str]) -> None:
    held = HeldEvent(EventSettings(name="Long", venue="9x9", system="dutch", rounds=rounds))
    held.start(NAMES[:18])
    while len(held.state.event.rounds) < rounds:
        held.play_round(lambda _: BLACK_WINS)
    write_held(tmp_path / "cgos.sqlite", [held], games=False)
    async with History(tmp_path / "cgos.sqlite") as history, client(history) as web:
        page = await get(web, "/events/Long")
    happenings = [row[0] for row in page.rows if len(row) == 3 and row[0].split()[0] in ("Start", "Round", "Rounds")]
    assert happenings[:3] == ["Start", *first]
    assert happenings[-1] == f"Round {rounds}"
    last = next(row for row in page.rows if row[0] == f"Round {rounds}")
    assert last[1]
    assert not last[2], "it is not over"
