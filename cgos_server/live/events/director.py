"""All events of the server: each goes on by itself, its games begin before others, and their ends go to its log.

Decides which players are kept for an event. Must not know: systems, limits of entry, wire formats, SQL.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import Any, NamedTuple

import structlog

from cgos_protocol.errors import Code, Conflict, Invalid, NotFound, StoreError
from cgos_protocol.event_news import Occasion
from cgos_protocol.games.base import Color
from cgos_protocol.ids import BotId, EventId, GameId, VersionId
from cgos_protocol.verdict import Reason, Verdict
from cgos_server.live.events.due_games import HARDLY_BEGUN, Due, choose, is_free, meanwhile
from cgos_server.live.events.event_pairer import EventPairer
from cgos_server.live.events.event_terms import begins_with, event_terms, require_playable
from cgos_server.live.events.following import Following
from cgos_server.live.events.presence import Presence
from cgos_server.live.events.runner import SERVER, Committed, EventRunner, read_log
from cgos_server.live.games.live_game import LiveGame
from cgos_server.live.venue.elsewhere import Elsewhere
from cgos_server.live.venue.live_venue import LiveVenue
from cgos_server.live.venue.player import Player
from cgos_server.net.loop import Timekeeper
from cgos_server.service.holds import Hold
from cgos_server.service.ids import Ids
from cgos_server.storage.reading.events.questions import EventGameRow, EventRow
from cgos_server.storage.store import Store
from cgos_server.storage.writing.records import EventAdded, Record
from cgos_server.tournaments.base import Game
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings, require_settings
from cgos_server.tournaments.running.state import AFTER, EventState, Phase, announced, fold
from cgos_server.tournaments.running.steps import forfeited_by, result_of, seat_of

log_ = structlog.get_logger(__name__)

EVERY_S = 1.0
"""Events are looked at so often, and whenever something happens."""

MOST_AT_ONCE = 4
"""Games that begin before the loop gets a turn, and the disk too. A look at a field of hundreds takes longer than their
beginning, so one look chooses all that begin."""

PATIENCE = 2.0
"""... unless their game has been due for so many mean lengths."""

Spawn = Callable[[Coroutine[Any, Any, None]], object]
"""Starts a coroutine."""


class _Wanted(NamedTuple):
    """A game that is due. `number` of its round."""

    runner: EventRunner
    number: int
    game: Game


class EventDirector:
    """One a server.

    :param elsewhere: venues that other nodes of a cluster play
    :ivar committed: hear of each entry of any log, once it is committed
    :ivar runners: by name, of the events that are not over, and of those that are over while something of them is still
        being done: an entry is not committed, a game of theirs runs, their playoff is held, or a result is to be ruled
    """

    def __init__(
        self,
        venues: Mapping[str, LiveVenue],
        store: Store,
        time: Timekeeper,
        ids: Ids,
        pairer: EventPairer,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self.runners: dict[str, EventRunner] = {}
        self.committed: list[Committed] = []
        self._venues = venues
        self._store = store
        self._time = time
        self._ids = ids
        self._pairer = pairer
        self._elsewhere = elsewhere or Elsewhere()
        self._following = Following(self._announce, self.runners.get, time.wall_ms)
        self._games: dict[GameId, tuple[EventRunner, int]] = {}
        self._up_since = 0
        self._faults: dict[EventId, str] = {}
        self._is_beginning = False
        self._was_any_on = False  # an event was running since the last look: slots may be kept for it
        self._presence = {name: Presence(live) for name, live in venues.items()}
        self._waiting: dict[str, tuple[Code, str]] = {}  # events that are not over and cannot go on, and why
        self._held_elsewhere: dict[str, str] = {}
        self._news = asyncio.Event()
        self._reading = asyncio.Lock()  # or two would have one event at hand twice

    # -- the start

    async def open(self) -> None:
        """Read every event that is not over; what its games brought while nobody wrote it down is written now."""
        self._up_since = self._time.wall_ms()
        await self._store.commit([])  # games that could not be read back are void by now
        rows = {row.name: row for row in await self._store.history.events.all()}
        self._following.names.update(rows)
        for row in rows.values():
            if row.phase in AFTER:
                continue
            if row.venue in self._elsewhere:
                self._held_elsewhere[row.name] = row.venue
                continue
            if row.venue not in self._venues:
                log_.warning("the venue of an event is not configured; it waits", tournament=row.name, venue=row.venue)
                self._waiting[row.name] = (
                    Code.UNKNOWN_VENUE,
                    f"{row.name} waits: its venue {row.venue} is not configured. Configure it and start again.",
                )
                continue
            await self._read_or_wait(row)
        for runner in list(self.runners.values()):
            for played in await self._store.history.events.games(runner.id):
                if played.reason is None:  # also where the event wants it no more: then it is ended
                    self._games[played.game_id] = runner, played.number
                elif runner.is_current(played.number, played.game_id):
                    self._guarded(runner, partial(self._brought, runner, played))
            self._guarded(runner, partial(self._following.look, runner))
        await self._end_games_of_none({row.id for row in rows.values() if row.name in self._waiting})
        for name, live in self._venues.items():
            live.context.arrived.append(partial(self._arrived, live))
            live.context.ended.append(self.ended)
            self._look_for_away(name)

    async def _read_or_wait(self, row: EventRow) -> None:
        """As :meth:`_read`; an event whose log cannot be read waits, and the others go on. Raises StoreError."""
        try:
            await self._read(row)
        except StoreError:
            raise
        except Exception as error:
            log_.error("the log of an event cannot be read; it waits", tournament=row.name, exc_info=error)
            self._waiting[row.name] = (
                Code.EVENT_LOG,
                f"{row.name} waits: its log cannot be read by this version of the server ({error}). Its games and its "
                "log are kept; start the version that ran it before.",
            )

    async def _read(self, row: EventRow) -> None:
        """Have an event at hand, and with a playoff the event whose it is: who wins it stands in its log."""
        if row.name in self.runners:
            return
        state = fold(read_log(await self._store.history.events.log(row.id)))
        of = state.settings.playoff_of
        if of:
            await self._read(await self._store.history.events.named(of))
        self._add(row.id, state)

    async def _end_games_of_none(self, waiting: Set[EventId]) -> None:
        """End the games that run though their event was over or called off when the server was killed; not those of
        events that wait."""
        for live in self._venues.values():
            for game in list(live.roster.games()):
                if game.id in self._games:
                    continue
                played = await self._store.history.events.of_game(game.id)
                if played is not None and played.event_id not in waiting:
                    game.abort("Its event is over.")

    def _brought(self, runner: EventRunner, played: EventGameRow) -> None:
        """A game ended, and the server was killed before the event heard of it."""
        assert played.reason is not None
        winner = None if played.winner is None else Color(played.winner)
        verdict = Verdict(winner, Reason(played.reason), None, played.detail)
        self._write_end(runner, played.number, verdict, played.plies or 0)

    async def reopen(self, name: str) -> EventState:
        """Have an event at hand though it is over, so that its results can still be ruled. Raises Refused where there
        is none of this name."""
        async with self._reading:
            if name not in self.runners and name not in self._waiting:
                await self._store.commit([])  # whatever was said of it is in its log now
                row = await self._store.history.events.named(name)
                self._venue(row.venue)
                await self._read(row)
        return self.state(name)

    # -- what is asked of it

    def announce(self, settings: EventSettings, actor: str) -> EventState:
        """A new event. Raises Refused where it cannot be."""
        return self._announce([log.Announced(settings=settings)], actor)

    def _announce(self, said: Sequence[log.Said], actor: str = SERVER) -> EventState:
        """A new event, of the first entries of its log."""
        first = said[0]
        assert isinstance(first, log.Announced)
        settings = first.settings
        if settings.name in self._following.names:
            raise Conflict(
                Code.EVENT_NAME_TAKEN, f"There is an event {settings.name}, or there was. Take another name."
            )
        live = self._venue(settings.venue)
        state = announced(settings)
        require_playable(live.venue, settings)
        event = self._ids.event()
        runner = self._add(event, state)
        at = self._time.wall_ms()
        added = EventAdded(id=event, name=settings.name, venue_id=live.venue.id, created_at=at, phase=state.phase.value)
        runner.say(first, actor, also=[added])
        for each in said[1:]:
            runner.say(each, actor)
        return runner.state

    def is_rated(self, settings: EventSettings) -> bool:
        """Whether the games of an event announced so would be rated. Raises Refused where its venue cannot hold it."""
        require_settings(settings)
        return event_terms(self._venue(settings.venue).venue, settings).rated

    def _venue(self, name: str) -> LiveVenue:
        return self._elsewhere.require(self._venues, name)

    def runner(self, name: str) -> EventRunner:
        """Raises Refused where there is no such event, or it is over and not at hand (:meth:`reopen`)."""
        if name in self.runners:
            return self.runners[name]
        if name in self._waiting:
            code, why = self._waiting[name]
            raise code.kind(code, why)
        if name in self._held_elsewhere:
            self._elsewhere.refuse(self._held_elsewhere[name])
        if name in self._following.names:
            raise Invalid(Code.EVENT_OVER, f"{name} is over, or was called off: nothing goes on in it.")
        raise NotFound(Code.NO_EVENT, f"There is no event {name}. See: cgos-server event list")

    def state(self, name: str) -> EventState:
        """Where an event stands. Raises Refused as :meth:`runner`."""
        return self.runner(name).state

    def say(self, name: str, said: log.Said, actor: str) -> EventState:
        """Write an entry of an event's log, and do what follows from it. Raises Refused."""
        runner = self.runner(name)
        if isinstance(said, log.Announced):
            require_playable(self._live(runner).venue, said.settings)
        state = runner.say(said, actor)
        self._end_strays()
        return state

    def leave(self, bots: Collection[BotId]) -> None:
        """See :meth:`cgos_server.service.events.desk.EventDesk.leave`."""
        for name, runner in list(self.runners.items()):
            for seat in list(runner.state.seats.values()):
                if seat.bot in bots and not seat.out and runner.state.phase not in AFTER:
                    self.say(name, log.Withdrawn(entrant=seat.entrant), SERVER)

    async def read_again(self) -> None:
        """See :meth:`cgos_server.service.events.desk.EventDesk.read_again`."""
        for runner in list(self.runners.values()):
            before = None
            while before is None or runner.state.seq != before.seq:  # something was said while this was read
                await self._store.commit([])
                before = fold(read_log(await self._store.history.events.log(runner.id)))
            runner.read_again(before)
            self._was_committed(before, None, before)

    def rating(self, venue: str, version: VersionId) -> float | None:
        """Of a version in a venue; None where it has none yet."""
        ratings = self._venues[venue].ratings
        if not ratings.knows(version):
            return None
        rating = ratings.rating(version)
        return rating.mean if rating.games or rating.anchor else None

    # -- it goes on

    async def run(self) -> None:
        """For ever."""
        async with asyncio.TaskGroup() as group:
            while True:
                try:
                    async with asyncio.timeout(EVERY_S):
                        await self._news.wait()
                except TimeoutError:
                    pass
                self._news.clear()
                self.look(group.create_task)

    def look(self, spawn: Spawn) -> None:
        """Do what is due now; `spawn` computes what takes longer."""
        for name in self._venues:
            self._look_for_away(name)
        for runner in list(self.runners.values()):
            self._guarded(runner, partial(self._advance, runner, spawn))
        self._end_strays()
        self._begin_games(spawn)
        self._release()

    def _advance(self, runner: EventRunner, spawn: Spawn) -> None:
        venue = runner.state.settings.venue
        if runner.advance(self._presence[venue].away, partial(self.rating, venue), up_since=self._up_since):
            self._news.set()
        elif runner.wants_pairing:
            spawn(self._pair(runner))

    async def _pair(self, runner: EventRunner) -> None:
        try:
            await runner.pair(self._pairer)
        except Exception as error:
            self._pause(runner, error)
        self._news.set()

    def _guarded(self, runner: EventRunner, work: Callable[[], None]) -> None:
        """A fault in one event pauses that one; the others go on."""
        try:
            work()
        except Exception as error:
            self._pause(runner, error)

    def _pause(self, runner: EventRunner, error: Exception) -> None:
        state, fault = runner.state, repr(error)
        pauses = state.phase is Phase.RUNNING and state.paused is None
        if pauses or self._faults.get(runner.id) != fault:  # what cannot be paused fails again at every look
            log_.error("our fault in an event", tournament=state.settings.name, exc_info=error)
        self._faults[runner.id] = fault
        if pauses:
            runner.say(log.Paused(reason=f"The server failed: {error}"))

    # -- games begin

    def _begin_games(self, spawn: Spawn) -> None:
        """Begin what is due and can begin, and keep slots for the others."""
        running = [runner for runner in self.runners.values() if self._is_on(runner)]
        kept_wholly = {name: set[VersionId]() for name in self._venues}
        for runner in running:
            if not runner.state.settings.ladder or runner.pairs:
                kept_wholly[runner.state.settings.venue].update(seat.version for seat in runner.state.there)
        begin, soon, kept = choose(self._due(running), 0 if self._is_beginning else MOST_AT_ONCE)
        is_any_on = any(runner.state.phase is Phase.RUNNING for runner in self.runners.values())
        if is_any_on or self._was_any_on:
            for name, live in self._venues.items():
                for player in live.roster.here():
                    player.capacity.kept = kept.get(player.capacity, 0)
                    player.put(Hold.EVENT, player.version in kept_wholly[name])
        self._was_any_on = is_any_on
        if soon and not self._is_beginning:
            self._is_beginning = True
            spawn(self._begin_soon(soon))
        for one in begin:
            self._guarded(one.game.runner, partial(self._begin, one))

    async def _begin_soon(self, soon: list[Due[_Wanted]]) -> None:
        """Begin these, unless something has come between: a few at a time, when the ones before are committed."""
        try:
            await self._store.commit([])
            for at in range(0, len(soon), MOST_AT_ONCE):
                for one in soon[at : at + MOST_AT_ONCE]:
                    if self._can_still_begin(one):
                        self._guarded(one.game.runner, partial(self._begin, one))
                await self._store.commit([])  # after it, their other slots are free for games that wait behind these
        finally:
            self._is_beginning = False
            self._news.set()

    def _can_still_begin(self, one: Due[_Wanted]) -> bool:
        runner, number, game = one.game
        if not self._is_on(runner) or (number, game) not in runner.state.due_games:
            return False
        return all(player is not None and is_free(player) for player in (one.black, one.white))

    def _is_on(self, runner: EventRunner) -> bool:
        state = runner.state
        return state.phase is Phase.RUNNING and state.paused is None and not self._live(runner).matchmaker.holds

    def _due(self, running: list[EventRunner]) -> list[Due[_Wanted]]:
        """The games that are due of players who are there or about to come back, the longest due first."""
        now = self._time.wall_ms()
        wanted: list[tuple[int, int, int, Due[_Wanted]]] = []
        for runner in running:
            state, live = runner.state, self._live(runner)
            presence, players = self._presence[live.venue.name], live.roster.players
            for number, game in state.due_games:
                versions = [seat_of(state, game, color).version for color in Color]
                if not all(presence.expected(version, now) for version in versions):
                    continue
                black, white = (players.get(version) for version in versions)
                due_at, length = state.due_at[game.id], live.lengths.mean_ms
                others: Sequence[Player] = ()
                if black is not None and white is not None and now - due_at < PATIENCE * length:
                    others = meanwhile(black, white, round(now - HARDLY_BEGUN * length))
                wanted.append((due_at, runner.id, game.id, Due(_Wanted(runner, number, game), black, white, others)))
        return [due for *_, due in sorted(wanted, key=lambda one: one[:3])]

    def _begin(self, one: Due[_Wanted]) -> None:
        runner, number, game = one.game
        live, settings = self._live(runner), runner.state.settings
        terms = event_terms(live.venue, settings)
        moves = begins_with(live.venue, settings, runner.state.event, game)
        why = f"Round {number} of {settings.name}" + (f": {game.reason}." if game.reason else ".")

        def also(played_as: GameId) -> list[Record]:
            began = log.Began(game=game.id, played_as=played_as, given=len(moves))
            records = runner.said(began)[1]
            self._games[played_as] = runner, game.id
            return records

        assert one.black is not None
        assert one.white is not None
        live.matchmaker.arrange(
            black=one.black,
            white=one.white,
            terms=terms,
            moves=moves,
            why=why,
            also=also,
            occasion=Occasion(settings.name, number),
        )
        runner.submitted()
        if not self._is_beginning:
            self._store.submit([], self._news.set)  # their other slots, and the games that wait behind these

    def _arrived(self, live: LiveVenue, version: VersionId) -> None:
        """A bot has signed in: no other game takes it until it is known whether one of an event waits for it."""
        for runner in self.runners.values():
            state = runner.state
            if state.phase is Phase.RUNNING and state.settings.venue == live.venue.name and state.seat_of(version):
                live.roster.players[version].put(Hold.EVENT)
                self._was_any_on = True  # or, if it is called off right now, nobody would let it go
                self._news.set()

    # -- games end

    def ended(self, game: LiveGame) -> None:
        """A game of some venue has ended: where it is one of an event, that goes on."""
        runner, number = self._games.pop(game.id, (None, 0))
        over = game.over
        if runner is None or over is None or not runner.is_current(number, game.id):
            return
        verdict = Verdict(over.winner, Reason(over.reason), None, over.detail)
        self._guarded(runner, partial(self._write_end, runner, number, verdict, plies=game.ply))
        if runner.pairs:  # until it is known who plays next
            players = self._live(runner).roster.players
            for seat in runner.state.there:
                if seat.version in players:
                    players[seat.version].put(Hold.EVENT)
            self._was_any_on = True
        self._news.set()

    def _write_end(self, runner: EventRunner, number: int, verdict: Verdict, plies: int) -> None:
        result = result_of(verdict, plies - runner.state.given.get(number, 0))
        runner.say(log.Ended(game=number, result=result, why=verdict.detail))

    def _end_strays(self) -> None:
        """End games that run though they are no games of their event any more (taken back, ruled, the event cancelled),
        or a player of them has withdrawn. One that is just about to begin is found the next time."""
        out_of: dict[EventId, set[VersionId]] = {}
        for game, runner, number in self._live_games():
            state = runner.state
            if state.phase is not Phase.RUNNING or not runner.is_current(number, game.id):
                game.abort(f"{state.settings.name} does not want this game any more.")
                continue
            if runner.id not in out_of:
                out_of[runner.id] = {seat.version for seat in state.seats.values() if seat.out}
            out = [color for color in Color if game.sides[color].version in out_of[runner.id]]
            if out:
                self._withdrawn(game, out[0], runner, number)

    def _withdrawn(self, game: LiveGame, color: Color, runner: EventRunner, number: int) -> None:
        """The game is lost: as any other one where somebody has moved, else in the event alone, and rated nowhere."""
        why = f"{game.sides[color].name} has withdrawn from {runner.state.settings.name}."
        if game.ply > runner.state.given.get(number, 0) or game.committing:
            game.forfeit(color, why)
            return
        runner.say(log.Ended(game=number, result=forfeited_by(color), why=why))
        game.abort(why)

    def _live_games(self) -> Iterator[tuple[LiveGame, EventRunner, int]]:
        """Games of events that run and are not ending, with their numbers there."""
        for played_as, (runner, number) in list(self._games.items()):
            game = self._live(runner).roster.game(played_as)
            if game is not None and not game.ending:
                yield game, runner, number

    # -- inside

    def _live(self, runner: EventRunner) -> LiveVenue:
        return self._venues[runner.state.settings.venue]

    def _add(self, event: EventId, state: EventState) -> EventRunner:
        now_ms = self._time.wall_ms
        runner = EventRunner(event, state, self._store, now_ms, moved=self._moved, committed=self._was_committed)
        self._following.names.add(state.settings.name)
        self.runners[state.settings.name] = runner
        return runner

    def _moved(self, runner: EventRunner) -> None:
        self._following.look(runner)
        self._news.set()

    def _release(self) -> None:
        """Let go of the events that are over and of which nothing is being done any more."""
        playing = {runner.id for runner, _ in self._games.values()}
        for name, runner in list(self.runners.items()):
            playoff = self.runners.get(runner.state.followed.get("playoff", ""))
            is_decided = playoff is None or playoff.state.phase in AFTER
            if runner.state.phase in AFTER and runner.is_settled and is_decided and runner.id not in playing:
                del self.runners[name]

    def _was_committed(self, before: EventState, said: log.Said | None, state: EventState) -> None:
        for hear in self.committed:
            hear(before, said, state)

    def _look_for_away(self, venue: str) -> None:
        entrants = {
            seat.version
            for runner in self.runners.values()
            if runner.state.settings.venue == venue and runner.state.phase is Phase.RUNNING
            for seat in runner.state.there
        }
        self._presence[venue].look(entrants, self._time.wall_ms())
