"""The way back: a round, a forbidden pair, a bye that was asked for, an entry are taken back.

What is taken back is noted among the event's changes, so that rounds before it are still found as they were paired.
Must not know: any system.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec.structs import replace

from cgos_protocol.errors import Code, Invalid, NotFound
from cgos_server.tournaments.base import Event, Round
from cgos_server.tournaments.checking import forbidden_pair, require_known
from cgos_server.tournaments.event import forbid_these, name_of, noted
from cgos_server.tournaments.words import listed


def take_back_round(event: Event, with_results: bool = False) -> Event:
    """The event without its last round, which is to be paired again.

    :param with_results: also where games of it have results; these are lost
    :raises Refused: where no round has begun, or its games have results
    """
    if not event.rounds:
        raise NotFound(Code.NO_ROUND, "No round has begun, so none can be taken back.")
    last = event.rounds[-1]
    ended = [game for game in last.games if game.result is not None]
    if ended and not with_results:
        first = f"{name_of(event, ended[0].black)} - {name_of(event, ended[0].white)}"
        more = f", and {len(ended) - 1} more" if len(ended) > 1 else ""
        raise Invalid(
            Code.HAS_RESULTS,
            f"Round {last.number} has games with results ({first}{more}), which would be lost. Say that they are to be "
            "taken back too (--with-results), or leave the round.",
        )
    return _shortened(event, event.rounds[:-1], (game.id for game in last.games))


def without(event: Event, games: Collection[int], byes: Collection[tuple[int, int]]) -> Event:
    """The event without some games and byes, and without those rounds at its end that lose all they had.

    :param games: ids
    :param byes: (number of the round, id of the entrant)
    """
    rounds = [
        replace(
            each,
            games=tuple(game for game in each.games if game.id not in games),
            byes=tuple(bye for bye in each.byes if (each.number, bye.entrant) not in byes),
        )
        for each in event.rounds
    ]
    while rounds and rounds[-1] != event.rounds[len(rounds) - 1] and not (rounds[-1].games or rounds[-1].byes):
        rounds.pop()
    return _shortened(event, rounds, games)


def _shortened(event: Event, rounds: Iterable[Round], games: Iterable[int]) -> Event:
    """Changes made since the rounds began that are gone now hold from the round that is paired next."""
    event = replace(event, rounds=tuple(rounds))
    following = len(event.rounds) + 1
    changes = tuple(replace(one, round=min(one.round, following)) for one in event.changes)
    return noted(replace(event, changes=changes), "take-back", games=tuple(sorted(games)))


def lift(event: Event, one: int, other: int) -> Event:
    """The event in which these two may meet again. Raises Refused where that is not forbidden."""
    pair = forbidden_pair(event.by_id, one, other)
    if pair not in event.forbidden:
        names = listed([name_of(event, id_) for id_ in pair])
        raise Invalid(Code.NOT_FORBIDDEN, f"{names} may meet already: nothing forbids it.")
    return forbid_these(event, [each for each in event.forbidden if each != pair])


def cancel_bye(event: Event, id_: int, number: int) -> Event:
    """The event in which an entrant does not sit out a round that has not begun, as it had asked.

    :raises Refused: where it had not, or the round has begun
    """
    name = name_of(event, id_)
    if number <= len(event.rounds):
        raise Invalid(Code.ROUND_BEGUN, f"Round {number} has begun. Take it back first.")
    left = tuple(each for each in event.requests if (each.entrant, each.round) != (id_, number))
    if left == event.requests:
        raise NotFound(Code.NO_BYE, f"{name} has asked for no bye in round {number}.")
    return noted(replace(event, requests=left), "cancel-bye", (id_,))


def strike(event: Event, id_: int) -> Event:
    """The event without an entrant that has been in no round: its entry is taken back, and its number is free.

    :raises Refused: where it has a game or a bye
    """
    require_known(event.by_id, id_)
    for each in event.rounds:
        if id_ in each.ids:
            raise Invalid(
                Code.HAS_PLAYED,
                f"{name_of(event, id_)} is in round {each.number}, so it stays in the event. Withdraw it.",
            )
    event = replace(
        event,
        entrants=tuple(one for one in event.entrants if one.id != id_),
        withdrawn=tuple(other for other in event.withdrawn if other != id_),
        requests=tuple(one for one in event.requests if one.entrant != id_),
        forbidden=tuple(pair for pair in event.forbidden if id_ not in pair),
        changes=tuple(one for one in event.changes if id_ not in one.entrants),
    )
    return noted(event, "strike")
