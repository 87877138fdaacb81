"""What an entry of an event's log means to each entrant: what it is told, in its own words.

Values in, values out: who is told, and what. Must not know: who is connected, wire formats, when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypeAlias

from cgos_protocol.event_news import EventNews, EventWhat
from cgos_protocol.games.base import Color
from cgos_server.tournaments import event as records
from cgos_server.tournaments.base import Game, Round
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.state import EventState, Phase, Seat
from cgos_server.tournaments.tournament import standings
from cgos_server.tournaments.words import counted, in_points, listed


class Told(NamedTuple):
    """What one entrant is told."""

    seat: Seat
    news: EventNews


_Step: TypeAlias = Callable[[EventState, Any, EventState], Iterable[Told]]


def news_of(before: EventState, said: log.Said, after: EventState) -> Iterator[Told]:
    """What follows for whom from one entry of the log, one by one; `before` and `after` are the states round it."""
    step = _STEPS.get(type(said))
    return iter(()) if step is None else iter(step(before, said, after))


def standing(state: EventState, seat: Seat) -> EventNews:
    """Where an entrant stands, for who comes back or enters once more."""
    name = state.settings.name
    if seat.out:
        return _news(state, EventWhat.WITHDRAWN, f"You are not in {name} any more.")
    if seat.waits:
        return _waits(state, seat)
    begun, at = len(state.event.rounds), state.settings.times.starts_at
    if state.phase is Phase.RUNNING:
        where = f": round {begun} has begun" if begun else ""
        text = f"You are in {name}{where}.{_missed(state, seat)}"
    else:
        text = f"You have entered {name}{'' if at is None else f': it starts at {_time(at)} UTC'}."
    return _news(state, EventWhat.ENTERED, text, round=begun)


def _missed(state: EventState, seat: Seat) -> str:
    """What an entrant lost while it was away, as a sentence; empty where that is nothing."""
    rounds = [str(number) for number, game in state.event.games if _has_forfeited(game, seat.entrant)]
    what = "games of rounds" if len(rounds) > 1 else "game of round"
    return f" You have forfeited your {what} {listed(rounds)}." if rounds else ""


def check_in_asked(state: EventState) -> EventNews:
    """An entrant is to say that it will be there. Only where there is a check-in."""
    at = state.settings.times.starts_at
    assert at is not None
    name = state.settings.name
    text = f"{name} starts at {_time(at)} UTC. Check in before: who does not is out."
    return _news(state, EventWhat.CHECK_IN, text, until_ms=at)


def checked_in(state: EventState, signed_in: bool = False) -> EventNews:
    """An entrant has said that it will be there, or counts as one who said so because it is `signed_in`."""
    name = state.settings.name
    text = f"You count as checked in to {name}: you are signed in." if signed_in else f"You have checked in to {name}."
    return _news(state, EventWhat.CHECKED_IN, text)


# -- before the start


def _entered(before: EventState, said: log.Entered, after: EventState) -> Iterator[Told]:  # noqa: ARG001
    seat = after.seats[said.entrant]
    yield Told(seat, standing(after, seat))


def _admitted(before: EventState, said: log.Admitted, after: EventState) -> Iterator[Told]:  # noqa: ARG001
    text = f"You have a place in {after.settings.name} now."
    yield Told(after.seats[said.entrant], _news(after, EventWhat.ADMITTED, text))


def _checked_in(before: EventState, said: log.CheckedIn, after: EventState) -> Iterator[Told]:  # noqa: ARG001
    yield Told(after.seats[said.entrant], checked_in(after, said.signed_in))


def _started(before: EventState, said: log.Started, after: EventState) -> Iterator[Told]:  # noqa: ARG001
    name, there = after.settings.name, after.there
    text = f"{name} has started: {counted(len(there), 'entrant')}."
    started = _news(after, EventWhat.STARTED, text, entrants=len(there))
    for number, seat in after.seats.items():
        if not seat.out:
            yield Told(seat, started)
        elif not before.seats[number].out:
            why = "no place became free for you" if before.seats[number].waits else "you did not check in"
            yield Told(seat, _news(after, EventWhat.LEFT_OUT, f"{name} has started without you: {why}."))


# -- while it runs


_WHO_WITHDREW: Final[dict[log.Party, str]] = {
    "server": "You have been withdrawn",
    "bot": "You have withdrawn",
    "owner": "Your owner has withdrawn you",
    "operator": "The operator has withdrawn you",
}


def _withdrawn(before: EventState, said: log.Withdrawn, after: EventState) -> Iterator[Told]:
    reason = f": {said.reason}" if said.reason else ""
    text = f"{_WHO_WITHDREW[said.by]} from {after.settings.name}{reason.rstrip('.')}."
    yield Told(before.seats[said.entrant], _news(after, EventWhat.WITHDRAWN, text))


def _struck(before: EventState, said: log.Struck, after: EventState) -> Iterator[Told]:
    text = f"You are struck out of {after.settings.name}: {said.reason.rstrip('.')}."
    seat = before.seats[said.entrant]
    if not seat.out:
        yield Told(seat, _news(after, EventWhat.WITHDRAWN, text))


def _rejoined(before: EventState, said: log.Rejoined, after: EventState) -> Iterator[Told]:  # noqa: ARG001
    text = f"You are in {after.settings.name} again."
    yield Told(after.seats[said.entrant], _news(after, EventWhat.REJOINED, text))


def _paired(before: EventState, said: log.Paired, after: EventState) -> Iterator[Told]:  # noqa: ARG001
    games: dict[tuple[int, int], list[Game]] = {}
    for game in said.round.games:
        games.setdefault(game.pair, []).append(game)
    number, name = said.round.number, after.settings.name
    for series in games.values():
        first = series[0]
        for color, entrant, other in _sides(first):
            opponent = after.seats[other].name
            how = f"as {color.name.capitalize()}" if len(series) == 1 else f"{len(series)} games"
            news = _news(
                after,
                EventWhat.PAIRED,
                f"Round {number} of {name}: you play {opponent}{',' if len(series) > 1 else ''} {how}.",
                round=number,
                opponent=opponent,
                color=color,
            )
            yield Told(after.seats[entrant], news)
    for bye in said.round.byes:
        text = f"Round {number} of {name}: you have a bye, for {_points(bye.points)}."
        yield Told(after.seats[bye.entrant], _news(after, EventWhat.BYE, text, round=number))


def _ended(before: EventState, said: log.Ended, after: EventState) -> Iterator[Told]:
    if said.result.how != "forfeit":
        return  # its players are told by the game itself
    placed = records.game_by_id(before.event, said.game)
    name = after.settings.name
    points = {Color.BLACK: said.result.black, Color.WHITE: said.result.white}
    for color, entrant, other in _sides(placed.game):
        opponent = after.seats[other].name
        lost = not points[color]
        why = _why_forfeited(after, said, *((entrant, "you") if lost else (other, "it")))
        text = (
            f"Round {placed.round} of {name}: you have forfeited your game against {opponent}{why}."
            if lost
            else f"Round {placed.round} of {name}: {opponent} has forfeited its game against you{why}."
        )
        what = EventWhat.FORFEITED if lost else EventWhat.WALKOVER
        yield Told(after.seats[entrant], _news(after, what, text, round=placed.round, opponent=opponent, color=color))


def _why_forfeited(state: EventState, said: log.Ended, entrant: int, who: str) -> str:
    if said.game in state.played_as:  # it began, and one of them did not move
        return f": {said.why.rstrip('.')}" if said.why else ""
    if state.seats[entrant].out:
        return f": {who} had withdrawn"
    minutes, seconds = divmod(state.grace_s, 60)
    return f": {who} did not come within {counted(state.grace_s, 'second') if seconds else counted(minutes, 'minute')}"


def _ruled(before: EventState, said: log.Ruled, after: EventState) -> Iterator[Told]:
    placed = records.game_by_id(before.event, said.game)
    how = "is to be played again" if said.result is None or said.result.how == "void" else _score(said)
    for color, entrant, other in _sides(placed.game):
        opponent = after.seats[other].name
        text = (
            f"Round {placed.round} of {after.settings.name}: your game against {opponent} {how}, "
            f"by the operator's ruling: {said.reason.rstrip('.')}."
        )
        yield Told(
            after.seats[entrant],
            _news(after, EventWhat.RULED, text, round=placed.round, opponent=opponent, color=color),
        )


def _score(said: log.Ruled) -> str:
    assert said.result is not None
    if said.result.how == "no-contest":
        return "does not count"
    return f"counts {_points(said.result.black)} for Black and {_points(said.result.white)} for White"


def _taken_back(before: EventState, said: log.TakenBack, after: EventState) -> Iterator[Told]:
    gone: Round = before.event.rounds[-1]
    text = f"Round {gone.number} of {after.settings.name} is taken back: {said.reason.rstrip('.')}."
    news = _news(after, EventWhat.TAKEN_BACK, text, round=gone.number)
    for entrant in dict.fromkeys(gone.ids):
        yield Told(after.seats[entrant], news)


def _pause(before: EventState, said: log.Paused, after: EventState) -> Iterator[Told]:  # noqa: ARG001
    reason = f": {said.reason}" if said.reason else ""
    text = f"{after.settings.name} is paused{reason.rstrip('.')}."
    yield from _all(after, _news(after, EventWhat.PAUSED, text))


def _resumed(before: EventState, said: log.Resumed, after: EventState) -> Iterator[Told]:  # noqa: ARG001
    yield from _all(after, _news(after, EventWhat.RESUMED, f"{after.settings.name} goes on."))


def _finished(before: EventState, said: log.Finished, after: EventState) -> Iterator[Told]:  # noqa: ARG001
    rows = standings(after.event).rows
    for row in rows:
        text = f"{after.settings.name} is over: your place is {row.place} of {len(rows)}."
        news = _news(after, EventWhat.ENDED, text, place=row.place, entrants=len(rows))
        yield Told(after.seats[row.entrant], news)


def _cancelled(before: EventState, said: log.Cancelled, after: EventState) -> Iterator[Told]:  # noqa: ARG001
    text = f"{after.settings.name} is cancelled: {said.reason.rstrip('.')}."
    news = _news(after, EventWhat.CANCELLED, text)
    for seat in after.seats.values():
        if not seat.out:
            yield Told(seat, news)


def _followed(before: EventState, said: log.Followed, after: EventState) -> Iterator[Told]:  # noqa: ARG001
    if said.why == "again":
        text = f"{after.settings.name} is followed by {said.by}."
        news = _news(after, EventWhat.FOLLOWED, text, next=said.by)
        yield from (Told(seat, news) for seat in after.seats.values() if seat.withdrawn_by is None)


_STEPS: Final[dict[type[Any], _Step]] = {
    log.Entered: _entered,
    log.Admitted: _admitted,
    log.CheckedIn: _checked_in,
    log.Started: _started,
    log.Withdrawn: _withdrawn,
    log.Struck: _struck,
    log.Rejoined: _rejoined,
    log.Paired: _paired,
    log.Ended: _ended,
    log.Ruled: _ruled,
    log.TakenBack: _taken_back,
    log.Paused: _pause,
    log.Resumed: _resumed,
    log.Finished: _finished,
    log.Cancelled: _cancelled,
    log.Followed: _followed,
}


def _news(state: EventState, what: EventWhat, text: str, **more: Any) -> EventNews:
    settings = state.settings
    return EventNews(
        event=settings.name, venue=settings.venue, what=what, text=text, series=settings.series_name, **more
    )


def _waits(state: EventState, seat: Seat) -> EventNews:
    ahead = [one for one in state.waiting if one.entrant < seat.entrant]
    who = f"{counted(len(ahead), 'entrant')} before you" if ahead else "you are the next"
    return _news(state, EventWhat.WAITING, f"You wait for a place in {state.settings.name}: {who}.")


def _all(state: EventState, news: EventNews) -> Iterator[Told]:
    return (Told(seat, news) for seat in state.there)


def _sides(game: Game) -> tuple[tuple[Color, int, int], ...]:
    """Color, entrant and opponent of both."""
    return (Color.BLACK, game.black, game.white), (Color.WHITE, game.white, game.black)


def _has_forfeited(game: Game, entrant: int) -> bool:
    result = game.result
    if result is None or result.how != "forfeit" or entrant not in (game.black, game.white):
        return False
    return not (result.black if entrant == game.black else result.white)


def _points(half: int) -> str:
    """Half points as points."""
    return in_points(half / 2)


def _time(at: int) -> str:
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M}"
