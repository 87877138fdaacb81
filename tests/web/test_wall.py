"""The wall's pictures."""

from __future__ import annotations

from cgos_protocol.api.live import LiveGame
from cgos_server.web.pages.wall import small_boards


def game(number: int, *moves: str) -> LiveGame:
    return LiveGame(
        game=number,
        venue="9x9",
        size=9,
        black="Ann",
        white="Bob",
        black_label="1800",
        white_label="1700",
        started_at=0,
        ply=len(moves),
        moves=moves,
    )


def test_a_game_that_cannot_be_shown_costs_nobody_the_others() -> None:
    boards = small_boards([game(1, "D4"), game(2, "D4", "D4"), game(3, "Z99"), game(4)])
    assert [board.game.game for board in boards] == [1, 4]
