"""What depends on a result: a corrected one takes back the games that would not have been paired after it.

What depends on a result is for the system to say (see `System.stale`). In a knock-out these are the matches that had
other opponents, and replays that are no longer due. Systems by rounds and the bubble leave later rounds as they were
paired, as FIDE does: there only the replay of a game that is no longer void goes. Must not know: any single system.
"""

from __future__ import annotations

from typing import NamedTuple

from cgos_protocol.errors import Code, Invalid
from cgos_server.tournaments.base import Event, Result
from cgos_server.tournaments.event import Placed, correct, game_by_id, name_of
from cgos_server.tournaments.tournament import system_of
from cgos_server.tournaments.undoing import without


class Amended(NamedTuple):
    """:ivar taken_back: the games that went, as they were"""

    event: Event
    taken_back: tuple[Placed, ...]


def amend(event: Event, id_: int, result: Result | None, with_results: bool = False) -> Amended:
    """The event with another result of a game, without the games and byes that depended on the old one; what has to be
    paired instead is paired next.

    :param with_results: also where such games have results; these are lost
    :raises Refused: where there is no such game, or games with results depend on the old one
    """
    system = system_of(event)
    since = game_by_id(event, id_).round + 1 if system.rounds_follow else None
    before = system.stale(event)  # of records that others made
    corrected = amended = correct(event, id_, result, since)
    gone: frozenset[int] = frozenset()
    byes: frozenset[tuple[int, int]] = frozenset()
    while True:
        stale = system.stale(amended)
        if stale.games <= gone | before.games and stale.byes <= byes | before.byes:
            break
        gone |= stale.games - before.games
        byes |= stale.byes - before.byes
        amended = without(corrected, gone, byes)
    taken_back = tuple(game_by_id(event, each) for each in sorted(gone))
    ended = [placed for placed in taken_back if placed.game.result is not None]
    if ended and not with_results:
        raise Invalid(
            Code.RESULT_DEPENDS,
            f"{'; '.join(described(event, one) for one in ended)}: paired by the present result of game {id_}, and "
            "played. Say that this is to be taken back too (--with-results, of files --take-back), or leave the "
            "result.",
        )
    return Amended(amended, taken_back)


def described(event: Event, placed: Placed) -> str:
    """A game for people."""
    black, white = (name_of(event, side) for side in (placed.game.black, placed.game.white))
    return f"game {placed.game.id} ({black} - {white}, round {placed.round})"
