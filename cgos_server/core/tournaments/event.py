"""How an event's record changes: rounds begin, results arrive, entrants come, leave and return.

Every function takes an event and returns the next one. What cannot be is refused, with a sentence, and nothing is
changed. Must not know: any system.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from cgos_server.core.tournaments.base import Bye, Entrant, Event, Game, Request, Result, Round
from cgos_server.core.tournaments.checking import (
    forbidden_pair,
    require_entrant,
    require_known,
    require_request,
    require_result,
    require_round,
)
from cgos_server.core.tournaments.words import counted
from cgos_server.errors import Refused


class Played(Struct, frozen=True, forbid_unknown_fields=True):
    """A result that arrives.

    :ivar round: number; None: the only round that has such a game without a result
    """

    white: int
    black: int
    result: Result
    round: int | None = None


class Field(Struct, frozen=True):
    """Who is there for a round.

    :ivar number: of the round
    :ivar players: in the order of registration
    :ivar byes: of those who asked for one
    """

    number: int
    players: tuple[Entrant, ...]
    byes: tuple[Bye, ...]


def field_of(event: Event, number: int | None = None) -> Field:
    """Who can be paired in a round, by default the next one."""
    number = len(event.rounds) + 1 if number is None else number
    asked = {request.entrant: request.points for request in event.requests if request.round == number}
    there = [one for one in event.entrants if one.joined <= number and one.id not in event.withdrawn]
    byes = tuple(Bye(one.id, asked[one.id], requested=True) for one in there if one.id in asked)
    return Field(number, tuple(one for one in there if one.id not in asked), byes)


def name_of(event: Event, id_: int) -> str:
    """Of an entrant. Raises Refused where nobody has that id."""
    return require_known(_known(event), id_)


def forbidden_pairs(event: Event) -> frozenset[tuple[int, int]]:
    """(smaller id, larger id) of those who must never meet."""
    return frozenset((min(pair), max(pair)) for pair in event.forbidden)


def open_games(event: Event) -> list[tuple[int, Game]]:
    """Number of the round and game, for all games of the record that have no result yet."""
    return [(each.number, game) for each in event.rounds for game in each.games if game.result is None]


def require_results(event: Event) -> None:
    """Raises Refused where a game of the record has no result yet."""
    left = open_games(event)
    if left:
        number, game = left[0]
        more = f", and {len(left) - 1} more" if len(left) > 1 else ""
        raise Refused(
            "round-open",
            f"Round {number} has games without a result ({_named(event, game)}{more}). Give their results first.",
        )


def refuse_over(event: Event) -> Refused:
    """What to raise where nothing is left to pair."""
    return Refused("event-over", f"The event is over after {counted(len(event.rounds), 'round')}. See its standings.")


def begin(event: Event, round_: Round) -> Event:
    """The event with a round, or further games of a round that has begun."""
    begun = len(event.rounds)
    if not 1 <= round_.number <= begun + 1:
        raise Refused("round-number", f"Round {round_.number} cannot begin: {begun} rounds have begun before it.")
    known = _known(event)
    require_round(known, round_)
    if round_.number > begun:
        return replace(event, rounds=(*event.rounds, round_))
    before = event.rounds[round_.number - 1]
    merged = replace(before, games=(*before.games, *round_.games), byes=(*before.byes, *round_.byes))
    require_round(known, merged, any_points=True)
    return _with_round(event, merged)


def apply(event: Event, results: Iterable[Played]) -> Event:
    """The event with these results, each for the first game between these two, with these colours, that has none.

    :raises Refused: where there is no such game
    """
    for played in results:
        event = _applied(event, played)
    return event


def correct(event: Event, number: int, white: int, black: int, result: Result | None) -> Event:
    """The event with another result (None: none yet) of a game, the last between these two with these colours in that
    round. Rounds paired since stay as they are."""
    if 1 <= number <= len(event.rounds):
        games = event.rounds[number - 1].games
        for at in range(len(games) - 1, -1, -1):
            if (games[at].white, games[at].black) == (white, black):
                return _with_result(event, number, at, result)
    raise Refused(
        "no-game", f"Round {number} has no game of {name_of(event, white)} (White) and {name_of(event, black)}."
    )


def enter(event: Event, entrant: Entrant) -> Event:
    """The event with one more entrant, from the next round on if it has begun."""
    if entrant.id < 1 or any(one.id == entrant.id for one in event.entrants):
        free = max((one.id for one in event.entrants), default=0) + 1
        raise Refused("entrant-id", f"{entrant.name} cannot enter as {entrant.id}. The next free number is {free}.")
    require_entrant(entrant)
    joined = max(entrant.joined, len(event.rounds) + 1)
    return replace(event, entrants=(*event.entrants, replace(entrant, joined=joined)))


def withdraw(event: Event, id_: int) -> Event:
    """The event in which an entrant is paired no more; its open games stay."""
    name_of(event, id_)
    return event if id_ in event.withdrawn else replace(event, withdrawn=(*event.withdrawn, id_))


def rejoin(event: Event, id_: int) -> Event:
    """The event in which one who withdrew is paired again."""
    name_of(event, id_)
    return replace(event, withdrawn=tuple(other for other in event.withdrawn if other != id_))


def request_bye(event: Event, request: Request) -> Event:
    """The event in which an entrant sits out a round that has not begun."""
    require_request(_known(event), request)
    if request.round <= len(event.rounds):
        raise Refused("round-begun", f"Round {request.round} has begun. Ask for a bye in a later one.")
    others = (one for one in event.requests if (one.entrant, one.round) != (request.entrant, request.round))
    return replace(event, requests=(*others, request))


def forbid(event: Event, one: int, other: int) -> Event:
    """The event in which these two must not meet any more."""
    pair = forbidden_pair(_known(event), one, other)
    return event if pair in event.forbidden else replace(event, forbidden=(*event.forbidden, pair))


def _applied(event: Event, played: Played) -> Event:
    colours = (played.white, played.black)
    for each in event.rounds:
        if played.round in (None, each.number):
            for at, game in enumerate(each.games):
                if game.result is None and (game.white, game.black) == colours:
                    return _with_result(event, each.number, at, played.result)
    where = "No round" if played.round is None else f"Round {played.round}"
    white, black = (name_of(event, id_) for id_ in colours)
    raise Refused("no-game", f"{where} has a game of {white} (White) and {black} (Black) without a result.")


def _with_result(event: Event, number: int, at: int, result: Result | None) -> Event:
    each = event.rounds[number - 1]
    games = list(each.games)
    if result is not None:
        require_result(f"Round {number}: {_named(event, games[at])}", result)
    games[at] = replace(games[at], result=result)
    return _with_round(event, replace(each, games=tuple(games)))


def _with_round(event: Event, round_: Round) -> Event:
    rounds: Sequence[Round] = event.rounds
    return replace(event, rounds=(*rounds[: round_.number - 1], round_, *rounds[round_.number :]))


def _known(event: Event) -> dict[int, Entrant]:
    return {one.id: one for one in event.entrants}


def _named(event: Event, game: Game) -> str:
    return f"{name_of(event, game.white)} - {name_of(event, game.black)}"
