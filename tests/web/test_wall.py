"""The wall's pictures."""

from __future__ import annotations

from cgos_protocol.api.live import LiveGame
from cgos_server.web.pages.wall import small_boards


def game(number: int, *moves: str) -> LiveGame:
    return LiveGame(number, "9x9", 9, "Ann", "Bob", "1800", "1700", 0, len(moves), moves=moves)


def test_a_game_that_cannot_be_shown_costs_nobody_the_others() -> None:
    boards = small_boards([game(1, "D4"), game(2, "D4", "D4"), game(3, "Z99"), game(4)])
    assert [board.game.game for board in boards] == [1, 4]
