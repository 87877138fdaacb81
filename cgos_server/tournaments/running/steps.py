"""What an event that nobody tends does next: it opens, closes, starts, pairs, forfeits, ends.

Each function looks at a state and says the next entry of the log, or None; whoever writes it down asks again. Must not
know: who writes, how games are begun, tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from cgos_protocol.errors import Refused
from cgos_protocol.games.base import Color
from cgos_protocol.ids import VersionId
from cgos_protocol.referee import no_first_move
from cgos_protocol.verdict import Reason, Verdict
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, LOSS, VOID, WHITE_WINS, WIN, Game, Result, Round
from cgos_server.tournaments.pairing.replays import due_again
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.state import EventState, Phase, Seat
from cgos_server.tournaments.systems.by_rounds import ByRounds
from cgos_server.tournaments.tournament import is_over, system_of
from cgos_server.tournaments.words import counted

Away = Mapping[VersionId, int]
"""Versions that could not play now if their game began -> since when, Unix ms; whoever is there is not in it."""

BOTH_FORFEIT: Final = Result(LOSS, LOSS, "forfeit")


def next_step(
    state: EventState, now: int, away: Away, rating: Callable[[VersionId], float | None], up_since: int = 0
) -> log.Said | None:
    """What is due besides pairing.

    :param now: Unix ms
    :param rating: of a version in the event's venue, as it is now; None: it has none
    :param up_since: since when the server runs, Unix ms; 0: for ever
    """
    if state.phase is Phase.ANNOUNCED:
        return log.Opened() if _passed(state.settings.times.opens_at, now) else None
    if state.phase is Phase.ENTRY:
        return _admitted(state) or _closing(state, now, rating)
    if state.phase is Phase.CLOSED:
        return _admitted(state) or _starting(state, now, up_since)
    if state.phase is Phase.RUNNING and state.paused is None:
        return _forfeit(state, now, away)
    return None


def pairs_now(state: EventState) -> bool:
    """True where it makes sense to ask the system what could begin."""
    if state.phase is not Phase.RUNNING or state.paused is not None:
        return False
    if not state.open or not isinstance(system_of(state.event), ByRounds):
        return True
    # Systems by rounds wait for the last result, but for games that are void: these are played again at once.
    latest = state.event.rounds[-1]
    return any(game.how == "void" for game in latest.games) and due_again(state.event) is not None


def paired(state: EventState, rounds: Sequence[Round]) -> log.Said | None:
    """What follows from what the system says could begin."""
    if rounds:
        return log.Paired(round=rounds[0])
    if not state.open and is_over(state.event):
        return log.Finished()
    return None


def stuck(refusal: Refused) -> log.Paused:
    """The system cannot pair: somebody has to decide."""
    return log.Paused(reason=f"Nothing can be paired: {refusal.sentence}")


def result_of(verdict: Verdict, played: int) -> Result:
    """What a game of the server counts as in its event.

    Who lets its time run out before its first move, or is lost before anybody moved, has not come: a forfeit. Any other
    game without a result is void, and to be played again.

    :param played: how many moves the two made; not those that the game began with
    """
    for color in Color:
        if verdict.reason is Reason.ABORT and verdict.detail == no_first_move(color):
            return forfeited_by(color)
    if not verdict.rated:
        return VOID
    if verdict.winner is None:
        return DRAWN
    if verdict.reason in (Reason.FORFEIT, Reason.TIME) and not played:
        return forfeited_by(verdict.winner.other)
    return BLACK_WINS if verdict.winner is Color.BLACK else WHITE_WINS


def forfeited_by(color: Color) -> Result:
    """A game that never started, lost by that side."""
    return Result(LOSS, WIN, "forfeit") if color is Color.BLACK else Result(WIN, LOSS, "forfeit")


def _passed(at: int | None, now: int) -> bool:
    return at is not None and at <= now


def _admitted(state: EventState) -> log.Admitted | None:
    """Whoever waits longest, where a place is free."""
    most, waiting = state.settings.limits.most, state.waiting
    if not waiting or (most is not None and len(state.there) >= most):
        return None
    return log.Admitted(entrant=waiting[0].entrant)


def _closing(state: EventState, now: int, rating: Callable[[VersionId], float | None]) -> log.Closed | None:
    times = state.settings.times
    full = times.starts_with is not None and len(state.there) >= times.starts_with
    # Who opens entry again after its time leaves it open until the start.
    ends_at = times.closes_at if (times.closes_at or 0) > (state.opened_at or 0) else None
    if not (full or _passed(ends_at, now) or _passed(times.starts_at, now)):
        return None
    return closing(state, rating)


def closing(state: EventState, rating: Callable[[VersionId], float | None]) -> log.Closed:
    """Entry closes: the ratings are taken as they are."""
    known = {number: rating(seat.version) for number, seat in state.seats.items()}
    return log.Closed(ratings={number: value for number, value in known.items() if value is not None})


def _starting(state: EventState, now: int, up_since: int) -> log.Said | None:
    times = state.settings.times
    full = times.starts_with is not None and len(state.there) >= times.starts_with
    if not (full or _passed(times.starts_at, now)) or _check_in_goes_on(state, now, up_since):
        return None
    coming = [seat for seat in state.there if seat.checked_in or not times.check_in_s]
    waiting = [seat for seat in state.waiting if seat.checked_in]
    most = state.settings.limits.most
    if times.check_in_s and waiting and (most is None or len(coming) < most):
        return log.Admitted(entrant=waiting[0].entrant)
    if len(coming) < 2:
        there = counted(len(coming), "entrant was", "entrants were")
        return log.Cancelled(reason=f"{there} there at the time of the start: it needs two.")
    return log.Started()


def _check_in_goes_on(state: EventState, now: int, up_since: int) -> bool:
    """True where somebody has not checked in, the server stood still during the check-in, and the grace (or the length
    of the check-in, if that is shorter) has not passed since."""
    times = state.settings.times
    if not times.check_in_s or times.starts_at is None or all(seat.checked_in for seat in state.there):
        return False
    return up_since > times.starts_at - 1000 * times.check_in_s and now < up_since + 1000 * min(
        state.grace_s, times.check_in_s
    )


def _forfeit(state: EventState, now: int, away: Away) -> log.Ended | None:
    """The first game that did not begin in time, or cannot any more."""
    for _, game in state.due_games:
        gone = [color for color in Color if _is_gone(state, game, color, now=now, away=away)]
        if gone:
            result = BOTH_FORFEIT if len(gone) == 2 else forfeited_by(gone[0])
            return log.Ended(
                game=game.id, result=result, why=_why_gone([seat_of(state, game, color) for color in gone])
            )
    return None


def _why_gone(seats: Sequence[Seat]) -> str:
    return " ".join(f"{seat.name} {'has withdrawn' if seat.out else 'did not come'}." for seat in seats)


def _is_gone(state: EventState, game: Game, color: Color, *, now: int, away: Away) -> bool:
    seat = seat_of(state, game, color)
    if seat.out:
        return True
    since = away.get(seat.version)
    if since is None:
        return False
    waited_since = max(since, state.due_at.get(game.id, now), state.resumed_at)
    return now - waited_since >= 1000 * state.grace_s


def seat_of(state: EventState, game: Game, color: Color) -> Seat:
    """Whoever plays this side of a game."""
    return state.seats[game.black if color is Color.BLACK else game.white]
