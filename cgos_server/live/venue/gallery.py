"""Those who watch one venue: what each of them was told, and what it is to be told next.

Facts and moves are kept once, in a log and in the games; a spectator is only a position in them, so a thousand cost
little and nobody waits for anybody. All telling happens in slices between which the loop gets its turn. A spectator
without room is passed over; when it has room again and the log has gone on without it, or it had none for too long, it
gets a fresh picture. Where the venue has a delay, moves of a running game are told that much later. Must not know:
wire formats, sockets, why games begin and end.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Final

import msgspec
import structlog

from cgos_protocol.errors import CgosError
from cgos_protocol.facts import BotArrived, BotLeft, Fact, GameEnded, GameStarted, RatingChanged
from cgos_protocol.ids import GameId
from cgos_protocol.session import ListedGame, ShownGame, Spectator
from cgos_server.live.games.live_game import LiveGame, VenueContext
from cgos_server.live.games.result_delivery import stored_over, stored_setup
from cgos_server.live.venue.roster import Roster
from cgos_server.storage.reading.stored import StoredGame

log = structlog.get_logger(__name__)

PERIOD_S: Final = 0.1
"""Between two turns of delivery."""

SLICE: Final = 50
"""Spectators served before the loop gets a turn."""

SLICE_US: Final = 2_000
"""The same in time, since some have much to hear."""

FACTS: Final = 100
"""Facts handed over at once."""

TURNS: Final = 200
"""Moves of one game handed over at once."""

RECENT: Final = 40
"""Games that have ended, in a picture."""

LOG: Final = 4_096
"""Facts kept at least for those who read slowly."""

PATIENCE_US: Final = 30_000_000
"""Who had no room for so long does not get old facts any more but a picture."""

WATCHED_MAX: Final = 64
"""Games that one spectator may follow or have looked up at once."""

READS: Final = 2
"""Archived games that are read from the store at once, for all spectators."""

_FACTS: Final[tuple[type[Any], ...]] = (GameStarted, GameEnded, RatingChanged, BotArrived, BotLeft)


class _Followed:
    """A running game that somebody follows. `ply`: the last move that it was told; `due`: the game is to be shown."""

    __slots__ = ("due", "game", "ply")

    def __init__(self, game: LiveGame, ply: int) -> None:
        self.game = game
        self.ply = ply
        self.due = True


class _Place:
    """Where one spectator stands.

    :ivar everything: the venue's facts are told
    :ivar at: number of the next fact
    :ivar picture: a picture is due, whatever was missed
    :ivar wanted: archived games to be looked up, each with the move after which they are to be shown
    :ivar answer: the one that was looked up last, until it is shown
    :ivar reading: one is being looked up, or `answer`
    :ivar stuck: since when it has no room for what it is owed, or None
    """

    __slots__ = ("answer", "at", "everything", "followed", "gone", "picture", "reading", "spectator", "stuck", "wanted")

    def __init__(self, spectator: Spectator, at: int) -> None:
        self.spectator = spectator
        self.at = at
        self.everything = self.picture = self.reading = self.gone = False
        self.followed: dict[GameId, _Followed] = {}
        self.wanted: dict[GameId, int] = {}
        self.answer: tuple[GameId, ShownGame | None, int] | None = None
        self.stuck: int | None = None


class Gallery:
    """Implements :class:`~cgos_protocol.session.Gallery`."""

    def __init__(self, context: VenueContext, roster: Roster) -> None:
        self.size = context.venue.rules.size
        self.komi2 = context.venue.rules.komi2
        self._context = context
        self._roster = roster
        self._venue = context.venue
        self._delay = context.venue.delay
        self._store = context.store
        self._time = context.time
        self._recent: deque[ListedGame] = deque(maxlen=RECENT)
        self._running: dict[GameId, ListedGame] = {}
        self._picture: list[ListedGame] | None = None
        self._log: list[Fact] = []
        self._first = 0
        self._places: dict[int, _Place] = {}
        self._reads = asyncio.Semaphore(READS)

    async def open(self) -> None:
        """Take note of the past and of the games that run already; before anybody enters. Raises StoreError."""
        for stored in await self._store.history.games.recent(self._venue.id, RECENT):
            self._recent.append(listed_game(stored, self.size, self.komi2))
        for game in self._roster.games():
            black, white = game.sides
            self._running[game.id] = self._running_game(
                game.id,
                game.started_at / 1000,
                black=black.name,
                black_label=black.label,
                white=white.name,
                white_label=white.label,
            )
        for kind in _FACTS:
            self._context.bus.subscribe(kind, self._happened)

    async def run(self) -> None:
        """Tell everybody what is new, for ever."""
        while True:
            await asyncio.sleep(PERIOD_S)
            await self.turn()

    @property
    def spectators(self) -> int:
        """How many watch."""
        return len(self._places)

    def picture(self) -> list[ListedGame]:
        """The games that ended last, oldest first, then the running ones."""
        if self._picture is None:
            recent = sorted(self._recent, key=lambda game: game.game)
            self._picture = recent + [self._running[game] for game in sorted(self._running)]
        return self._picture

    # -- what spectators ask

    def enter(self, spectator: Spectator, everything: bool) -> None:
        place = self._place(spectator)
        if everything:
            place.everything = place.picture = True

    def observe(self, spectator: Spectator, game: GameId, since: int) -> str | None:
        place = self._place(spectator)
        place.wanted.pop(game, None)
        followed = place.followed.pop(game, None)
        if followed is None and len(place.followed) + len(place.wanted) >= WATCHED_MAX:
            return f"You watch {WATCHED_MAX} games at once, which is the most there is room for. Please wait."
        live = self._roster.game(game)
        if live is not None:
            place.followed[game] = _Followed(live, since)
        else:
            place.wanted[game] = since
            self._look_up(place)
        return None

    def ignore(self, spectator: Spectator, game: GameId | None) -> None:
        place = self._places.get(id(spectator))
        if place is None:
            return
        if game is None:
            place.everything = place.picture = False
        else:
            place.followed.pop(game, None)
            place.wanted.pop(game, None)

    def leave(self, spectator: Spectator) -> None:
        place = self._places.pop(id(spectator), None)
        if place is not None:
            place.gone = True
            place.wanted.clear()

    def _place(self, spectator: Spectator) -> _Place:
        # By identity: a spectator may be a value that equals another, or that has no hash.
        place = self._places.get(id(spectator))
        if place is None:
            place = self._places[id(spectator)] = _Place(spectator, self._next)
        return place

    # -- what happens

    @property
    def _next(self) -> int:
        """The number that the next fact gets."""
        return self._first + len(self._log)

    def _happened(self, fact: GameStarted | GameEnded | RatingChanged | BotArrived | BotLeft) -> None:
        if fact.venue != self._venue.name:
            return
        if isinstance(fact, GameStarted):
            self._picture = None
            self._running[fact.game] = self._running_game(
                fact.game,
                fact.at,
                black=fact.black,
                black_label=fact.black_label,
                white=fact.white,
                white_label=fact.white_label,
            )
        elif isinstance(fact, GameEnded):
            self._picture = None
            listed = self._running.pop(fact.game, None)
            if listed is not None:
                self._recent.append(listed._replace(result=fact.result))
        self._log.append(fact)
        if len(self._log) >= 2 * LOG:
            del self._log[:LOG]
            self._first += LOG

    def _running_game(
        self, game: GameId, at: float, black: str, black_label: str, white: str, white_label: str
    ) -> ListedGame:
        return ListedGame(
            game=game,
            started_at=at,
            size=self.size,
            komi2=self.komi2,
            black=black,
            black_label=black_label,
            white=white,
            white_label=white_label,
            result=None,
        )

    # -- telling

    async def turn(self) -> None:
        """Tell everybody who has room all that it is owed, a slice at a time, each its share and then the next."""
        time = self._time
        waiting = deque(self._places.values())
        began, served = time.now(), 0
        while waiting:
            place = waiting.popleft()
            if place.gone:
                continue
            try:
                if self._serve(place):
                    waiting.append(place)
            except Exception as error:
                log.error("our fault in the gallery; the spectator is dropped", venue=self._venue.name, exc_info=error)
                self.leave(place.spectator)
            served += 1
            if served == SLICE or time.now() - began > SLICE_US:
                await asyncio.sleep(0)
                began, served = time.now(), 0

    def _serve(self, place: _Place) -> bool:
        """Tell one spectator its share; True where it has room for more and there is more."""
        if not self._owed(place):
            return False
        if not place.spectator.has_room:
            if place.stuck is None:
                place.stuck = self._time.now()
            return False
        late = place.stuck is not None and self._time.now() - place.stuck > PATIENCE_US
        place.stuck = None
        if late or (place.everything and place.at < self._first):
            self._refresh(place)
        steps = (self._tell_picture, self._tell_found, self._tell_moves, self._tell_facts)
        return all(step(place) for step in steps) and self._owed(place)

    def _owed(self, place: _Place) -> bool:
        return (
            (place.everything and (place.picture or place.at < self._next))
            or place.answer is not None
            or any(
                followed.due or followed.ply < self._shown(followed.game) or followed.game.over is not None
                for followed in place.followed.values()
            )
        )

    def _shown(self, game: LiveGame) -> int:
        """Its plies that may be shown: the players' moves reach others after the venue's delay."""
        return game.played_by(self._time.now() - self._delay) if self._delay else game.ply

    def _refresh(self, place: _Place) -> None:
        """It was passed over for too long: pictures instead of what it missed."""
        if place.everything and place.at < self._next and not place.picture:
            place.spectator.listed(self.picture(), self._next - place.at)
            place.at = self._next
        for followed in place.followed.values():
            followed.due = True

    def _tell_picture(self, place: _Place) -> bool:
        if place.picture:
            place.picture = False
            place.at = self._next
            place.spectator.listed(self.picture(), 0)
        return place.spectator.has_room

    def _tell_found(self, place: _Place) -> bool:
        if place.answer is not None:
            place.spectator.shown(*place.answer)
            place.answer = None
            place.reading = False
            self._look_up(place)
        return place.spectator.has_room

    def _tell_moves(self, place: _Place) -> bool:
        """The moves of the followed games, and how they ended."""
        spectator = place.spectator
        for number, followed in list(place.followed.items()):
            if not spectator.has_room:
                return False
            game = followed.game
            ply = self._shown(game)
            if followed.due:
                over, since = game.over, max(0, min(followed.ply, ply))
                followed.due = False
                followed.ply = ply
                setup = game.setup() if ply == game.ply else game.setup(ply)
                spectator.shown(number, ShownGame(setup, game.started_at / 1000, over), since)
                if over is not None:
                    place.followed.pop(number, None)
                continue
            if followed.ply < ply:
                turns = game.turns(followed.ply)[: min(TURNS, ply - followed.ply)]
                followed.ply += len(turns)
                spectator.moved(number, turns)
            if followed.ply >= ply and game.over is not None:
                place.followed.pop(number, None)
                spectator.ended(number, game.over)
        return spectator.has_room

    def _tell_facts(self, place: _Place) -> bool:
        if place.everything and place.at < self._next:
            facts = self._log[place.at - self._first :][:FACTS]
            place.at += len(facts)
            place.spectator.facts(facts)
        return place.spectator.has_room

    # -- games of the archive

    def _look_up(self, place: _Place) -> None:
        if place.wanted and not place.reading and not place.gone:
            place.reading = True
            self._context.spawn(self._read(place))

    async def _read(self, place: _Place) -> None:
        """Look up the next game that the spectator wants: one at a time, and no other until it has been shown."""
        while place.wanted:
            number = next(iter(place.wanted))
            async with self._reads:
                shown = await self._archived(number) if number in place.wanted else None
            since = place.wanted.pop(number, None)
            if since is None:
                continue  # it has left, or does not want it any more
            live = self._roster.game(number)
            if live is not None:  # it has just begun
                place.followed[number] = _Followed(live, since)
                continue
            place.answer = (number, shown, since)
            return
        place.reading = False

    async def _archived(self, number: GameId) -> ShownGame | None:
        """A game of this venue that has ended; None for any other, and where it cannot be read."""
        try:
            stored = await self._store.history.games.stored(number)
            if stored is None or stored.venue_id != self._venue.id or stored.result is None:
                return None
            return ShownGame(stored_setup(stored, self._venue.name), stored.started_at / 1000, stored_over(stored))
        except (CgosError, ValueError, msgspec.MsgspecError) as error:
            log.warning("a stored game cannot be shown", game=number, venue=self._venue.name, why=str(error))
            return None


def listed_game(stored: StoredGame, size: int, komi2: int) -> ListedGame:
    """A stored game as lists show it, in a venue of this board and komi."""
    return ListedGame(
        game=stored.id,
        started_at=stored.started_at / 1000,
        size=size,
        komi2=komi2,
        black=stored.black,
        black_label=stored.black_label,
        white=stored.white,
        white_label=stored.white_label,
        result=stored.result,
    )
