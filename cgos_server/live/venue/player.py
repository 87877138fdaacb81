"""One version in one venue: in which phase it is, what keeps it from a new game, and which games it plays.

Must not know: wire formats, how bots sign in, who is paired.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

from cgos_protocol.games.base import Color
from cgos_protocol.ids import BotId, GameId, VersionId
from cgos_protocol.session import Availability, Limits, PlayerSession
from cgos_server.live.games.live_game import LiveGame
from cgos_server.live.games.phases import PLAYER, PlayerPhase, check
from cgos_server.live.games.result_delivery import ResultDelivery
from cgos_server.service.holds import PASSING, Hold

DELIVERIES_MAX: Final = 1_024
"""Ends of games that a bot was told and has not acknowledged; of more than these the oldest are not waited for."""

# What each move and each pairing pass asks for, bound once: Python 3.11 looks a member up through its enum's metaclass.
_BLACK: Final = Color.BLACK
_WHITE: Final = Color.WHITE
_AWAY: Final = PlayerPhase.AWAY
_OWING: Final = PlayerPhase.OWING
_PLAYING: Final = PlayerPhase.PLAYING
_IDLE: Final = PlayerPhase.IDLE
_PAIRED: Final = Hold.PAIRED
_OWES_READY: Final = Hold.OWES_READY

_FULL: Final = frozenset({Hold.PLAYING})
_KEPT: Final = frozenset({Hold.EVENT})
_ASKED: Final = frozenset({Hold.QUESTION})
_RESERVED: Final = frozenset({Hold.PAIRED})
_NO_LIMITS: Final = Limits()


class Capacity:
    """How many games a connection plays at once; shared by all venues in which it is signed in.

    :ivar used: slots that are taken, or reserved for games whose beginning is being committed. Games that were found
        running at the sign-in count too, so it may lie above `slots`
    :ivar kept: free slots, or slots that get free next, that wait for games of events; no other game takes them
    :ivar asked: the same for games of questions, which take none that waits for an event
    :ivar owed: answers about games of the past that are still looked up
    :ivar freed: when a game last ended with which all slots had been taken (microseconds), 0 for never
    """

    __slots__ = ("asked", "freed", "kept", "owed", "slots", "used")

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.used = 0
        self.kept = self.asked = 0
        self.owed = 0
        self.freed = 0

    def give_back(self, now: int) -> None:
        """A game has ended."""
        if self.used >= self.slots:
            self.freed = now
        self.used -= 1


class DailyGames:
    """Games begun within a day, as far as a limit needs them counted.

    :ivar begun: how many; while they are `counting` it is what has begun since
    :ivar counted: when they were last counted (microseconds)
    """

    __slots__ = ("begun", "counted", "counting")

    def __init__(self) -> None:
        self.begun = self.counted = 0
        self.counting = False

    def hold(self, most: int) -> Hold | None:
        """What follows from a limit of `most` games."""
        if self.counting:
            return Hold.COUNTING
        return Hold.AT_LIMIT if self.begun >= most else None


P = ParamSpec("P")
R = TypeVar("R")


def _step(method: Callable[Concatenate[Player, P], R]) -> Callable[Concatenate[Player, P], R]:
    """A method of a player that may lead to another phase. Raises OurFault where there is no way to that one."""

    @wraps(method)
    def checked(player: Player, /, *args: P.args, **kwargs: P.kwargs) -> R:
        before = player.phase
        result = method(player, *args, **kwargs)
        after = player.phase
        if after is not before:
            check(PLAYER, before, after)
        return result

    return checked


class Player:
    """One version in one venue, present or (while a game of it runs) away.

    :ivar chosen: its next game is being committed, whether it is signed in or not
    :ivar since: when it last became able to take a game, or ceased to be (microseconds)
    :ivar board: the one game that is before a connection that has one at a time
    :ivar deliveries: by game: ends that it was told and has not acknowledged
    :ivar wanted_games: games of the past that it wants to hear of and that are not looked up yet
    :ivar limits: those in force: what it says itself (`declared`) and what its owner allows (`allowed`)
    :ivar signed_in_at: Unix milliseconds
    :ivar flagged: when it last let its time in a game run out (microseconds), 0 for never
    :ivar reminded: it was told that it owes `ready`
    """

    def __init__(self, version: VersionId, name: str, bot: BotId) -> None:
        self.version = version
        self.name = name
        self.bot = bot
        self.session: PlayerSession | None = None
        self.address = self.client = ""
        self.capacity = Capacity(1)
        self.games: dict[GameId, LiveGame] = {}
        self.board: LiveGame | None = None
        self.deliveries: dict[GameId, ResultDelivery] = {}
        self.wanted_games: dict[GameId, None] = {}
        self.limits = self.declared = self.allowed = _NO_LIMITS
        self.daily = DailyGames()
        self.reminded = False
        self.signed_in_at = self.since = self.flagged = 0
        self.chosen = False
        self._holds = {Hold.AWAY}

    # -- what keeps it from a new game

    @property
    def holds(self) -> Set[Hold]:
        """What keeps it from a new game; it may be paired exactly when there is nothing."""
        holds, capacity, session = self._holds, self.capacity, self.session
        used = capacity.used - (_PAIRED in holds)
        if used >= capacity.slots:
            holds = holds | _FULL
        elif used + capacity.kept >= capacity.slots:
            holds = holds | _KEPT
        elif used + capacity.kept + capacity.asked >= capacity.slots:
            holds = holds | _ASKED
        if self.limits.games_a_day is not None and (hold := self.daily.hold(self.limits.games_a_day)):
            holds = holds | {hold}
        if session is not None and not session.alive:
            holds = holds | {Hold.SLOW}
        return holds

    def has(self, hold: Hold) -> bool:
        """True where this one was put on it; not for those that come and go by themselves, see :attr:`holds`."""
        return hold in self._holds

    def put(self, hold: Hold, on: bool = True) -> bool:
        """Put a hold on it, or lift it; True where that changes something."""
        if (hold in self._holds) is on:
            return False
        if on:
            self._holds.add(hold)
        else:
            self._holds.remove(hold)
        return True

    @property
    def available(self) -> bool:
        """True where it may be paired now."""
        return not self.holds

    @property
    def awaited(self) -> bool:
        """True where it could be somebody's opponent now or after its game."""
        if not self._holds <= PASSING:
            return False
        # Of those that come and go by themselves, this one alone outlasts a game.
        most = self.limits.games_a_day
        return most is None or self.daily.hold(most) is not Hold.AT_LIMIT

    @property
    def could_play(self) -> bool:
        """True where nothing has come between since a pairing pass looked at it."""
        return self.holds <= _RESERVED

    def wants(self, availability: Availability) -> None:
        """The bot says whether it wants games."""
        self.put(Hold.RESTING, availability is Availability.PAUSED)
        self.put(Hold.DRAINING, availability is Availability.DRAINING)

    @property
    def ready_since(self) -> int:
        """Since when an available one could take a game here (microseconds); in another venue it may have played."""
        return max(self.since, self.capacity.freed)

    @property
    def state(self) -> str:
        """What it does, as `status` says it."""
        phase = self.phase
        if phase in (PlayerPhase.CHOSEN, PlayerPhase.CONSIDERED):
            return "paired"
        if phase is PlayerPhase.OWING:
            return Hold.OWES_READY.state
        return Hold.SUSPENDED.state if phase is PlayerPhase.IDLE and self.has(Hold.SUSPENDED) else phase.word

    def send_home(self) -> None:
        """One that wants no more games leaves when all its venues are done, and have told it what it asked."""
        done = self.capacity.used == 0 and self.capacity.owed == 0
        if done and self.session is not None and (self.has(Hold.DRAINING) or self.has(Hold.SENT_HOME)):
            whose = "your owner" if self.has(Hold.SENT_HOME) else "you"
            self.session.refused("drained", f"Your last game is over, as {whose} wished. Goodbye.")

    def stir(self, now: int) -> None:
        """What it does has changed: its waiting begins anew."""
        self.since = now
        self.reminded = False

    # -- its phases

    @property
    def phase(self) -> PlayerPhase:
        if self.session is None:
            return _AWAY
        if _PAIRED in self._holds:
            return PlayerPhase.CHOSEN if self.chosen else PlayerPhase.CONSIDERED
        if _OWES_READY in self._holds:
            return _OWING
        return _PLAYING if self.games else _IDLE

    @property
    def reserved(self) -> bool:
        """True while a pairing pass looks at it or has chosen it, whether it is signed in or not."""
        return Hold.PAIRED in self._holds

    @_step
    def arrive(self, session: PlayerSession, capacity: Capacity, now_ms: int) -> None:
        """A connection takes its place; `now_ms` in Unix milliseconds."""
        self.session = session
        self.capacity = capacity
        capacity.used += len(self.games) + self.reserved
        self.signed_in_at = now_ms
        self.flagged = 0
        self._holds &= _RESERVED

    @_step
    def leave(self) -> None:
        """Its connection is gone; its games go on."""
        self.session = self.board = None
        self.deliveries.clear()
        self.wanted_games.clear()
        self.capacity.used -= len(self.games) + self.reserved  # its other venues are a moment behind
        self.capacity = Capacity(1)
        self.put(Hold.OWES_READY, False)
        self.put(Hold.AWAY)

    @_step
    def consider(self) -> None:
        """A pairing pass looks at it: no other one may."""
        self.put(Hold.PAIRED)
        self.capacity.used += 1

    @_step
    def choose(self) -> None:
        """It gets a game, which begins once it is committed."""
        self.chosen = True

    @_step
    def let_go(self) -> None:
        """A pairing pass is over, and it gets no game by it."""
        self._free()

    @_step
    def take(self, game: LiveGame) -> None:
        """A game of it begins, which may be one that it was chosen for, or goes on after a restart."""
        self._free()
        self.games[game.id] = game
        self.capacity.used += 1

    @_step
    def ended(self, game: LiveGame, now: int) -> None:
        """A game of it has ended; `now` in microseconds."""
        self.games.pop(game.id, None)
        if self.board is game:
            self.board = None
        if self.session is not None:
            self.capacity.give_back(now)
            if game.present(self.color(game)):
                self.told(game.id, game.delivery(self.color(game)))

    @_step
    def told(self, game: GameId, delivery: ResultDelivery) -> None:
        """It was told how `game` ended, and owes an answer where its protocol has one."""
        self.deliveries[game] = delivery
        if len(self.deliveries) > DELIVERIES_MAX:
            del self.deliveries[next(iter(self.deliveries))]
        if self.session is not None and self.session.says_ready:
            self.put(Hold.OWES_READY)

    @_step
    def says_ready(self) -> bool:
        """It knows the end that it was told; False where it owed no word."""
        owed = self.put(Hold.OWES_READY, False)
        if owed:
            self.acknowledged()
        return owed

    def _free(self) -> None:
        if self.put(Hold.PAIRED, False):
            self.chosen = False
            self.capacity.used -= 1

    # -- its games

    def color(self, game: LiveGame) -> Color:
        """The color that it has in `game`."""
        return _BLACK if game.sides[0].version == self.version else _WHITE

    def acknowledged(self) -> None:
        """It knows the end of every game that it was told."""
        for delivery in self.deliveries.values():
            delivery.acknowledged()
        self.deliveries.clear()


def in_force(one: Limits, other: Limits) -> Limits:
    """What both allow, one of them the bot and the other its owner. In questions it plays as soon as either agrees."""
    most = [limits.games_a_day for limits in (one, other) if limits.games_a_day is not None]
    return Limits(
        games_a_day=min(most, default=None),
        avoid=one.avoid | other.avoid,
        accepts=one.accepts | other.accepts,
        hours=one.hours.both(other.hours),
    )
