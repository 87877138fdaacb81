"""What games and rounds say of themselves is so."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.tournaments import by_lot, entrants, finish

from cgos_server.core.tournaments.base import Event, Request
from cgos_server.core.tournaments.colours import BY_LOT, LOWER_BALANCE, last_colour
from cgos_server.core.tournaments.event import begin, request_bye
from cgos_server.core.tournaments.ledger import ledger
from cgos_server.core.tournaments.tournament import next_round

CHANGED = "colours change from the last game"


@pytest.mark.parametrize("word", ["swiss", "mcmahon", "godraw", "epm", "weighted", "accelrat", "dutch", "random2"])
@settings(max_examples=8)
@given(size=st.integers(2, 9), seed=st.integers(0, 10_000), rounds=st.integers(1, 7))
def test_colours_rematches_and_byes(word: str, size: int, seed: int, rounds: int) -> None:
    event = Event(word, entrants([2000.0 - 30 * k for k in range(size)]), seed=seed)
    event = replace(request_bye(event, Request(1 + seed % size, 2)), bye_points=seed % 3)
    for number in range(rounds):
        known, paired = ledger(event), next_round(event)
        for game in paired.games:
            white, black = known.lines[game.white], known.lines[game.black]
            if LOWER_BALANCE in game.reason:
                assert white.balance < black.balance
            else:
                assert white.balance == black.balance
                last = (last_colour(white), last_colour(black))
                if CHANGED in game.reason:
                    assert last in [(False, True), (False, None), (None, True)]
                else:
                    assert BY_LOT in game.reason
                    assert last[0] == last[1] or word in ("godraw", "dutch", "random2")
            assert ("; they have met before" in game.reason) == (game.pair in known.met)
        again = sum(game.pair in known.met for game in paired.games)
        summary = paired.explanation.summary
        told = re.search(r"(\d+) rematch", summary)
        assert again == (summary.count(" - ") if word in ("dutch", "random2") else int(told[1]) if told else 0)
        assert re.match(rf"Round {number + 1}: {len(paired.games)} games?\b", summary)
        for bye in paired.byes:
            assert bye.requested or f"bot-{bye.entrant} sits out: " in summary
        event = finish(begin(event, paired), by_lot(seed + number, 0.3))
