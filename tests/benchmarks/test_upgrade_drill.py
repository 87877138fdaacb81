"""What the drill of upgrades makes of what bots were told and of what the database has."""

from __future__ import annotations

from benchmarks.operations.returning_bots import Told, Witnessed
from benchmarks.operations.upgrade_drill import Stored, Upgrade, charged, failed, missing, pauses

SCRIPT = ["E5", "D4", "C3", "PASS"]


def upgrade() -> Upgrade:
    """From second 100 to 110; nobody was served in the last four."""
    return Upgrade(began=100.0, ended=110.0, stated_s=4.0, load=0.5)


def test_a_pause_goes_from_the_last_move_before_to_the_first_one_after() -> None:
    moves = [Told(at=at, game=game, ply=ply) for game, ply, at in [(1, 1, 99), (1, 2, 105), (1, 3, 112), (1, 4, 113)]]
    moves += [Told(at=at, game=2, ply=ply) for ply, at in ((1, 98), (2, 120))]
    moves += [Told(at=98, game=3, ply=1), Told(at=111, game=4, ply=1)]  # one ended before, one began after
    measured = upgrade()
    pauses(measured, sorted(moves, key=lambda told: told.at), others={2})
    assert (measured.games, measured.ours_s, measured.others_s) == (2, 7.0, 22.0)


def test_what_was_told_and_is_not_stored_is_missing() -> None:
    stored = Stored(moves={(1, 1): ("E5", 1.0, 0.0), (1, 2): ("A1", 1.0, 0.0)}, lost=[])
    told = Witnessed(moves=[Told(at=0, game=1, ply=1), Told(at=0, game=1, ply=2)], shown={1: 3, 2: 0})
    assert missing(told, stored, SCRIPT) == [(1, 2), (1, 3)]
    assert missing(Witnessed(moves=[Told(at=0, game=1, ply=1)]), stored, SCRIPT) == []


def test_the_most_that_a_move_across_the_upgrade_was_charged() -> None:
    moves = {(1, 1): ("E5", 1.0, 1_095.0), (1, 2): ("D4", 1.5, 1_112.0), (1, 3): ("C3", 9.0, 1_114.0)}
    moves[2, 1] = ("E5", 8.0, 1_112.0)  # began after it
    measured = upgrade()
    charged(measured, Stored(moves=moves, lost=[]), offset_s=1_000.0)
    assert measured.charged_s == 1.5


def test_anything_refused_or_lost_fails_the_drill() -> None:
    sound: dict[str, list[str]] = {"connects_refused": [], "moves_lost": [], "games_lost": []}
    assert not failed(sound)
    for name in sound:
        assert failed(sound | {name: ["one"]})
