"""What a record must hold to be one: checked where it comes from outside, and where it changes.

Types are checked by whoever decodes; here it is what they cannot say. Every refusal names the entrant or the round, and
the remedy. Must not know: any system, files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from math import isfinite
from typing import Final, TypeAlias

from msgspec.structs import replace

from cgos_protocol.errors import Code, Conflict, Invalid, NotFound
from cgos_server.tournaments.base import WIN, Entrant, Event, Game, Pair, Request, Round, pair_of

MOST_ID: Final = (1 << 53) - 1
"""The largest whole number that every reader of JSON holds exactly."""

MOST_RATING: Final = 100_000
"""Of a rating's size, in points: far outside every scale there is, and yet no sum runs over."""

MOST_START: Final = 10_000
"""Of starting points, half points."""

MOST_ROUNDS: Final = 10_000
MOST_STONES: Final = 99
MOST_BYE: Final = 2 * WIN
"""What a bye can give, half points: two wins where a round has two games."""

_USUAL: Final = frozenset((points, WIN - points, "played") for points in range(WIN + 1))

Known: TypeAlias = Mapping[int, Entrant]
"""All entrants by id."""


def checked(event: Event, any_points: bool = False) -> Event:
    """The same event, with the smaller id first in each of its forbidden pairs, and an id for each of its games.

    :param any_points: also results and byes that give more than a win, which can be shown though not paired
    :raises Refused: where it contradicts itself, or has numbers that cannot be
    """
    for one in event.entrants:
        require_entrant(one)
    known = event.by_id
    if len(known) < len(event.entrants):
        id_, _ = Counter(one.id for one in event.entrants).most_common(1)[0]
        raise Invalid(Code.ENTRANT_ID, f"Two have entered as {id_}. Give every entrant a number of its own.")
    if event.planned is not None and not 1 <= event.planned <= MOST_ROUNDS:
        raise Invalid(
            Code.PLANNED, f"The event cannot have {event.planned} rounds. Plan 1 to {MOST_ROUNDS}, or leave it open."
        )
    if not any_points:
        _require_points(event.bye_points, WIN, "A bye cannot be worth")
    for place, each in enumerate(event.rounds, 1):
        if each.number != place:
            problem = f"The round at place {place} has the number {each.number}"
            raise Invalid(Code.ROUND_NUMBER, f"{problem}. Number rounds 1, 2, 3... without gaps.")
    for each in event.rounds:
        require_round(known, each, any_points)
    _require_game_ids(event)
    for id_ in event.withdrawn:
        require_known(known, id_)
    for request in event.requests:
        require_request(known, request, any_points)
    return replace(
        event,
        rounds=numbered(event.rounds),
        forbidden=tuple(dict.fromkeys(forbidden_pair(known, *pair) for pair in event.forbidden)),
    )


def numbered(rounds: Sequence[Round]) -> tuple[Round, ...]:
    """The rounds with an id for each game that has none: the next free ones, by rounds and places in them."""
    if all(game.id for each in rounds for game in each.games):
        return tuple(rounds)
    free = count(1 + max((game.id for each in rounds for game in each.games), default=0))
    return tuple(
        replace(each, games=tuple(game if game.id else replace(game, id=next(free)) for game in each.games))
        for each in rounds
    )


def _require_game_ids(event: Event) -> None:
    """Raises Refused where two games have one id, or one has an id that cannot be."""
    ids = Counter(game.id for _, game in event.games if game.id)
    for id_, times in ids.items():
        if times > 1:
            raise Invalid(Code.GAME_ID, f"{times} games have the id {id_}. Give every game an id of its own, or none.")
        if not 1 <= id_ <= MOST_ID:
            raise Invalid(Code.GAME_ID, f"A game cannot have the id {id_}. Give a whole number, 1 or more, or none.")


def require_entrant(one: Entrant) -> None:
    """Raises Refused where nobody can enter so."""
    who = one.name or f"Entrant {one.id}"
    if not 1 <= one.id <= MOST_ID:
        raise Invalid(Code.ENTRANT_ID, f"{who} cannot have the number {one.id}. Give a whole number, 1 or more.")
    for text in (one.name, one.grade, one.country, one.club):
        if any(ord(letter) < 32 or ord(letter) == 127 for letter in text):
            raise Invalid(Code.ENTRANT_NAME, f"{text!r} has a control character, such as an end of line. Remove it.")
    if one.rating is not None and not (isfinite(one.rating) and abs(one.rating) <= MOST_RATING):
        raise Invalid(Code.RATING, f"{who} cannot have the rating {one.rating}. Give a number of points, or none.")
    if one.start is not None and abs(one.start) > MOST_START:
        raise Invalid(
            Code.START_POINTS,
            f"{who} cannot start with {one.start} half points. Give {MOST_START} at most, or none to have them "
            "computed.",
        )
    if not 1 <= one.joined <= MOST_ROUNDS:
        raise Conflict(Code.JOINED, f"{who} cannot have joined in round {one.joined}. Give the number of a round.")


def require_known(known: Known, id_: int) -> str:
    """The name of an entrant. Raises Refused where nobody has that id."""
    if id_ not in known:
        raise NotFound(Code.NO_ENTRANT, f"Nobody entered as {id_}. Give the number of an entrant.")
    return known[id_].name


def require_round(known: Known, each: Round, any_points: bool = False) -> None:
    """Raises Refused where a round, not yet of the record or of it, names somebody who was not there, or against itself
    or with two byes, or gives impossible points."""
    where = f"Round {each.number}"
    for id_ in each.ids:
        if id_ not in known:
            raise NotFound(Code.NO_ENTRANT, f"{where} has a player {id_}, but nobody entered as {id_}.")
        one = known[id_]
        if one.joined > each.number:
            raise Conflict(
                Code.JOINED,
                f"{one.name} is in round {each.number} but joined for round {one.joined}. Mend one of them.",
            )
    named = partial(_named, known)
    for game in each.games:
        if game.white == game.black:
            raise Invalid(Code.SAME_ENTRANT, f"{where} has {known[game.white].name} against itself. Name two entrants.")
        if not 0 <= game.handicap <= MOST_STONES:
            raise Invalid(
                Code.HANDICAP,
                f"{where}: {_named(known, game)} cannot have {game.handicap} handicap stones. Give 0 to {MOST_STONES}.",
            )
        require_result(each.number, game, named, any_points)
    byes = Counter(bye.entrant for bye in each.byes)
    for bye in each.byes:
        name = known[bye.entrant].name
        if byes[bye.entrant] > 1:
            raise Invalid(Code.TWO_BYES, f"{where} has two byes of {name}. Leave one of them.")
        if not any_points:
            _require_points(bye.points, MOST_BYE, f"{where}: a bye cannot give {name}")


def require_result(number: int, game: Game, named: Callable[[Game], str], any_points: bool = False) -> None:
    """Raises Refused where a game's result, if it has one, gives impossible points.

    :param number: of its round
    :param named: says who played, for the sentence
    """
    result = game.result
    if result is None:
        return
    if (result.white, result.black, result.how) in _USUAL:
        return
    where = f"Round {number}"
    if result.how in ("void", "no-contest") and (result.white or result.black):
        raise Invalid(
            Code.RESULT,
            f"{where}: {named(game)} is {result.how}, so it gives nobody points. Take them away, or give another "
            "result.",
        )
    if min(result.white, result.black) < 0 or (not any_points and max(result.white, result.black) > WIN):
        raise Invalid(
            Code.RESULT,
            f"{where}: {named(game)} cannot end {result.black / 2:g}-{result.white / 2:g}. Give each side 0, a half or "
            "1 point (in the record: 0, 1 or 2 half points).",
        )


def require_request(known: Known, request: Request, any_points: bool = False) -> None:
    """Raises Refused where nobody can ask for such a bye."""
    name = require_known(known, request.entrant)
    if not 1 <= request.round <= MOST_ROUNDS:
        raise Invalid(Code.ROUND_NUMBER, f"{name} cannot ask for a bye in round {request.round}. Give a later round.")
    if not any_points:
        _require_points(request.points, MOST_BYE, f"The bye that {name} asked for in round {request.round} cannot give")


def forbidden_pair(known: Known, one: int, other: int) -> Pair:
    """Smaller id, larger id. Raises Refused where these are not two entrants."""
    name = require_known(known, one)
    require_known(known, other)
    if one == other:
        raise Invalid(Code.SAME_ENTRANT, f"{name} cannot be kept from itself. Name two entrants.")
    return pair_of(one, other)


def _require_points(points: int, most: int, start: str) -> None:
    if not 0 <= points <= most:
        raise Invalid(Code.BYE_POINTS, f"{start} {points} half points. Give 0 to {most}.")


def _named(known: Known, game: Game) -> str:
    return f"{known[game.black].name} - {known[game.white].name}"
