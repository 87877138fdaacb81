"""What an event is, folded from its log: its phase, its field, the record of its tournament, which games are which.

Every function takes a state and returns the next one; what cannot be is refused, with a sentence, and nothing is
changed. So whoever wants something of an event folds it first, and writes it down if that can be. Must not know: when
anything is due, who is connected, tables.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from cgos_protocol.errors import Code, Conflict, Invalid, NotFound
from cgos_protocol.ids import BotId, GameId, VersionId
from cgos_server.tournaments import event as records
from cgos_server.tournaments.amending import amend
from cgos_server.tournaments.base import Entrant, Event, Game, Pair, Request
from cgos_server.tournaments.checking import MOST_ROUNDS
from cgos_server.tournaments.pairing.replays import due_again
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings, empty_event, require_grace, require_settings
from cgos_server.tournaments.tournament import admit, is_over, system_of
from cgos_server.tournaments.undoing import cancel_bye, strike, take_back_round
from cgos_server.tournaments.words import counted


class Phase(enum.StrEnum):
    """How far an event is."""

    ANNOUNCED = "announced"
    ENTRY = "entry"
    CLOSED = "closed"
    RUNNING = "running"
    OVER = "over"
    CANCELLED = "cancelled"


BEFORE: Final = frozenset({Phase.ANNOUNCED, Phase.ENTRY, Phase.CLOSED})
"""Nothing is paired yet."""
AFTER: Final = frozenset({Phase.OVER, Phase.CANCELLED})
"""Nothing happens any more."""

TAKE_BACK_MS: Final = 600_000
"""How long after the end the last round can be taken back."""


class Seat(Struct, frozen=True, kw_only=True):
    """Somebody who has entered.

    :ivar entrant: number in the event, from 1
    :ivar family: the bot that leads its family
    :ivar owner: number of the account; None: it has none
    :ivar rating: in the venue when it entered, and from the close of entry on as it was then
    :ivar waits: for a place
    :ivar checked_in: it said that it will be there
    :ivar out: it withdrew, did not check in, or got no place
    :ivar withdrawn_by: who took it out after the start; None: nobody did
    :ivar at: when it entered, Unix ms
    """

    entrant: int
    version: VersionId
    bot: BotId
    name: str
    family: BotId
    owner: int | None
    rating: float | None
    at: int
    waits: bool = False
    checked_in: bool = False
    out: bool = False
    withdrawn_by: log.Party | None = None


class EventState(Struct, frozen=True, kw_only=True):
    """An event as it is after some entry of its log.

    :ivar seats: by entrants' numbers, in the order of entering; who withdrew before the start is not there
    :ivar event: the record of the tournament; its entrants are there from the start on, best rated first
    :ivar played_as: game of the event -> game of the server, of all that began; of those that were taken back too
    :ivar given: game of the event -> moves that it began with, of those that began with some
    :ivar due_at: game of the event -> when it was paired, Unix ms
    :ivar open: game of the event -> number of its round, of all that have no result yet
    :ivar forbidden: pairs of entrants' numbers that must not meet, the smaller one first; besides these all that have
        in common what the settings keep apart
    :ivar grace_s: see :class:`cgos_server.tournaments.running.settings.Times`; it may have been extended
    :ivar paused: why nothing is paired; None: it is not paused
    :ivar seq: of the last entry
    :ivar opened_at: when entry opened last, Unix ms
    :ivar resumed_at: when a pause ended last, Unix ms; 0: there was none
    :ivar started_at: Unix ms
    :ivar ended_at: Unix ms
    :ivar followed: names of the events that follow from this one: ``again`` of a series, ``playoff``
    :ivar won_playoff: entrants who won the playoff; several: they share the first place; empty: it is not over, or
        there is none
    """

    settings: EventSettings
    event: Event
    phase: Phase = Phase.ANNOUNCED
    seats: dict[int, Seat] = field(default_factory=dict)
    played_as: dict[int, GameId] = field(default_factory=dict)
    given: dict[int, int] = field(default_factory=dict)
    due_at: dict[int, int] = field(default_factory=dict)
    open: dict[int, int] = field(default_factory=dict)
    forbidden: frozenset[Pair] = frozenset()
    grace_s: int = 300
    paused: str | None = None
    entered: int = 0
    seq: int = 0
    opened_at: int | None = None
    resumed_at: int = 0
    started_at: int | None = None
    ended_at: int | None = None
    followed: dict[str, str] = field(default_factory=dict)
    won_playoff: tuple[int, ...] = ()

    @property
    def there(self) -> list[Seat]:
        """Who has a place, in the order of entering."""
        return [seat for seat in self.seats.values() if not (seat.waits or seat.out)]

    @property
    def waiting(self) -> list[Seat]:
        """Who waits for a place, in the order of entering."""
        return [seat for seat in self.seats.values() if seat.waits]

    @property
    def open_games(self) -> list[tuple[int, Game]]:
        """Number of the round and game, of all that have no result yet."""
        rounds = [self.event.rounds[number - 1] for number in sorted(set(self.open.values()))]
        return [(each.number, game) for each in rounds for game in each.games if game.result is None]

    @property
    def due_games(self) -> list[tuple[int, Game]]:
        """Of these, those that have not begun."""
        return [(number, game) for number, game in self.open_games if game.id not in self.played_as]

    def seat_of(self, version: VersionId) -> Seat | None:
        """Of a version that has entered and not withdrawn before the start; None: of none."""
        return next((seat for seat in self.seats.values() if seat.version == version), None)


def announced(settings: EventSettings) -> EventState:
    """The state before the first entry, which announces it. Raises Refused where it cannot be announced so."""
    require_settings(settings)
    return EventState(settings=settings, event=empty_event(settings), grace_s=settings.times.grace_s)


def fold(entries: Iterable[log.LogEntry]) -> EventState:
    """The state after these entries, of which the first one announces the event."""
    state: EventState | None = None
    for entry in entries:
        if state is None:
            if not isinstance(entry.said, log.Announced):
                raise Invalid(Code.EVENT_LOG, "The log of an event begins with its announcement.")
            state = announced(entry.said.settings)
        state = after(state, entry)
    if state is None:
        raise NotFound(Code.NO_EVENT, "There is no such event.")
    return state


def after(state: EventState, entry: log.LogEntry) -> EventState:
    """The state after one more entry. Raises Refused where it cannot be; the sentence says what to do instead."""
    if state.phase in AFTER and not _may_come_after(state, entry.said):
        raise Invalid(Code.EVENT_OVER, f"{state.settings.name} is {state.phase}: nothing of it can be changed.")
    changed: EventState = _STEPS[type(entry.said)](state, entry)
    return replace(changed, seq=entry.seq)


def _may_come_after(state: EventState, said: log.Said) -> bool:
    """True for what may still be said of an event that is over or cancelled."""
    late = (log.Ruled, log.TakenBack, log.Decided, log.Followed) if state.phase is Phase.OVER else (log.Followed,)
    return isinstance(said, late)


def require_seat(state: EventState, entrant: int) -> Seat:
    """Raises Refused where nobody has entered with that number."""
    if entrant not in state.seats:
        raise NotFound(Code.NO_ENTRANT, f"Nobody entered {state.settings.name} as {entrant}.")
    return state.seats[entrant]


# -- before the start


def _announced(state: EventState, entry: log.LogEntry) -> EventState:
    said: log.Announced = entry.said  # type: ignore[assignment]
    _require_phase(state, BEFORE, "It has started: nothing that was announced can be changed.")
    if said.settings.name != state.settings.name or said.settings.venue != state.settings.venue:
        raise Invalid(Code.EVENT_SETTING, "Name and venue of an event stay. Announce another one.")
    require_settings(said.settings)
    before = state.settings
    if state.phase is not Phase.ANNOUNCED and (said.settings.rated, said.settings.play) != (before.rated, before.play):
        raise Invalid(Code.EVENT_SETTING, "What is played, and whether it is rated, stays as it was when entry opened.")
    return replace(state, settings=said.settings, event=empty_event(said.settings), grace_s=said.settings.times.grace_s)


def _opened(state: EventState, entry: log.LogEntry) -> EventState:
    if state.phase is Phase.RUNNING:
        raise Conflict(Code.EVENT_PHASE, f"{state.settings.name} has started: its entry is closed.")
    _require_phase(state, {Phase.ANNOUNCED, Phase.CLOSED}, f"Entry to {state.settings.name} is open already.")
    return replace(state, phase=Phase.ENTRY, opened_at=entry.at)


def _entered(state: EventState, entry: log.LogEntry) -> EventState:
    said: log.Entered = entry.said  # type: ignore[assignment]
    if said.entrant != state.entered + 1:
        raise Invalid(Code.ENTRANT_ID, f"The next entrant has the number {state.entered + 1}.")
    if state.seat_of(said.version) is not None:
        raise Conflict(Code.ENTERED, f"{said.name} has entered {state.settings.name} already.")
    seat = Seat(
        entrant=said.entrant,
        version=said.version,
        bot=said.bot,
        name=said.name,
        family=said.family,
        owner=said.owner,
        rating=said.rating,
        at=entry.at,
        waits=said.waits,
    )
    if state.phase is Phase.RUNNING:
        if said.waits:
            raise Conflict(Code.EVENT_LIMIT, f"{state.settings.name} has started, and all its places are taken.")
        state = replace(state, event=admit(state.event, _entrant(seat, len(state.event.rounds) + 1)))
    return _kept_apart(replace(_seated(state, seat), entered=said.entrant))


def _admitted(state: EventState, entry: log.LogEntry) -> EventState:
    seat = require_seat(state, entry.said.entrant)  # type: ignore[union-attr]
    _require_phase(state, BEFORE, "The field is fixed: nobody comes in from the waiting list any more.")
    if not seat.waits:
        raise Conflict(Code.ENTERED, f"{seat.name} has its place in {state.settings.name} already.")
    return _seated(state, replace(seat, waits=False))


def _checked_in(state: EventState, entry: log.LogEntry) -> EventState:
    seat = require_seat(state, entry.said.entrant)  # type: ignore[union-attr]
    _require_phase(state, BEFORE, "The check-in is over: the event has started.")
    _require_check_in(state.settings, entry.at)
    return _seated(state, replace(seat, checked_in=True))


def _closed(state: EventState, entry: log.LogEntry) -> EventState:
    said: log.Closed = entry.said  # type: ignore[assignment]
    _require_phase(state, {Phase.ANNOUNCED, Phase.ENTRY}, f"Entry to {state.settings.name} is closed already.")
    seats = {number: replace(seat, rating=said.ratings.get(number)) for number, seat in state.seats.items()}
    return replace(state, phase=Phase.CLOSED, seats=seats)


def _started(state: EventState, entry: log.LogEntry) -> EventState:
    _require_phase(state, {Phase.CLOSED}, f"Entry to {state.settings.name} closes before it starts.")
    checks_in = state.settings.times.check_in_s > 0
    seats = {
        number: replace(seat, out=seat.waits or (checks_in and not seat.checked_in), waits=False)
        for number, seat in state.seats.items()
    }
    state = replace(state, phase=Phase.RUNNING, seats=seats, started_at=entry.at)
    if len(state.there) < 2:
        raise Invalid(
            Code.TOO_FEW_ENTRANTS,
            f"{state.settings.name} has {counted(len(state.there), 'entrant')}: it needs two to start.",
        )
    best_first = sorted(state.there, key=lambda seat: (seat.rating is None, -(seat.rating or 0.0), seat.entrant))
    return _kept_apart(replace(state, event=replace(state.event, entrants=tuple(map(_entrant, best_first)))))


# -- while it runs


def _withdrawn(state: EventState, entry: log.LogEntry) -> EventState:
    said: log.Withdrawn = entry.said  # type: ignore[assignment]
    seat = require_seat(state, said.entrant)
    if state.phase in BEFORE:
        return replace(state, seats={number: one for number, one in state.seats.items() if one is not seat})
    if seat.out:
        raise Conflict(Code.EVENT_PHASE, f"{seat.name} is not in {state.settings.name} any more.")
    event = records.withdraw(state.event, seat.entrant)
    return _seated(replace(state, event=event), replace(seat, out=True, withdrawn_by=said.by))


def _rejoined(state: EventState, entry: log.LogEntry) -> EventState:
    seat = require_seat(state, entry.said.entrant)  # type: ignore[union-attr]
    _require_running(state)
    if not seat.out:
        raise Conflict(Code.ENTERED, f"{seat.name} has not withdrawn from {state.settings.name}.")
    if seat.entrant in state.event.by_id:
        event = records.rejoin(state.event, seat.entrant)
    else:
        event = admit(state.event, _entrant(seat, len(state.event.rounds) + 1))
    seat = replace(seat, out=False, withdrawn_by=None)
    return _kept_apart(_seated(replace(state, event=event), seat))


def _bye_asked(state: EventState, entry: log.LogEntry) -> EventState:
    said: log.ByeAsked = entry.said  # type: ignore[assignment]
    _require_running(state)
    request = Request(said.entrant, said.round, said.points)
    return replace(state, event=records.request_bye(state.event, request))


def _bye_cancelled(state: EventState, entry: log.LogEntry) -> EventState:
    said: log.ByeCancelled = entry.said  # type: ignore[assignment]
    _require_running(state)
    return replace(state, event=cancel_bye(state.event, said.entrant, said.round))


def _struck(state: EventState, entry: log.LogEntry) -> EventState:
    seat = require_seat(state, entry.said.entrant)  # type: ignore[union-attr]
    _require_running(state)
    return _seated(
        replace(state, event=strike(state.event, seat.entrant)), replace(seat, out=True, withdrawn_by="operator")
    )


def _forbidden(state: EventState, entry: log.LogEntry) -> EventState:
    said: log.Forbidden = entry.said  # type: ignore[assignment]
    pairs, settings = _pairs_of(state, said), state.settings
    same = () if said.same is None or said.same in settings.apart else (said.same,)
    if not same and pairs <= state.forbidden:
        raise Conflict(Code.NO_CHANGE, f"They must not meet in {settings.name} already.")
    settings = replace(settings, apart=(*settings.apart, *same))
    return _kept_apart(replace(state, settings=settings, forbidden=state.forbidden | pairs))


def _lifted(state: EventState, entry: log.LogEntry) -> EventState:
    said: log.Lifted = entry.said  # type: ignore[assignment]
    pairs, settings = _pairs_of(state, said), state.settings
    if said.same not in settings.apart and not pairs & state.forbidden:
        besides = f" All of one {' and of one '.join(settings.apart)} are: lift that." if settings.apart else ""
        raise Invalid(Code.NOT_FORBIDDEN, f"Those are not kept apart by name in {settings.name}.{besides}")
    settings = replace(settings, apart=tuple(word for word in settings.apart if word != said.same))
    return _kept_apart(replace(state, settings=settings, forbidden=state.forbidden - pairs))


def _pairs_of(state: EventState, said: log.Forbidden | log.Lifted) -> frozenset[Pair]:
    """The pairs that are meant by name. Raises Refused where none is, nor what entrants have in common."""
    for entrant in said.entrants:
        require_seat(state, entrant)
    named = sorted(set(said.entrants))
    if len(named) == 1 or not (named or said.same):
        raise Invalid(Code.SAME_ENTRANT, "Name two entrants or more, or what those have in common who are meant.")
    return frozenset(combinations(named, 2))


def _kept_apart(state: EventState) -> EventState:
    """With those kept apart in the record who must not meet, now that somebody came or that is otherwise."""
    known = state.event.by_id
    groups: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for seat in sorted(state.seats.values(), key=lambda seat: seat.entrant):
        if seat.entrant not in known:
            continue
        if "family" in state.settings.apart:
            groups["family", seat.family].append(seat.entrant)
        if "owner" in state.settings.apart:
            groups[("bot", seat.bot) if seat.owner is None else ("owner", seat.owner)].append(seat.entrant)
    pairs = {pair for group in groups.values() for pair in combinations(group, 2)}
    pairs.update(pair for pair in state.forbidden if known.keys() >= set(pair))
    return replace(state, event=records.forbid_these(state.event, pairs))


def _paired(state: EventState, entry: log.LogEntry) -> EventState:
    said: log.Paired = entry.said  # type: ignore[assignment]
    _require_running(state)
    event = records.begin(state.event, said.round)
    number = said.round.number
    new = [game for game in event.rounds[number - 1].games if game.id not in state.due_at]
    due = state.due_at | {game.id: entry.at for game in new}
    opened = state.open | {game.id: number for game in new if game.result is None}
    return replace(state, event=event, due_at=due, open=opened)


def _began(state: EventState, entry: log.LogEntry) -> EventState:
    said: log.Began = entry.said  # type: ignore[assignment]
    _require_running(state)
    if said.game not in state.open or said.game in state.played_as:
        raise Invalid(
            Code.HAS_RESULT, f"Game {said.game} of {state.settings.name} is none, has begun, or has its result."
        )
    given = state.given | {said.game: said.given} if said.given else state.given
    return replace(state, played_as=state.played_as | {said.game: said.played_as}, given=given)


def _ended(state: EventState, entry: log.LogEntry) -> EventState:
    said: log.Ended = entry.said  # type: ignore[assignment]
    _require_running(state)
    event = records.end(state.event, said.game, said.result)
    still_open = state.open.copy()
    still_open.pop(said.game, None)
    return replace(state, event=event, open=still_open)


def _ruled(state: EventState, entry: log.LogEntry) -> EventState:
    said: log.Ruled = entry.said  # type: ignore[assignment]
    amended, taken_back = amend(state.event, said.game, said.result, said.with_results)
    # Where the operator ended it as it stood, nothing is paired that the ruling does not ask for.
    asks_for_games = bool(taken_back or records.open_games(amended) or due_again(amended))
    if state.phase is Phase.OVER and not is_over(amended) and (asks_for_games or is_over(state.event)):
        state = replace(state, phase=Phase.RUNNING, ended_at=None)
    state = _with_record(state, amended)
    if said.result is not None:
        return state
    # It is due now, for the first time in this sense: whatever was played as it is no game of the event any more.
    played_as = {game: played for game, played in state.played_as.items() if game != said.game}
    given = {game: moves for game, moves in state.given.items() if game != said.game}
    return replace(state, played_as=played_as, given=given, due_at=state.due_at | {said.game: entry.at})


def _taken_back(state: EventState, entry: log.LogEntry) -> EventState:
    said: log.TakenBack = entry.said  # type: ignore[assignment]
    if state.ended_at is not None:
        if entry.at - state.ended_at > TAKE_BACK_MS:
            until = "its last round could be taken back for ten minutes after the end"
            raise Invalid(Code.EVENT_OVER, f"{state.settings.name} is over: {until}.")
        state = replace(state, phase=Phase.RUNNING, ended_at=None)
    _require_running(state)
    return _with_record(state, take_back_round(state.event, said.with_results))


def _pause(state: EventState, entry: log.LogEntry) -> EventState:
    _require_running(state)
    if state.paused is not None:
        raise Conflict(Code.EVENT_PAUSED, f"{state.settings.name} is paused already.")
    return replace(state, paused=entry.said.reason)  # type: ignore[union-attr]


def _resumed(state: EventState, entry: log.LogEntry) -> EventState:
    _require_running(state)
    if state.paused is None:
        raise Conflict(Code.EVENT_PAUSED, f"{state.settings.name} is not paused.")
    return replace(state, paused=None, resumed_at=entry.at)


def _extended(state: EventState, entry: log.LogEntry) -> EventState:
    said: log.Extended = entry.said  # type: ignore[assignment]
    _require_running(state)
    if said.rounds is not None:
        begun = len(state.event.rounds)
        if not max(begun, 1) <= said.rounds <= MOST_ROUNDS:
            raise Invalid(
                Code.PLANNED, f"{begun} rounds have begun. Plan as many or more, up to {MOST_ROUNDS}, or finish it."
            )
        state = replace(state, event=replace(state.event, planned=said.rounds))
    if said.grace_s is None:
        return state
    require_grace(said.grace_s)
    return replace(state, grace_s=said.grace_s)


def _finished(state: EventState, entry: log.LogEntry) -> EventState:
    _require_running(state)
    if state.open:
        raise Invalid(Code.ROUND_OPEN, f"{len(state.open)} games of {state.settings.name} have no result yet.")
    return replace(state, phase=Phase.OVER, ended_at=entry.at, paused=None)


def _followed(state: EventState, entry: log.LogEntry) -> EventState:
    said: log.Followed = entry.said  # type: ignore[assignment]
    if said.why in state.followed:
        raise Conflict(Code.EVENT_PHASE, f"{state.settings.name} is followed by {state.followed[said.why]} already.")
    return replace(state, followed=state.followed | {said.why: said.by})


def _decided(state: EventState, entry: log.LogEntry) -> EventState:
    said: log.Decided = entry.said  # type: ignore[assignment]
    for entrant in said.entrants:
        require_seat(state, entrant)
    return replace(state, won_playoff=said.entrants)


def _cancelled(state: EventState, entry: log.LogEntry) -> EventState:
    return replace(state, phase=Phase.CANCELLED, ended_at=entry.at, paused=None)


_STEPS: Final[dict[type[Any], Callable[[EventState, log.LogEntry], EventState]]] = {
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
    log.Paused: _pause,
    log.Resumed: _resumed,
    log.Extended: _extended,
    log.Finished: _finished,
    log.Cancelled: _cancelled,
    log.Followed: _followed,
    log.Decided: _decided,
}


def closed_to(state: EventState) -> str:
    """Why nobody can enter just now, as a sentence; empty where somebody can."""
    name = state.settings.name
    if state.phase is Phase.ENTRY:
        return ""
    if state.phase is Phase.RUNNING:
        if not state.settings.late:
            return f"{name} has started, and takes nobody late."
        return system_of(state.event).closed(state.event)
    if state.phase is Phase.ANNOUNCED:
        return f"Entry to {name} has not opened yet."
    return f"Entry to {name} is closed."


def _entrant(seat: Seat, joined: int = 1) -> Entrant:
    return Entrant(id=seat.entrant, name=seat.name, rating=seat.rating, club=str(seat.family), joined=joined)


def _seated(state: EventState, seat: Seat) -> EventState:
    return replace(state, seats=state.seats | {seat.entrant: seat})


def _with_record(state: EventState, event: Event) -> EventState:
    """The state with another record, of which anything may have gone."""
    return replace(state, event=event, open={game.id: number for number, game in records.open_games(event)})


def _require_check_in(settings: EventSettings, at: int) -> None:
    """Raises Refused where an event asks for no check-in, or not yet."""
    times = settings.times
    if not times.check_in_s or times.starts_at is None:
        raise Conflict(Code.EVENT_PHASE, f"{settings.name} asks for no check-in: who has entered is in.")
    early_ms = times.starts_at - 1000 * times.check_in_s - at
    if early_ms > 0:
        opens, before = (
            counted(max(1, round(seconds / 60)), "minute") for seconds in (early_ms / 1000, times.check_in_s)
        )
        raise Conflict(
            Code.EVENT_PHASE, f"The check-in of {settings.name} opens in {opens}, {before} before its start."
        )


def _require_phase(state: EventState, phases: Iterable[Phase], sentence: str) -> None:
    if state.phase not in phases:
        raise Conflict(Code.EVENT_PHASE, sentence)


_require_running = partial(_require_phase, phases=(Phase.RUNNING,), sentence="The event is not running.")
