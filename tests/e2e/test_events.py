"""Events on a real server among real bots: killed in the middle, they come to the same as what their tables say."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.tournaments.event_all import Plan, Wanted, run
from benchmarks.tournaments.event_fold import disagreements, folded

pytestmark = pytest.mark.e2e

PLANS = (
    Plan("swiss", "swiss", bots=5, rounds=3, ended=2),
    Plan("cup", "cup", bots=5, ended=1),
    Plan("bubble", "bubble", bots=6, options={"active_size": 3, "min_matches": 2}, ended=4),
)
SPOILT = {
    "a game has another winner": (
        "UPDATE games SET winner = 1 - winner WHERE id = (SELECT min(game_id) FROM event_games)"
    ),
    "a game is of another round": "UPDATE event_games SET round = round + 1 WHERE number = 1",
    "a game is of no event": "DELETE FROM event_games WHERE number = 1",
    "somebody entered whom the audit does not know": "UPDATE audit SET subject = 'Nobody' WHERE action = 'event enter'",
}
"""What the fold must find out."""


def test_events_that_are_killed_in_their_middle_are_what_their_tables_say(tmp_path: Path) -> None:
    outcomes = run(PLANS, Wanted(directory=tmp_path, size=5, slots=3, seconds=240, playouts=10), lambda _: None)
    assert [outcome.faults for outcome in outcomes] == [(), (), ()]
    assert all(outcome.cuts for outcome in outcomes)
    database = tmp_path / "data" / "cgos.sqlite"
    assert not disagreements(folded(database, "swiss"))
    for what, spoil in SPOILT.items():
        spoilt = tmp_path / "spoilt.sqlite"
        spoilt.unlink(missing_ok=True)
        with closing(sqlite3.connect(database)) as whole, closing(sqlite3.connect(spoilt)) as copy:
            whole.backup(copy)
            copy.execute(spoil)
            copy.commit()
        assert any(disagreements(folded(spoilt, plan.name)) for plan in PLANS), what
