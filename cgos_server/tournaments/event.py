"""How an event's record changes: rounds begin, results arrive, entrants come, leave and return.

Every function takes an event and returns the next one. What cannot be is refused, with a sentence, and nothing is
changed. Must not know: any system.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from cgos_protocol.errors import Code, Invalid, NotFound, Refused
from cgos_server.tournaments.base import Bye, Change, ChangeKind, Entrant, Event, Game, Pair, Request, Result, Round
from cgos_server.tournaments.checking import (
    forbidden_pair,
    require_entrant,
    require_known,
    require_request,
    require_result,
    require_round,
)
from cgos_server.tournaments.kept import kept
from cgos_server.tournaments.words import counted


class Played(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A result that arrives.

    :ivar round: number; None: the only round that has such a game without a result
    """

    black: int
    white: int
    result: Result
    round: int | None = None


class Placed(NamedTuple):
    """A game and where it is in the record.

    :ivar round: number
    :ivar at: index in the round
    """

    round: int
    at: int
    game: Game


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
    return _field_of(event, len(event.rounds) + 1 if number is None else number)


@kept
def _field_of(event: Event, number: int) -> Field:
    requested = {request.entrant: request.points for request in event.requests if request.round == number}
    gone = set(event.withdrawn)
    there = [one for one in event.entrants if one.joined <= number and one.id not in gone]
    byes = tuple(Bye(one.id, requested[one.id], requested=True) for one in there if one.id in requested)
    return Field(number, tuple(one for one in there if one.id not in requested), byes)


def name_of(event: Event, id_: int) -> str:
    """Of an entrant. Raises Refused where nobody has that id."""
    return require_known(event.by_id, id_)


def forbidden_pairs(event: Event) -> frozenset[tuple[int, int]]:
    """(smaller id, larger id) of those who must never meet."""
    return frozenset((min(pair), max(pair)) for pair in event.forbidden)


def open_games(event: Event) -> list[tuple[int, Game]]:
    """Number of the round and game, for all games of the record that have no result yet."""
    return [
        (each.number, game)
        for each in event.rounds
        if not each.is_complete
        for game in each.games
        if game.result is None
    ]


def require_results(event: Event) -> None:
    """Raises Refused where a game of the record has no result yet."""
    left = open_games(event)
    if left:
        number, game = left[0]
        more = f", and {len(left) - 1} more" if len(left) > 1 else ""
        raise Invalid(
            Code.ROUND_OPEN,
            f"Round {number} has games without a result ({_named(event, game)}{more}). Give their results first.",
        )


def refuse_over(event: Event, remark: str = "") -> Refused:
    """What to raise where nothing is left to pair.

    :param remark: sentences on how it ended, if they are needed
    """
    over = f"The event is over after {counted(len(event.rounds), 'round')}."
    return Invalid(Code.EVENT_OVER, " ".join(filter(None, (over, remark, "See its standings."))))


def begin(event: Event, round_: Round) -> Event:
    """The event with a round, or further games of a round that has begun. Its games get the next free ids."""
    begun = len(event.rounds)
    if not 1 <= round_.number <= begun + 1:
        raise Invalid(Code.ROUND_NUMBER, f"Round {round_.number} cannot begin: {begun} rounds have begun before it.")
    known = event.by_id
    require_round(known, round_)
    free = count(_last_id(event) + 1)
    round_ = replace(round_, games=tuple(replace(game, id=next(free)) for game in round_.games))
    if round_.number > begun:
        return replace(event, rounds=(*event.rounds, round_))
    before = event.rounds[round_.number - 1]
    merged = replace(before, games=(*before.games, *round_.games), byes=(*before.byes, *round_.byes))
    require_round(known, merged, any_points=True)
    return _with_round(event, merged)


def game_by_id(event: Event, id_: int) -> Placed:
    """Raises Refused where the record has no game with that id."""
    for each in reversed(event.rounds):  # it is nearly always one of the last
        for at, game in enumerate(each.games):
            if game.id == id_:
                return Placed(each.number, at, game)
    highest = max((game.id for _, game in event.games), default=0)
    known = f"; the highest is {highest}" if highest else ": there is none yet"
    raise NotFound(Code.NO_GAME, f"No game has the number {id_}{known}.")


def game_between(event: Event, white: int, black: int, number: int | None = None, *, is_open: bool) -> Placed:
    """The only game between these two, with these colors.

    :param number: of the round; None: any
    :param is_open: only a game without a result
    :raises Refused: where there is none, or several: the sentence has their ids
    """
    games = [
        one
        for one in _placed(event)
        if (one.game.white, one.game.black) == (white, black)
        and number in (None, one.round)
        and not (is_open and one.game.result is not None)
    ]
    if len(games) == 1:
        return games[0]
    names = f"{name_of(event, black)} (Black) and {name_of(event, white)} (White)"
    if games:
        candidates = ", ".join(f"game {one.game.id} in round {one.round}" for one in games)
        raise Invalid(
            Code.SEVERAL_GAMES, f"{len(games)} games are of {names}: {candidates}. Name one of them by its id."
        )
    where = "No round has a" if number is None else f"Round {number} has no"
    raise NotFound(Code.NO_GAME, f"{where} game of {names}{' without a result' if is_open else ''}.")


def apply(event: Event, results: Iterable[Played]) -> Event:
    """The event with these results, each for the only game between these two, with these colors, that has none.

    :raises Refused: where there is no such game, or several
    """
    for played in results:
        placed = game_between(event, played.white, played.black, played.round, is_open=True)
        event = _with_result(event, placed, played.result)
    return event


def end(event: Event, id_: int, result: Result) -> Event:
    """The event with the result of the game with this id.

    :raises Refused: where there is no such game, or it has one
    """
    placed = game_by_id(event, id_)
    if placed.game.result is not None:
        raise Invalid(
            Code.HAS_RESULT,
            f"Game {id_} ({_named(event, placed.game)}, round {placed.round}) has a result. Correct it instead.",
        )
    return _with_result(event, placed, result)


def correct(event: Event, id_: int, result: Result | None, since: int | None = None) -> Event:
    """The event with another result (None: none yet) of the game with this id. All else stays as it is: see
    :func:`cgos_server.tournaments.amending.amend` for what follows from it.

    :param since: number of the first round that is paired with it; None: the next one
    """
    placed = game_by_id(event, id_)
    if placed.game.result == result:
        return event
    changed = _with_result(event, placed, result)
    if placed.game.result is None:
        return changed
    return noted(changed, "correct", since=since, games=(id_,), before=placed.game.result)


def enter(event: Event, entrant: Entrant) -> Event:
    """The event with one more entrant, from the next round on if it has begun."""
    if entrant.id < 1 or any(one.id == entrant.id for one in event.entrants):
        free = max((one.id for one in event.entrants), default=0) + 1
        raise Invalid(Code.ENTRANT_ID, f"{entrant.name} cannot enter as {entrant.id}. The next free number is {free}.")
    require_entrant(entrant)
    joined = max(entrant.joined, len(event.rounds) + 1)
    return replace(event, entrants=(*event.entrants, replace(entrant, joined=joined)))


def withdraw(event: Event, id_: int) -> Event:
    """The event in which an entrant is paired no more; its open games stay."""
    name_of(event, id_)
    if id_ in event.withdrawn:
        return event
    return noted(replace(event, withdrawn=(*event.withdrawn, id_)), "withdraw", (id_,))


def rejoin(event: Event, id_: int) -> Event:
    """The event in which one who withdrew is paired again."""
    name_of(event, id_)
    if id_ not in event.withdrawn:
        return event
    return noted(replace(event, withdrawn=tuple(other for other in event.withdrawn if other != id_)), "rejoin", (id_,))


def request_bye(event: Event, request: Request) -> Event:
    """The event in which an entrant sits out a round that has not begun."""
    require_request(event.by_id, request)
    if request.round <= len(event.rounds):
        raise Invalid(Code.ROUND_BEGUN, f"Round {request.round} has begun. Ask for a bye in a later one.")
    others = (one for one in event.requests if (one.entrant, one.round) != (request.entrant, request.round))
    return noted(replace(event, requests=(*others, request)), "bye", (request.entrant,))


def forbid(event: Event, one: int, other: int) -> Event:
    """The event in which these two must not meet any more, from the next round on."""
    return forbid_these(event, {*event.forbidden, forbidden_pair(event.by_id, one, other)})


def forbid_these(event: Event, pairs: Collection[Pair]) -> Event:
    """The event in which exactly these pairs must not meet, from the next round on.

    :param pairs: entrants' ids, the smaller one first
    """
    kinds: dict[ChangeKind, list[Pair]] = {
        "lift": [pair for pair in event.forbidden if pair not in pairs],
        "forbid": sorted(set(pairs).difference(event.forbidden)),
    }
    if not any(kinds.values()):
        return event
    left = [pair for pair in event.forbidden if pair in pairs]
    following = len(event.rounds) + 1
    changes = (Change(kind=kind, round=following, entrants=pair) for kind, each in kinds.items() for pair in each)
    return replace(event, forbidden=(*left, *kinds["forbid"]), changes=(*event.changes, *changes))


def noted(
    event: Event, kind: ChangeKind, entrants: tuple[int, ...] = (), since: int | None = None, **more: Any
) -> Event:
    """The event with this change at the end of its record of changes.

    :param since: number of the first round that is paired with it; None: the next one
    :param more: `games` and `before` of :class:`cgos_server.tournaments.base.Change`
    """
    change = Change(kind=kind, round=since or len(event.rounds) + 1, entrants=entrants, **more)
    return replace(event, changes=(*event.changes, change))


def _placed(event: Event) -> Iterator[Placed]:
    return (Placed(each.number, at, game) for each in event.rounds for at, game in enumerate(each.games))


def _with_result(event: Event, placed: Placed, result: Result | None) -> Event:
    game = replace(placed.game, result=result)
    require_result(placed.round, game, partial(_named, event))
    each = event.rounds[placed.round - 1]
    games = (*each.games[: placed.at], game, *each.games[placed.at + 1 :])
    return _with_round(event, replace(each, games=games))


def _with_round(event: Event, round_: Round) -> Event:
    before, after = event.rounds[: round_.number - 1], event.rounds[round_.number :]
    return replace(event, rounds=(*before, round_, *after))


def _last_id(event: Event) -> int:
    return max((*map(_largest_id, event.rounds), *(id_ for change in event.changes for id_ in change.games)), default=0)


@kept
def _largest_id(each: Round) -> int:
    return max([game.id for game in each.games], default=0)


def _named(event: Event, game: Game) -> str:
    return f"{name_of(event, game.black)} - {name_of(event, game.white)}"
