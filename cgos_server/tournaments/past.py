"""An event as it was when one of its rounds was to be paired.

What its record of changes tells is taken back, last first; what it does not tell (of files that other programs wrote)
is concluded from who played. Must not know: any system, files.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from cgos_server.tournaments.base import Change, Event, Pair, Request, Round, pair_of
from cgos_server.tournaments.ledger import Line, ledger


def before(event: Event, number: int) -> Event:
    """The event as it was when round `number` was to be paired.

    Results are those of then, where they were corrected since. A pair is forbidden if it was then, from the beginning
    on where no change tells since when. Whoever neither played in that round nor got a bye of the
    system's is taken to have asked for that, or to have withdrawn before: as the changes tell, else if that is how it
    ended or the round's details have it among the `withdrawn` ids. Whoever joined later had not entered.
    """
    entrants = tuple(one for one in event.entrants if one.joined <= number)
    known = {one.id for one in entrants}
    lines = {id_: line for id_, line in ledger(event).lines.items() if id_ in known}
    later = [change for change in reversed(event.changes) if change.round > number]
    gone = _withdrawn(event, number, lines)
    requested = tuple(
        Request(id_, number, entry.points)
        for id_, line in lines.items()
        for entry in line.entries
        if entry.round == number and entry.kind in ("requested", "absent") and id_ not in gone
    )
    earlier = tuple(one for one in event.requests if one.round < number and one.entrant in known)
    past = replace(
        event,
        entrants=entrants,
        rounds=event.rounds[: number - 1],
        withdrawn=gone,
        requests=(*earlier, *requested),
        forbidden=tuple(pair for pair in _forbidden(event, number) if known.issuperset(pair)),
        changes=tuple(change for change in event.changes if change.round <= number),
    )
    for change in later:
        if change.kind == "correct":
            past = replace(past, rounds=tuple(_with_result(each, change) for each in past.rounds))
    return past


def _withdrawn(event: Event, number: int, lines: Mapping[int, Line]) -> tuple[int, ...]:
    recorded = [each.explanation.details.get("withdrawn") for each in event.rounds[number - 1 : number]]
    if recorded and isinstance(recorded[0], list):
        return tuple(id_ for id_ in lines if id_ in recorded[0])
    gone = set(event.withdrawn)
    changed: set[int] = set()
    for change in reversed(event.changes):
        if change.kind in ("withdraw", "rejoin"):
            changed.update(change.entrants)
            if change.round > number:
                gone = gone.union(change.entrants) if change.kind == "rejoin" else gone.difference(change.entrants)
    return tuple(id_ for id_ in lines if id_ in gone and (id_ in changed or not _goes_on(lines[id_], number)))


def _forbidden(event: Event, number: int) -> tuple[Pair, ...]:
    pairs = dict.fromkeys(event.forbidden)
    for change in reversed(event.changes):
        if change.round > number and change.kind in ("forbid", "lift"):
            pair = pair_of(*change.entrants)
            if change.kind == "lift":
                pairs[pair] = None
            else:
                pairs.pop(pair, None)
    return tuple(pairs)


def _with_result(each: Round, change: Change) -> Round:
    """With the result that a correction replaced."""
    if all(game.id not in change.games for game in each.games):
        return each
    games = (replace(game, result=change.before) if game.id in change.games else game for game in each.games)
    return replace(each, games=tuple(games))


def _goes_on(line: Line, number: int) -> bool:
    """Has games or byes of the system's from that round on."""
    return any(entry.round >= number and entry.kind not in ("requested", "absent") for entry in line.entries)
