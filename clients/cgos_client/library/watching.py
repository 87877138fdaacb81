"""What a watcher sees: a venue's facts and single games, over any number of connections, without any I/O.

Who reads slowly is skipped forward: a venue's queue that is full is emptied and a fresh picture asked for; of a game
only the latest state is kept. Must not know: sockets, tasks.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import msgspec

from cgos_client.errors import WatchRefused
from cgos_client.library.position import Position
from cgos_protocol.errors import Code
from cgos_protocol.facts import GameEnded, GameStarted, MovePlayed, VenueFact
from cgos_protocol.ids import GameId
from cgos_protocol.v2 import messages as ws
from cgos_protocol.v2.messages import Ply

QUEUE = 10_000
"""Facts of one venue that may wait to be looked at."""

VenueEvent = ws.Picture | VenueFact


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A watched game as it stood at one moment.

    :ivar result: None while it runs
    """

    game: GameId
    venue: str
    black: ws.Player
    white: ws.Player
    time: ws.TimeInfo
    position: Position
    result: str | None
    reason: str


@dataclass(slots=True, kw_only=True)
class VenueWatch:
    """One venue's facts, waiting to be looked at."""

    venue: str
    events: deque[VenueEvent] = field(default_factory=deque)
    skipping: bool = False
    """True from an overflow to the next picture."""
    refusal: WatchRefused | None = None

    def add(self, event: VenueEvent) -> None:
        """Keep `event`, unless too many wait already."""
        if isinstance(event, ws.Picture):
            self.skipping = False
        if self.skipping:
            return
        if len(self.events) >= QUEUE:
            self.events.clear()
            self.skipping = True
            return
        self.events.append(event)


@dataclass(slots=True, kw_only=True)
class GameWatch:
    """One game's latest state."""

    venue: str
    game: GameId
    shown: ws.Shown | None = None
    plies: list[Ply] = field(default_factory=list)
    fresh: bool = False
    """True where the state changed since it was looked at."""
    refusal: WatchRefused | None = None

    def show(self, shown: ws.Shown) -> bool:
        """Take what the server shows. False where it does not follow from what is known."""
        if shown.from_ply > len(self.plies):
            return False
        self.plies[shown.from_ply :] = shown.moves
        self.shown, self.fresh = shown, True
        return True

    def add(self, fact: MovePlayed | GameEnded) -> bool:
        """Take a fact of this game. False where a move is missing before it."""
        if self.shown is None or self.shown.result is not None:
            return True
        if isinstance(fact, GameEnded):
            self.shown = msgspec.structs.replace(self.shown, result=fact.result, reason=fact.reason)
        elif fact.ply == len(self.plies) + 1:
            self.plies.append(Ply(fact.move, fact.left_ms))
        else:
            return fact.ply <= len(self.plies)
        self.fresh = True
        return True

    def view(self) -> View | None:
        """The state, once it is known."""
        shown = self.shown
        if shown is None:
            return None
        left = [shown.time.main_ms or shown.time.period_ms] * 2
        for number, ply in enumerate(self.plies):
            left[number % 2] = ply.left_ms
        black_ms, white_ms = left
        position = Position(rules=shown.rules, plies=tuple(self.plies), black_ms=black_ms, white_ms=white_ms)
        return View(
            game=self.game,
            venue=shown.venue,
            black=shown.black,
            white=shown.white,
            time=shown.time,
            position=position,
            result=shown.result,
            reason=shown.reason,
        )


@dataclass(slots=True)
class Watches:
    """All that one connection watches."""

    venues: dict[str, VenueWatch] = field(default_factory=dict)
    games: dict[GameId, GameWatch] = field(default_factory=dict)

    def requests(self) -> list[ws.ClientMessage]:
        """What has to be said on a new connection."""
        return [
            *(ws.WatchVenue(venue) for venue in self.venues),
            *(_request(watch) for watch in self.games.values() if watch.shown is None or watch.shown.result is None),
        ]

    def receive(self, message: ws.ServerMessage) -> list[ws.ClientMessage]:
        """Take a message to watchers; what has to be said upon it."""
        match message:
            case ws.Picture():
                if message.venue in self.venues:
                    self.venues[message.venue].add(message)
            case ws.Shown():
                watch = self.games.get(message.game)
                if watch is not None and not watch.show(message):
                    return [_request(watch)]
            case ws.FactTold():
                return self._fact(message.fact)
            case ws.Error(fatal=False):
                self._refused(message)
            case _:
                pass
        return []

    def _fact(self, fact: VenueFact) -> list[ws.ClientMessage]:
        watch = self.games.get(fact.game) if isinstance(fact, GameStarted | MovePlayed | GameEnded) else None
        missing = isinstance(fact, MovePlayed | GameEnded) and watch is not None and not watch.add(fact)
        if not isinstance(fact, MovePlayed) and fact.venue in self.venues:
            self.venues[fact.venue].add(fact)
        return [_request(watch)] if missing and watch is not None else []

    def _refused(self, error: ws.Error) -> None:
        refusal = WatchRefused(error.code, error.text, retry_after=error.retry_after_s)
        if error.game is not None:
            watch = self.games.get(error.game)
            if watch is not None and watch.shown is None:
                watch.refusal = refusal
        elif error.venue in self.venues and error.code in NO_VENUE:
            self.venues[error.venue].refusal = refusal


NO_VENUE = frozenset((Code.NO_VENUE, Code.UNKNOWN_VENUE))
"""What a server says of a venue that it does not have."""


def _request(watch: GameWatch) -> ws.WatchGame:
    return ws.WatchGame(watch.venue, watch.game, len(watch.plies))
