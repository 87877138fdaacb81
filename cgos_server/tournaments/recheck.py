"""Would the system have paired so: every round of a record is paired again from what was known before it.

Must not know: single systems, files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import NO_CONTEST, VOID, Event, Game, Round
from cgos_server.tournaments.event import Played, apply, begin, open_games
from cgos_server.tournaments.past import before
from cgos_server.tournaments.tournament import next_round, ready_games, system_of


class Recheck(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of pairing a round again.

    :ivar agrees: the same games with the same colors, and the same byes
    :ivar missing: (White, Black) that the system pairs and the record has not
    :ivar unexpected: (White, Black) of the record that the system does not pair
    :ivar swapped: (White, Black) of the record which the system pairs with the other colors
    :ivar byes: ids that the system gives a bye
    :ivar recorded_byes: ids that the record gives one
    :ivar refusal: why the system would not pair the round at all
    :ivar summary: the system's own words
    """

    number: int
    agrees: bool
    missing: tuple[tuple[int, int], ...] = ()
    unexpected: tuple[tuple[int, int], ...] = ()
    swapped: tuple[tuple[int, int], ...] = ()
    byes: tuple[int, ...] = ()
    recorded_byes: tuple[int, ...] = ()
    refusal: str = ""
    summary: str = ""


def recheck(event: Event) -> Iterator[Recheck]:
    """One finding for each round of the record, in order."""
    for recorded in event.rounds:
        try:
            yield _compared(recorded, _paired_again(event, recorded))
        except Refused as refusal:
            yield Recheck(number=recorded.number, agrees=False, refusal=refusal.sentence)


def _paired_again(whole: Event, recorded: Round) -> Round:
    """The round as the system pairs it; with further games of the same round (such as replays) where the record has
    them, by the results of those before, and further byes. Whoever would have a further game that the record lacks, and
    plays no more, is taken to have withdrawn by then."""
    number = recorded.number
    event = before(whole, number)
    paired = _first_part(event, recorded)
    event = begin(_stood(event) if paired.number == number else event, paired)
    left = list(recorded.games)
    games = paired.games
    while True:
        for game in games:
            known = _among(left, game)
            if known is None or known.result is None:
                return paired
            left.remove(known)
            event = apply(event, [Played(black=game.black, white=game.white, result=known.result, round=number)])
        if not left and len(paired.byes) >= len(recorded.byes):
            return paired
        try:
            further = next_round(event)
            lacking = {id_ for game in further.games if not _among(left, game) for id_ in game.pair}
            gone = lacking.intersection(before(whole, number + 1).withdrawn)
            if further.number == number and gone:
                event = replace(event, withdrawn=(*event.withdrawn, *sorted(gone)))
                further = next_round(event)
        except Refused:  # nothing is left to pair
            return paired
        games = tuple(game for game in further.games if any(game.pair == one.pair for one in left))
        if further.number != number or not (games or further.byes):
            return paired
        event = begin(event, replace(further, games=games))
        paired = replace(paired, games=(*paired.games, *games), byes=(*paired.byes, *further.byes))


def _first_part(event: Event, recorded: Round) -> Round:
    """What the system pairs first; while games of before are still being played, as much of it as the record has."""
    if open_games(event):
        parts = [part for part in ready_games(event) if part.number == recorded.number]
        if parts:
            pairs = {game.pair for game in recorded.games}
            games = tuple(game for part in parts for game in part.games if game.pair in pairs)
            byes = tuple(bye for part in parts for bye in part.byes)
            return replace(parts[0], games=games, byes=byes)
    paired = next_round(event)
    if paired.number < recorded.number and not system_of(event).rounds_follow:
        return next_round(_stood(event))
    return paired


def _stood(event: Event) -> Event:
    """Void games that were not played again are left so by those who pair on."""
    if system_of(event).rounds_follow:
        return event
    rounds = tuple(
        replace(
            each,
            games=tuple(replace(game, result=NO_CONTEST) if game.result == VOID else game for game in each.games),
        )
        for each in event.rounds
    )
    return replace(event, rounds=rounds)


def _among(games: Sequence[Game], wanted: Game) -> Game | None:
    """The first of them with the same two and the same colors."""
    return next((game for game in games if (game.white, game.black) == (wanted.white, wanted.black)), None)


def _compared(recorded: Round, paired: Round) -> Recheck:
    ours, theirs = (Counter((game.white, game.black) for game in each.games) for each in (paired, recorded))
    swapped = []
    missing, unexpected = ours - theirs, theirs - ours
    for white, black in sorted(unexpected.elements()):
        if missing[(black, white)]:
            missing[(black, white)] -= 1
            unexpected[(white, black)] -= 1
            swapped.append((white, black))
    byes, recorded_byes = (
        tuple(sorted(bye.entrant for bye in each.byes if not bye.requested)) for each in (paired, recorded)
    )
    return Recheck(
        number=recorded.number,
        agrees=ours == theirs and byes == recorded_byes,
        missing=tuple(sorted(missing.elements())),
        unexpected=tuple(sorted(unexpected.elements())),
        swapped=tuple(swapped),
        byes=byes,
        recorded_byes=recorded_byes,
        summary=paired.explanation.summary,
    )
