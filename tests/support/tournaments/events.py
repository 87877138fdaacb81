"""Events for tests: entrants with ratings, and rounds played out by a rule."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from cgos_server.tournaments.base import BLACK_WINS, DRAWN, WHITE_WINS, Entrant, Event, Game, Result, Round
from cgos_server.tournaments.event import Played, apply, begin, open_games
from cgos_server.tournaments.tournament import from_json, is_over, next_round, to_json

Rule = Callable[[Game], Result]


NO_SHOW = Result(0, 0, "forfeit")
"""Neither came."""


def entrants(ratings: Sequence[float | None]) -> tuple[Entrant, ...]:
    return tuple(Entrant(id=at, name=f"bot-{at}", rating=rating) for at, rating in enumerate(ratings, 1))


def without_ids(rounds: Iterable[Round]) -> tuple[Round, ...]:
    """Rounds whose games have no ids, as a system pairs them and as other files than ours hold them."""
    return tuple(replace(round_, games=tuple(replace(game, id=0) for game in round_.games)) for round_ in rounds)


def won_by(game: Game, winner: int) -> Result:
    return WHITE_WINS if game.white == winner else BLACK_WINS


def better_wins(game: Game) -> Result:
    """The smaller id wins."""
    return won_by(game, min(game.pair))


def by_lot(seed: int, draws: float = 0.1) -> Rule:
    """Any result."""
    rng = random.Random(seed)

    def rule(_game: Game) -> Result:
        drawn = rng.random() < draws
        return DRAWN if drawn else WHITE_WINS if rng.random() < 0.5 else BLACK_WINS

    return rule


def play_round(event: Event, rule: Rule) -> Event:
    """The event with its next round paired and played; it goes through JSON on the way."""
    event = begin(event, next_round(event))
    event = from_json(to_json(event))
    return finish(event, rule)


def finish(event: Event, rule: Rule) -> Event:
    """The event in which all its open games are played."""
    played = [
        Played(black=game.black, white=game.white, result=rule(game), round=number)
        for number, game in open_games(event)
    ]
    return apply(event, played)


def play(event: Event, rule: Rule, rounds: int | None = None) -> Event:
    """The event played on: so many rounds, or to its end."""
    while not is_over(event) and (rounds is None or rounds > 0):
        event = play_round(event, rule)
        rounds = None if rounds is None else rounds - 1
    return event
