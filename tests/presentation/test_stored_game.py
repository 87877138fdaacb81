"""Stored games: positions, clocks, files."""

from __future__ import annotations

import msgspec
import pytest
from sgfmill import sgf as other_sgf
from sgfmill import sgf_moves

from cgos_protocol.api.games import Game
from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.errors import OurFault
from cgos_protocol.games.base import Color, Ruleset, Start
from cgos_protocol.sgf import writing as sgf
from cgos_protocol.terms import Terms
from cgos_server.presentation.stored_game import StoredGame
from cgos_server.storage.reading.answers import GameDetail, MoveRow
from cgos_server.storage.reading.history import History

MINUTE = 60_000_000


def stored(moves: list[str], start: Start | None = None, **terms: object) -> StoredGame:
    """A game on 5x5 in which each player has a second less on the clock after each of its moves."""
    played_by = Terms(
        rules=Ruleset(size=5, komi2=14),
        time=TimeControl(system=TimeSystem.ABSOLUTE, main=MINUTE),
        move_limit=75,
        first_move_limit=MINUTE,
    )
    row = Game(
        id=7,
        venue="5x5",
        black="Bea",
        white="Wim",
        black_label="1800?",
        white_label="1700",
        started_at=0,
        ended_at=None,
        result=None,
        reason=None,
        moves=len(moves),
        corrected=None,
        opening="",
    )
    rows = [
        MoveRow(
            ply=ply,
            move=text,
            main_us=MINUTE - 1_000_000 * ((ply + 1) // 2),
            period_us=0,
            quota=0,
            bank_us=0,
            used_us=1_250_000,
            at=0,
            analysis=None,
        )
        for ply, text in enumerate(moves, 1)
    ]
    shown = msgspec.to_builtins(played_by) | terms
    return StoredGame(
        GameDetail(
            game=row,
            terms=shown,
            start=msgspec.to_builtins(start),
            winner=None,
            margin2=None,
            detail="",
            pairing=None,
            moves=rows,
            ratings=[],
        )
    )


def test_captured_stones_are_gone() -> None:
    position = stored(["B1", "A1", "A2"]).position(3)
    assert position.stones == {"B1": Color.BLACK, "A2": Color.BLACK}
    assert position.last == "A2"
    assert position.captures == (1, 0)


def test_a_pass_has_no_mark() -> None:
    game = stored(["C3", "PASS"])
    assert game.position(2) == ({"C3": Color.BLACK}, None, (0, 0))
    assert game.position(1).last == "C3"


def test_before_the_first_move_only_set_up_stones_lie_there() -> None:
    game = stored(["C3"], Start(black=("B2", "D4"), to_play=Color.WHITE))
    assert game.position(0) == ({"B2": Color.BLACK, "D4": Color.BLACK}, None, (0, 0))
    assert game.position(1).stones["C3"] is Color.WHITE
    assert [game.color(ply) for ply in (1, 2, 3)] == [Color.WHITE, Color.BLACK, Color.WHITE]


@pytest.mark.parametrize("moves", [["C3", "C3"], ["Z9"], ["hello there"]])
def test_a_move_that_cannot_be_played_is_our_fault(moves: list[str]) -> None:
    with pytest.raises(OurFault, match=f"Move {len(moves)} "):
        stored(moves).position(len(moves))


@pytest.mark.parametrize("rules", [None, [], {"size": "nine"}])
def test_terms_that_mean_nothing_are_our_fault(rules: object) -> None:
    with pytest.raises(OurFault, match="game 7"):
        stored([], rules=rules)


def test_clocks_are_those_of_the_ply() -> None:
    game = stored(["C3", "D4", "E5"])
    clocks = [[game.clock_after(color, ply).main // 1_000_000 for color in Color] for ply in range(4)]
    assert clocks == [[60, 60], [59, 60], [59, 59], [58, 59]]


async def test_the_file_replays_to_the_same_position_elsewhere(history: History) -> None:
    for number in range(1, 21):
        game = StoredGame(await history.games.detail(number))
        other = other_sgf.Sgf_game.from_bytes(sgf.write(game.record("here")).encode())
        board, plays = sgf_moves.get_setup_and_moves(other)
        for color, point in plays:
            if point is not None:
                board.play(*point, color)
        theirs = {
            f"{'ABCDEFGHJ'[column]}{row + 1}": Color.BLACK if color == "b" else Color.WHITE
            for color, (row, column) in board.list_occupied_points()
        }
        assert len(plays) == len(game.detail.moves)
        assert game.position(len(game.detail.moves)).stones == theirs
        assert other.get_player_name("b") == game.detail.game.black
        assert other.root.get("PC") == "here"
