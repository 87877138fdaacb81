"""Void games of systems that pair whole rounds: played again with the same colors, as further games of their round.

Must not know: any system; knock-outs have their own rules.
"""

from __future__ import annotations

from collections.abc import Collection

from cgos_server.tournaments.base import Event, Explanation, Game, Round, Stale
from cgos_server.tournaments.kept import kept
from cgos_server.tournaments.words import counted


@kept
def due_again(event: Event) -> Round | None:
    """The games of the first round that has void ones to be played again; None: there are none.

    A void game of the last round is, and one of an earlier round if it became void after the next one was paired:
    else those who paired on have let it stand. So has who has withdrawn, and who must not meet the other any more.
    """
    if not any(each.has_void for each in event.rounds):
        return None
    since = {id_: change.round for change in event.changes if change.kind == "correct" for id_ in change.games}
    for each in event.rounds:
        again = tuple(
            Game(black=game.black, white=game.white, handicap=game.handicap, reason="the game before was void")
            for *_, game in _tries(each)
            if game.how == "void"
            and (each.number == len(event.rounds) or since.get(game.id, 0) > each.number + 1)
            and not set(game.pair) & set(event.withdrawn)
            and game.pair not in event.forbidden
        )
        if again:
            return Round(
                number=each.number,
                games=again,
                byes=(),
                explanation=Explanation(f"To be played again: {counted(len(again), 'void game')}."),
            )
    return None


def needless(event: Event) -> Stale:
    """Replays of games that are not void."""
    tries = (games for each in event.rounds for games in _tries(each))
    again = (
        games[at].id for games in tries for at in range(1, len(games)) if {game.how for game in games[:at]} != {"void"}
    )
    return Stale(frozenset(again))


def _tries(each: Round) -> Collection[list[Game]]:
    """The games of a round that are one game played again and again: of the same two with the same colors."""
    games: dict[tuple[int, int], list[Game]] = {}
    for game in each.games:
        games.setdefault((game.white, game.black), []).append(game)
    return games.values()
