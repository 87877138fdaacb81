"""Events on a real server among real bots: killed in the middle, and with rulings, late entries, withdrawals and rounds
that are taken back, they come to the same as what their tables say."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.tournaments.event_all import BUBBLE, BY_ROUNDS, KNOCKOUT, Plan, run
from benchmarks.tournaments.event_fold import disagreements, folded
from benchmarks.tournaments.event_site import Wanted

pytestmark = pytest.mark.e2e

PLANS = (
    Plan("cup", "cup", bots=8, ended=1, acts=KNOCKOUT),
    Plan("swiss", "swiss", bots=6, rounds=5, ended=2, acts=BY_ROUNDS),
    Plan("bubble", "bubble", bots=6, options={"active_size": 3, "min_matches": 2}, ended=4, acts=BUBBLE),
)
SPOILT = {
    "a game has another winner": (
        "UPDATE games SET winner = 1 - winner WHERE id = (SELECT min(game_id) FROM event_games"
        " JOIN games ON games.id = game_id WHERE winner IS NOT NULL AND reason = 'score')"
    ),
    "a game is of another round": "UPDATE event_games SET round = round + 1 WHERE number = 1",
    "a game is of no event": "DELETE FROM event_games WHERE number = 1",
    "the audit knows a ruling too few": "DELETE FROM audit WHERE action = 'event rule'",
    "somebody entered whom the audit does not know": "UPDATE audit SET subject = 'Nobody' WHERE action = 'event enter'",
}
"""What the fold must find out."""


def test_events_that_are_killed_in_their_middle_are_what_their_tables_say(tmp_path: Path) -> None:
    outcomes, faults = run(PLANS, Wanted(directory=tmp_path, size=5, slots=3, seconds=200, playouts=30), lambda _: None)
    assert [outcome.faults for outcome in outcomes] == [(), (), ()]
    assert not faults
    assert all(outcome.cuts for outcome in outcomes)
    database = tmp_path / "data" / "cgos.sqlite"
    kinds = Counter(kind for plan in PLANS for kind in folded(database, plan.name).kinds)
    assert {"ruled", "taken-back", "withdrawn"} <= kinds.keys()
    assert not disagreements(folded(database, "swiss"))
    for what, spoil in SPOILT.items():
        spoilt = tmp_path / "spoilt.sqlite"
        spoilt.unlink(missing_ok=True)
        with closing(sqlite3.connect(database)) as whole, closing(sqlite3.connect(spoilt)) as copy:
            whole.backup(copy)
            copy.execute(spoil)
            copy.commit()
        assert any(disagreements(folded(spoilt, plan.name)) for plan in PLANS), what
