"""Between bots and the events: what a bot wants of one, and what it is told of it.

A bot enters as itself, under the limits of owners and families, and is told after the commit, in the venue of the
event, as far as it is there. Must not know: how events go on, wire formats, SQL.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from cgos_protocol.errors import Code, Invalid, NotFound, Refused, StoreError
from cgos_protocol.event_news import EventWish
from cgos_protocol.session import PlayerSession
from cgos_server.live.events.director import EventDirector
from cgos_server.live.events.runner import SERVER
from cgos_server.live.venue.live_venue import LiveVenue
from cgos_server.live.venue.player import Player
from cgos_server.net.loop import Timekeeper
from cgos_server.storage.store import Store
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.admission import (
    Candidate,
    check_in_is_open,
    checking_in,
    entering,
    rejoining,
    withdrawing,
)
from cgos_server.tournaments.running.news import Told, check_in_asked, checked_in, news_of, standing
from cgos_server.tournaments.running.state import AFTER, EventState, Seat

EVERY_S: Final = 1.0
"""So often it is looked whether a check-in has begun."""

MOST_INLINE: Final = 12
"""Entrants up to which standings are made in the event loop: some milliseconds."""

SLICE: Final = 32
"""Entrants who are told before the loop gets a turn."""


class EventHerald:
    """One a server. The :class:`~cgos_server.live.venue.event_door.EventDoor` of all its lobbies.

    :param spawn: starts a coroutine in the server's task group
    """

    def __init__(
        self,
        director: EventDirector,
        venues: Mapping[str, LiveVenue],
        store: Store,
        time: Timekeeper,
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._director = director
        self._venues = venues
        self._store = store
        self._time = time
        self._spawn = spawn
        # As they are in the store: the director's are a moment ahead.
        self._committed: dict[str, EventState] = {}
        self._asked: set[str] = set()

    def open(self) -> None:
        """From now on the lobbies bring bots here, and the director says what happens."""
        states = {name: runner.state for name, runner in self._director.runners.items()}
        self._committed = {name: state for name, state in states.items() if state.phase not in AFTER}
        self._director.committed.append(self.happened)
        for live in self._venues.values():
            live.lobby.events = self

    async def run(self) -> None:
        """For ever: ask for check-ins when they begin."""
        while True:
            self.look()
            await asyncio.sleep(EVERY_S)

    # -- what happens

    def happened(self, before: EventState, said: log.Said | None, after: EventState) -> None:
        """An entry of an event's log is committed: tell whom it concerns, as far as they are here."""
        name, live = after.settings.name, self._venues.get(after.settings.venue)
        if after.phase in AFTER:
            self._committed.pop(name, None)
            self._asked.discard(name)
        else:
            self._committed[name] = after
        if live is None or said is None:
            return
        news = news_of(before, said, after)
        if isinstance(said, log.Finished) and len(after.seats) > MOST_INLINE:
            self._spawn(self._tell_places(live, news))
            return
        self._tell(live, news)
        if isinstance(said, log.Entered) and name in self._asked:
            self._ask(live, after, [after.seats[said.entrant]])

    async def _tell_places(self, live: LiveVenue, news: Iterator[Told]) -> None:
        """The standings of a large field take their time, which no move waits for."""
        self._tell(live, iter(await asyncio.to_thread(list, news)))

    def look(self) -> None:
        """Ask for what has become due."""
        now = self._time.wall_ms()
        for name, state in list(self._committed.items()):
            if not check_in_is_open(state, now):
                self._asked.discard(name)
                continue
            live = self._venues[state.settings.venue]
            if name not in self._asked:
                self._asked.add(name)
                self._ask(live, state, [seat for seat in state.seats.values() if not (seat.checked_in or seat.out)])
            self._check_in_by_lines(live, name, now)

    def _ask(self, live: LiveVenue, state: EventState, seats: Iterable[Seat]) -> None:
        """Have these say that they will be there, as far as they can say it."""
        asked = check_in_asked(state)
        self._tell(live, (Told(seat, asked) for seat in seats if not _is_on_lines(live, seat)))

    def _check_in_by_lines(self, live: LiveVenue, event: str, now: int) -> None:
        """Whoever is signed in on the CGOS lines cannot say that it will be there: it counts as one who said so."""
        state = self._director.state(event)
        if check_in_is_open(state, now):
            for seat in state.seats.values():
                if not seat.checked_in and _is_on_lines(live, seat):
                    self._director.say(event, log.CheckedIn(entrant=seat.entrant, signed_in=True), SERVER)

    def _tell(self, live: LiveVenue, news: Iterator[Told]) -> None:
        now = list(islice(news, SLICE))
        for seat, each in now:
            player = live.roster.players.get(seat.version)
            if player is not None and player.session is not None:
                player.session.event(each)
        if len(now) == SLICE:
            self._time.call_at(self._time.now(), self._tell, live, news)

    # -- what lobbies ask (EventDoor)

    def arrived(self, venue: str, player: Player) -> None:
        """See :class:`~cgos_server.live.venue.event_door.EventDoor`."""
        session, now = player.session, self._time.wall_ms()
        for state in self._committed.values():
            seat = state.seat_of(player.version) if state.settings.venue == venue else None
            if seat is None or seat.out or session is None:
                continue
            session.event(standing(state, seat))
            if not seat.checked_in and not session.says_ready and check_in_is_open(state, now):
                session.event(check_in_asked(state))

    def wish(self, player: Player, session: PlayerSession, wish: EventWish, event: str) -> None:
        """See :class:`~cgos_server.live.venue.event_door.EventDoor`."""
        if wish is EventWish.ENTER:
            self._spawn(self._enter(player, session, event))
            return
        try:
            name = self._meant(event, player)
            state = self._state(name)
            if wish is EventWish.WITHDRAW:
                said: log.Said | None = withdrawing(state, player.version)
            else:
                said = checking_in(state, player.version)
            if said is not None:
                self._director.say(name, said, _actor(player))
            elif self._seat(name, player) is not None:
                session.event(checked_in(state))
        except Refused as refusal:
            session.event_refused(event, refusal.code, refusal.sentence)

    async def _enter(self, player: Player, session: PlayerSession, event: str) -> None:
        """Enter a version as itself; whatever comes of it, it hears."""
        try:
            name = self._meant(event)
            if self._is_in(player, session, name):
                return
            owner = await self._store.history.people.owner_of(player.name)
            if player.session is session and not self._is_in(player, session, name):
                self._director.say(name, self._entry(player, name, owner), _actor(player))
        except Refused as refusal:
            session.event_refused(event, refusal.code, refusal.sentence)
        except StoreError:
            sentence = "The server cannot reach its database just now. Please try again in a minute."
            session.event_refused(event, Code.STORE, sentence)

    def _meant(self, name: str, player: Player | None = None) -> str:
        """The event that a bot means: by the name of a series the latest of it that is not over, where there is one of
        those that `player` is in."""
        runners = sorted(self._director.runners.values(), key=lambda runner: runner.id)
        series = [
            runner.state
            for runner in runners
            if runner.state.settings.series_name == name and runner.state.phase not in AFTER
        ]
        own = [state for state in series if player is not None and _is_there(state, player)]
        return (own or series)[-1].settings.name if series else name

    def _is_in(self, player: Player, session: PlayerSession, event: str) -> bool:
        """True where it has entered: then it hears so again, or as soon as that is committed; who withdrew comes back.

        :raises Refused: where there is no such event, the bot is not in its venue, or is out and cannot come back
        """
        state = self._state(event)
        seat = state.seat_of(player.version)
        venue = state.settings.venue
        there = self._venues[venue].roster.players.get(player.version)
        if there is None or there.session is None:
            raise NotFound(
                Code.NO_EVENT, f"{event} is held in {venue}, where you are not signed in. Sign in there, too."
            )
        if seat is not None and seat.out:
            self._director.say(event, rejoining(state, seat, by="bot"), _actor(player))
            return True
        committed = self._seat(event, player)
        if committed is not None and not committed.out:
            session.event(standing(self._committed[event], committed))
        return seat is not None

    def _seat(self, event: str, player: Player) -> Seat | None:
        """Its entry, once that is committed."""
        return self._committed[event].seat_of(player.version) if event in self._committed else None

    def _entry(self, player: Player, event: str, owner: int | None) -> log.Entered:
        state = self._state(event)
        live = self._venues[state.settings.venue]
        candidate = Candidate(
            version=player.version,
            bot=player.bot,
            name=player.name,
            family=live.roster.families.leader(player.bot),
            owner=owner,
            rating=self._director.rating(live.venue.name, player.version),
        )
        return entering(state, candidate, by_operator=False)

    def _state(self, event: str) -> EventState:
        """Of an event that is coming or on. Raises Refused."""
        try:
            state = self._director.state(event)
        except NotFound:
            raise NotFound(Code.NO_EVENT, f"There is no event {event} that is coming or on.") from None
        if state.phase in AFTER:
            raise Invalid(Code.EVENT_OVER, f"{event} is {state.phase}.")
        return state


def _is_there(state: EventState, player: Player) -> bool:
    seat = state.seat_of(player.version)
    return seat is not None and not seat.out


def _is_on_lines(live: LiveVenue, seat: Seat) -> bool:
    """True where an entrant is signed in on the CGOS lines, which have no words for events."""
    player = live.roster.players.get(seat.version)
    return player is not None and player.session is not None and player.session.says_ready


def _actor(player: Player) -> str:
    """How an event's log names a bot that acts for itself."""
    return f"bot {player.name}"
