"""Who has White where the sources leave it open."""

from __future__ import annotations

from collections import Counter

import pytest
from support.tournaments.lots import Scripted

from cgos_server.tournaments.base import BLACK_WINS, VOID, WHITE_WINS, Entrant, Event, Game, Result, Round
from cgos_server.tournaments.chance import COLOR_LOT, Lots
from cgos_server.tournaments.ledger import Ledger, ledger
from cgos_server.tournaments.pairing.colors import colors, game, last_color

NO_LOTS = Scripted({})


def after(*rounds: list[tuple[int, int, Result]]) -> Ledger:
    """The ledger of four entrants after rounds of (white, black, result)."""
    return ledger(
        Event(
            system="swiss",
            entrants=tuple(Entrant(id=id_, name=str(id_)) for id_ in range(1, 5)),
            rounds=tuple(
                Round(
                    number=number,
                    games=tuple(Game(black=black, white=white, result=result) for white, black, result in games),
                )
                for number, games in enumerate(rounds, 1)
            ),
        )
    )


def test_who_had_white_more_often_gets_black() -> None:
    known = after([(1, 2, WHITE_WINS), (3, 4, WHITE_WINS)])
    assert colors(known, 1, 4, NO_LOTS)[:2] == (4, 1)
    assert colors(known, 4, 1, NO_LOTS)[:2] == (4, 1)
    known = after([(1, 2, WHITE_WINS)], [(1, 3, WHITE_WINS), (4, 2, BLACK_WINS)])
    assert colors(known, 1, 4, NO_LOTS)[:2] == (4, 1)  # 2 and 1 with White


def test_between_equals_colors_change_from_the_last_game() -> None:
    # 1: white, black. 2: black, white. Both are balanced.
    known = after([(1, 3, WHITE_WINS), (4, 2, WHITE_WINS)], [(4, 1, WHITE_WINS), (2, 3, WHITE_WINS)])
    assert known.lines[1].balance == known.lines[2].balance == 0
    assert colors(known, 1, 2, NO_LOTS)[:2] == (1, 2)
    assert colors(known, 2, 1, NO_LOTS)[:2] == (1, 2)


def test_who_has_not_played_takes_what_the_other_leaves() -> None:
    known = after([(1, 3, WHITE_WINS)], [(4, 1, WHITE_WINS)])
    assert colors(known, 1, 2, NO_LOTS)[:2] == colors(known, 2, 1, NO_LOTS)[:2] == (1, 2)
    known = after([(3, 1, WHITE_WINS)], [(1, 4, WHITE_WINS)])
    assert colors(known, 1, 2, NO_LOTS)[:2] == colors(known, 2, 1, NO_LOTS)[:2] == (2, 1)


def test_games_that_were_not_played_have_no_colors() -> None:
    known = after([(1, 2, Result(0, 2, "forfeit")), (3, 4, VOID)])
    assert [last_color(known.lines[id_]) for id_ in range(1, 5)] == [None] * 4
    assert colors(known, 1, 2, Scripted({(COLOR_LOT, 1, 2): 0.49}))[:2] == (1, 2)
    assert colors(known, 1, 2, Scripted({(COLOR_LOT, 1, 2): 0.5}))[:2] == (2, 1)


def test_the_lot_is_fair() -> None:
    known = after()
    whites = Counter(colors(known, 1, 2, Lots(seed, 1)).white for seed in range(4000))
    assert abs(whites[1] - 2000) < 5 * 1000**0.5


@pytest.mark.parametrize("reason", ["", "both 2 points"])
def test_a_game_says_why(reason: str) -> None:
    made = game(after(), 1, 2, Scripted({(COLOR_LOT, 1, 2): 0.1}), reason)
    assert (made.white, made.black) == (1, 2)
    assert made.reason == ("both 2 points; colors by lot" if reason else "colors by lot")
