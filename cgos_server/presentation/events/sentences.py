"""What each entry of an event's log says to people.

Must not know: who reads it, messages of the API.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from cgos_server.presentation import words
from cgos_server.presentation.events.announcement import in_short, lines
from cgos_server.tournaments.base import Bye, Result
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.state import BEFORE, EventState, Phase
from cgos_server.tournaments.tournament import standings
from cgos_server.tournaments.words import counted, in_points, listed

MOST_NAMED = 4
"""Games or names that a sentence lists."""


class GameSeen(NamedTuple):
    """A game that was ever paired; `black` and `white` are entrants' numbers."""

    round: int
    black: int
    white: int


@dataclass(slots=True)
class Told:
    """What entries refer to, whether or not it is still there.

    :ivar names: entrant -> name
    :ivar games: number in the event -> game
    """

    names: dict[int, str] = field(default_factory=dict)
    games: dict[int, GameSeen] = field(default_factory=dict)

    def pair(self, number: int) -> str:
        """``Ann-1 – Bob-2``, Black first."""
        game = self.games[number]
        return f"{self.names[game.black]} – {self.names[game.white]}"

    def placed(self, number: int) -> str:
        """``Game 3 of round 1 (Ann-1 – Bob-2)``."""
        return f"Game {number} of round {self.games[number].round} ({self.pair(number)})"

    def outcome(self, number: int, result: Result) -> str:
        """How a game came out: ``Ann-1 won against Bob-2``."""
        game = self.games[number]
        black, white = self.names[game.black], self.names[game.white]
        if result.how == "void":
            return f"{black} – {white} is void"
        if result.how == "no-contest":
            return f"{black} – {white} counts for nothing"
        by = " by forfeit" if result.how == "forfeit" else ""
        if result.black == result.white:
            if not result.black:
                return f"{black} and {white} both lost{by}"
            return f"{black} and {white} drew{by}"
        winner, loser = (black, white) if result.black > result.white else (white, black)
        return f"{winner} won against {loser}{by}"


def sentence(before: EventState, now: EventState, entry: log.LogEntry, told: Told) -> str:
    """An entry as one or two sentences.

    :param before: the state before it
    :param now: the state after it
    :param told: with what this entry adds
    """
    return _SENTENCES[type(entry.said)](before, now, entry.said, told)


def _announced(before: EventState, now: EventState, said: log.Announced, told: Told) -> str:  # noqa: ARG001
    if not before.seq:
        return f"{said.settings.name} is announced: {in_short(said.settings)}."
    then = {line.name: line.text for line in lines(before.settings)}
    changed = [f"{line.label}: {line.text}" for line in lines(said.settings) if then.get(line.name) != line.text]
    return f"It is announced otherwise. {'; '.join(changed) or 'Nothing is different'}."


def _opened(before: EventState, now: EventState, said: log.Opened, told: Told) -> str:  # noqa: ARG001
    return "Entry is open again." if before.phase is Phase.CLOSED else "Entry is open."


def _entered(before: EventState, now: EventState, said: log.Entered, told: Told) -> str:  # noqa: ARG001
    rated = "without a rating" if said.rating is None else f"rated {said.rating:.0f}"
    if said.waits:
        return f"{said.name} entered as number {said.entrant}, {rated}, and waits for a place."
    if now.phase is Phase.RUNNING:
        return f"{said.name} entered late as number {said.entrant}, {rated}: {_from_round(now, said.entrant)}."
    return f"{said.name} entered as number {said.entrant}, {rated}."


def _from_round(now: EventState, entrant: int) -> str:
    return f"it plays from round {now.event.by_id[entrant].joined} on"


def _admitted(before: EventState, now: EventState, said: log.Admitted, told: Told) -> str:  # noqa: ARG001
    return f"{told.names[said.entrant]} has a place: it waited for one."


def _checked_in(before: EventState, now: EventState, said: log.CheckedIn, told: Told) -> str:  # noqa: ARG001
    name = told.names[said.entrant]
    if said.signed_in:
        return f"{name} counts as checked in: it is signed in on the CGOS lines, which have no word for it."
    return f"{name} checked in."


def _withdrawn(before: EventState, now: EventState, said: log.Withdrawn, told: Told) -> str:  # noqa: ARG001
    name = told.names[said.entrant]
    what = "took its entry back" if before.phase in BEFORE else "withdrew: it plays no more, and forfeits open games"
    return _with_reason(f"{name} {what}", said.reason)


def _rejoined(before: EventState, now: EventState, said: log.Rejoined, told: Told) -> str:  # noqa: ARG001
    return f"{told.names[said.entrant]} is back, and is paired again."


def _bye_asked(before: EventState, now: EventState, said: log.ByeAsked, told: Told) -> str:  # noqa: ARG001
    worth = "no points" if not said.points else in_points(said.points / 2)
    return f"{told.names[said.entrant]} sits out round {said.round}, for {worth}."


def _bye_cancelled(before: EventState, now: EventState, said: log.ByeCancelled, told: Told) -> str:  # noqa: ARG001
    return _with_reason(f"{told.names[said.entrant]} plays in round {said.round} after all", said.reason)


def _forbidden(before: EventState, now: EventState, said: log.Forbidden, told: Told) -> str:  # noqa: ARG001
    return _with_reason(f"{_apart(said, told)} must not meet from now on", said.reason)


def _lifted(before: EventState, now: EventState, said: log.Lifted, told: Told) -> str:  # noqa: ARG001
    return _with_reason(f"{_apart(said, told)} may meet again", said.reason)


def _apart(said: log.Forbidden | log.Lifted, told: Told) -> str:
    """Who, as the subject of a sentence."""
    names = _some([told.names[entrant] for entrant in said.entrants])
    same = f"versions of one {said.same}" if said.same else ""
    who = ", and ".join(filter(None, (names, same)))
    return f"{who[0].upper()}{who[1:]}" if not names else who


def _struck(before: EventState, now: EventState, said: log.Struck, told: Told) -> str:  # noqa: ARG001
    return _with_reason(f"{told.names[said.entrant]} is struck out: its entry was a mistake", said.reason)


def _closed(before: EventState, now: EventState, said: log.Closed, told: Told) -> str:  # noqa: ARG001
    there, rated = len(now.there), len(said.ratings)
    waiting = f" {counted(len(now.waiting), 'version')} still wait for a place." if now.waiting else ""
    ratings = f" Ratings are taken, of {rated} who have one." if rated else " Nobody has a rating yet."
    return f"Entry is closed with {counted(there, 'entrant')}.{ratings}{waiting}"


def _started(before: EventState, now: EventState, said: log.Started, told: Told) -> str:  # noqa: ARG001
    missing = [seat.name for seat in before.there if now.seats[seat.entrant].out]
    out = f" Out, as they did not check in: {_some(missing)}." if missing else ""
    return f"It has started with {counted(len(now.there), 'entrant')}.{out}"


def _paired(before: EventState, now: EventState, said: log.Paired, told: Told) -> str:  # noqa: ARG001
    names = told.names
    games = [f"{names[game.black]} – {names[game.white]}" for game in said.round.games]
    byes = _byes(said.round.byes, told)
    number = said.round.number
    if number <= len(before.event.rounds):
        parts = [_some(games), *([byes] if byes else [])]
        return f"Round {number} goes on: {'; '.join(filter(None, parts))}."
    what = counted(len(games), "game") if len(games) > MOST_NAMED else _some(games) or "no game"
    return f"Round {number} is paired: {what}{f'; {byes}' if byes else ''}."


def _byes(byes: Sequence[Bye], told: Told) -> str:
    if not byes:
        return ""
    return f"{_some([told.names[bye.entrant] for bye in byes])} {'has a bye' if len(byes) == 1 else 'have byes'}"


def _began(before: EventState, now: EventState, said: log.Began, told: Told) -> str:  # noqa: ARG001
    return f"{told.placed(said.game)} has begun, as game {said.played_as} of the server."


def _ended(before: EventState, now: EventState, said: log.Ended, told: Told) -> str:  # noqa: ARG001
    number = told.games[said.game].round
    what = f"{told.outcome(said.game, said.result)} in round {number} (game {said.game})."
    return f"{what} {said.why.rstrip('.')}." if said.why else what  # it may begin with a name, which stays as it is


def _ruled(before: EventState, now: EventState, said: log.Ruled, told: Told) -> str:
    what = "is played again" if said.result is None else f"counts otherwise: {told.outcome(said.game, said.result)}"
    gone = _gone(before, now, told)
    return f"{_with_reason(f'{told.placed(said.game)} {what}', said.reason)}{gone}"


def _taken_back(before: EventState, now: EventState, said: log.TakenBack, told: Told) -> str:
    what = f"Round {len(before.event.rounds)} is taken back, to be paired again"
    return f"{_with_reason(what, said.reason)}{_gone(before, now, told)}"


def _gone(before: EventState, now: EventState, told: Told) -> str:
    """Which games are in the record no more."""
    left = {game.id for _, game in now.event.games}
    gone = [f"{game.id} ({told.pair(game.id)})" for _, game in before.event.games if game.id not in left]
    return f" Taken back: {'game' if len(gone) == 1 else 'games'} {_some(gone)}." if gone else ""


def _paused(before: EventState, now: EventState, said: log.Paused, told: Told) -> str:  # noqa: ARG001
    return _with_reason("It is paused: games that run go on, and no other begins", said.reason)


def _resumed(before: EventState, now: EventState, said: log.Resumed, told: Told) -> str:  # noqa: ARG001
    return "It goes on."


def _extended(before: EventState, now: EventState, said: log.Extended, told: Told) -> str:  # noqa: ARG001
    changes = []
    if said.rounds is not None:
        changes.append(f"it has {counted(said.rounds, 'round')}")
    if said.grace_s is not None:
        changes.append(f"games wait {words.duration(said.grace_s)} for who is away")
    return _with_reason(f"From now on {listed(changes) or 'all is as before'}", said.reason)


def _finished(before: EventState, now: EventState, said: log.Finished, told: Told) -> str:  # noqa: ARG001
    rows = standings(now.event).rows
    first = [row.name for row in rows if row.place == 1]
    over = _with_reason("It is over", said.reason)
    return f"{over} {_some(first)} {'has' if len(first) == 1 else 'share'} the first place." if first else over


def _cancelled(before: EventState, now: EventState, said: log.Cancelled, told: Told) -> str:  # noqa: ARG001
    return _with_reason("It is cancelled", said.reason)


def _followed(before: EventState, now: EventState, said: log.Followed, told: Told) -> str:  # noqa: ARG001
    if said.why == "playoff":
        return f"{said.by} is announced: the playoff for the first place."
    return f"{said.by} is announced: the next one of the series."


def _decided(before: EventState, now: EventState, said: log.Decided, told: Told) -> str:  # noqa: ARG001
    first = _some([told.names[entrant] for entrant in said.entrants])
    if len(said.entrants) == 1:
        return f"{first} won the playoff {said.by}, and has the first place."
    if not said.entrants:
        return f"The playoff {said.by} is undecided again."
    return f"The playoff {said.by} is over: {first} share the first place."


def _with_reason(what: str, reason: str) -> str:
    reason = reason.strip()
    if not reason:
        return f"{what}."
    return f"{what}. {reason[0].upper()}{reason[1:]}{'' if reason[-1] in '.!?' else '.'}"


def _some(names: Sequence[str]) -> str:
    """The first ones by name, the others by number."""
    if len(names) <= MOST_NAMED:
        return listed(names)
    return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"


_SENTENCES: Final[dict[type[Any], Callable[[EventState, EventState, Any, Told], str]]] = {
    log.Announced: _announced,
    log.Opened: _opened,
    log.Entered: _entered,
    log.Admitted: _admitted,
    log.CheckedIn: _checked_in,
    log.Withdrawn: _withdrawn,
    log.Rejoined: _rejoined,
    log.ByeAsked: _bye_asked,
    log.ByeCancelled: _bye_cancelled,
    log.Forbidden: _forbidden,
    log.Lifted: _lifted,
    log.Struck: _struck,
    log.Closed: _closed,
    log.Started: _started,
    log.Paired: _paired,
    log.Began: _began,
    log.Ended: _ended,
    log.Ruled: _ruled,
    log.TakenBack: _taken_back,
    log.Paused: _paused,
    log.Resumed: _resumed,
    log.Extended: _extended,
    log.Finished: _finished,
    log.Cancelled: _cancelled,
    log.Followed: _followed,
    log.Decided: _decided,
}
