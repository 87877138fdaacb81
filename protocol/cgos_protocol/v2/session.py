"""The dialogue of ``cgos.v2`` on one connection: messages to calls of the seam, calls of the seam to messages.

One connection has at most one bot, which may be seated in several venues, and may watch games of any venue. Every
message is answered, passed on or counted; none raises. Must not know: encodings, sockets, timers, accounts, rules.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET, Raw

from cgos_protocol import hours
from cgos_protocol.errors import Code, Refused
from cgos_protocol.event_news import EventNews, EventWish
from cgos_protocol.ids import ConnectionId, GameId
from cgos_protocol.lines.move_word import first_word
from cgos_protocol.lines.player import CLIENT_MAX
from cgos_protocol.names import bot_name_fault, password_fault
from cgos_protocol.question_news import QuestionWish, StopWish
from cgos_protocol.session import (
    Availability,
    Credentials,
    Declaration,
    Fault,
    Gallery,
    Known,
    Limits,
    MultiVenueReception,
    NamedPredecessor,
    Seat,
    Wish,
)
from cgos_protocol.v2 import messages as ws
from cgos_protocol.v2 import render
from cgos_protocol.v2.analysis import Unfit
from cgos_protocol.v2.places import Peer, Place, PlayedGame, Watcher

WATCHED_MAX: Final = 64
"""Games that one connection may watch at once."""

UNSEEN_MAX: Final = 1_024
"""Ended games of which a connection may still have to say that it saw the end."""

DRAINED: Final = "drained"
"""The code with which a bot is let go that asked for it: its last game in any of its venues is over."""


class Stage(enum.Enum):
    """How far the dialogue has come."""

    NEW = "new"
    CHECKING = "checking"
    """The reception has the credentials."""
    IN = "in"
    CLOSED = "closed"
    """Nothing is said or heard any more."""


_CLOSED: Final = Stage.CLOSED  # bound once for each message's sake: Python 3.11 asks the enum's metaclass


class Ending(enum.StrEnum):
    """Why the server ends the dialogue."""

    REFUSED = "refused"
    """Sign-in was refused."""
    DISMISSED = "dismissed"
    """An operator or a policy ended it after sign-in."""
    DRAINED = "drained"
    """The bot asked for it."""


class SessionContext(NamedTuple):
    """What all dialogues of a server share. `new_id` numbers connections."""

    reception: MultiVenueReception
    galleries: Mapping[str, Gallery]
    new_id: Callable[[], ConnectionId]


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class WsSession:
    """One dialogue, without its connection.

    :param analysis: turns what came with a move into compact JSON, or says why not
    :param close: sends what waits, then closes
    :ivar stage: how far it has come
    :ivar wasted: messages so far that were of no use; the owner of the connection sets the limit
    """

    _context: SessionContext
    _peer: Peer
    _analysis: Callable[[Raw], str | Unfit]
    _close: Callable[[Ending], None]
    stage: Stage = field(default=Stage.NEW, init=False)
    wasted: int = field(default=0, init=False)
    _name: str = field(default="", init=False)
    _slots: int = field(default=1, init=False)
    _places: dict[str, Place] = field(default_factory=dict, init=False)
    _games: dict[GameId, PlayedGame] = field(default_factory=dict, init=False)
    _known: dict[GameId, int] = field(default_factory=dict, init=False)
    _strange: dict[GameId, set[str]] = field(default_factory=dict, init=False)
    _unseen: dict[GameId, Place] = field(default_factory=dict, init=False)
    _held: list[ws.ServerMessage] | None = field(default=None, init=False)
    _watchers: dict[str, Watcher] = field(default_factory=dict, init=False)
    _watching: int = field(default=0, init=False)
    _to_enter: dict[str, None] = field(default_factory=dict, init=False)

    @property
    def settled(self) -> bool:
        """True once the connection has said what it is here for."""
        return self.stage is not Stage.NEW or bool(self._watchers)

    @property
    def plays(self) -> bool:
        """True where a bot is signed in, or about to be; False for those who only watch."""
        return self.stage is Stage.IN or self.stage is Stage.CHECKING

    @property
    def bot(self) -> tuple[int, str] | None:
        """Number and wire name of the bot that is signed in; None before."""
        seat = next(iter(self._seats()), None) if self.stage is Stage.IN else None
        return None if seat is None else (seat.bot, self._name)

    def _seats(self) -> list[Seat]:
        """Where the bot has been seated so far."""
        return [place.seat for place in self._places.values() if place.seat is not None]

    # -- what the client says

    def receive(self, message: ws.ClientMessage, received: int) -> ws.Error | None:
        """The next message, received at `received` (microseconds, loop's clock). What was wrong with it, or None."""
        if self.stage is _CLOSED:
            return None
        error = _RULES[type(message)](self, message, received)
        if error is not None:
            self.wasted += 1
            if error.fatal:
                self.stage = Stage.CLOSED
        return error

    def lost(self, orderly: bool) -> None:
        """The connection is gone; `orderly` where the peer closed it."""
        self.stage = Stage.CLOSED
        watchers, self._watchers = self._watchers, {}
        for venue, watcher in watchers.items():
            self._context.galleries[venue].leave(watcher)
        seats, self._places = self._seats(), {}
        for seat in seats:
            seat.left(orderly)
        self._games.clear()
        self._unseen.clear()

    def _sign_in(self, message: ws.SignIn, _received: int) -> ws.Error | None:
        if self.stage is not Stage.NEW:
            who = f"as {self._name}" if self.stage is Stage.IN else "or about to be"
            return ws.Error(code="signed-in", text=f"This connection is signed in already, {who}. Open another one.")
        error = self._sign_in_fault(message)
        if error is not None:
            return error
        self.stage = Stage.CHECKING
        self._held = []
        self._slots = message.slots
        self._known = {game.game: game.ply for game in message.games}
        self._to_enter = dict.fromkeys(message.events)
        self._places = {name: Place(self, self._peer, name, self._context.new_id()) for name in message.venues}
        named = message.predecessor
        declared = Declaration(
            label=message.version,
            wire_name=message.wire_name,
            engine=_line(message.engine),
            parameters=msgspec.json.encode(message.parameters, order="deterministic").decode()
            if message.parameters
            else "",
            author=_line(message.author),
            predecessor=None if named is None else NamedPredecessor(named.version, named.sd, named.surely),
        )
        credentials = Credentials(
            name=message.bot,
            secret=message.secret,
            new_secret=message.new_secret,
            client=_line(message.client)[:CLIENT_MAX],
            analysis=True,
            address=self._peer.address,
            declared=declared,
        )
        known = tuple(Known(game, ply) for game, ply in self._known.items())
        self._context.reception.sign_in(self._places, credentials, Wish(message.slots, _limits(message.limits), known))
        return None

    def _sign_in_fault(self, message: ws.SignIn) -> ws.Error | None:
        for venue in message.venues:
            if venue not in self._context.galleries:
                return self._no_venue(venue, fatal=True)
        if len(set(message.venues)) < len(message.venues):
            return ws.Error(code=Code.INVALID, text="A venue is named twice.", fatal=True)
        fault = bot_name_fault(message.bot)
        if fault is not None:
            return ws.Error(code=Code.NAME, text=fault, fatal=True)
        try:
            _limits(message.limits)
        except Refused as refusal:
            return ws.Error(code=refusal.code, text=refusal.sentence, fatal=True)
        if message.wire_name and (fault := bot_name_fault(message.wire_name)) is not None:
            return ws.Error(code=Code.WIRE_NAME, text=f"wire_name: {fault}", fatal=True)
        named = message.predecessor
        if named is not None and (fault := bot_name_fault(named.version)) is not None:
            return ws.Error(code=Code.PREDECESSOR, text=f"predecessor: {fault}", fatal=True)
        for secret in (message.secret, message.new_secret):
            if secret is not None and (fault := password_fault(secret)) is not None:
                return ws.Error(code=Code.PASSWORD, text=fault, fatal=True)
        return None

    def _move(self, message: ws.Move, received: int) -> ws.Error | None:
        number = message.game
        game = self._games.get(number)
        if game is None:
            if self.stage is not Stage.IN:
                return self._not_in()
            return ws.Error(
                code=Code.NO_GAME, text=f"You have no running game {number}. Sync it to hear how it ended.", game=number
            )
        text, dropped = message.move, ""
        if not (text.isalnum() and text.isascii()):
            text, rest = first_word(text.encode("utf-8", "replace"))
            if not text:
                return ws.Error(
                    code=Code.INVALID, text="The move is empty: send a vertex, pass or resign.", game=number
                )
            if rest:
                dropped = f"A move is one word, so what follows {text} in the field move is no part of it."
        seat = game.place.seat
        if seat is None:
            return self._not_in()
        analysis = None
        if message.analysis is not UNSET:
            kept = self._analysis(message.analysis)
            if isinstance(kept, Unfit):
                dropped = f"{dropped} {kept.why}".strip()
            else:
                analysis = kept
        ply = message.ply
        repeated = ply <= game.ply
        fault = seat.play(number, ply, text, analysis, received=received)
        if fault is not None:
            return ws.Error(code=fault.value, text=_FAULTS[fault].format(ply=ply, next=game.ply + 1), game=number)
        if repeated:
            self.wasted += 1
        elif ply > game.ply:
            game.ply = ply
        if dropped:
            return ws.Error(
                code="analysis", text=f"The move counts; what does not fit is dropped. {dropped}", game=number
            )
        return None

    def _seen(self, message: ws.Seen, _received: int) -> ws.Error | None:
        if self.stage is not Stage.IN:
            return self._not_in()
        place = self._unseen.pop(message.game, None)
        if place is None:
            self.wasted += 1
        for seat in self._seats():
            if place is None or seat is place.seat:
                seat.seen(message.game)
        return None

    def _sync(self, message: ws.Sync, _received: int) -> ws.Error | None:
        if self.stage is not Stage.IN:
            return self._not_in()
        self.wasted += 1
        self._known = {game.game: game.ply for game in message.games}
        self._strange.clear()
        known = tuple(Known(game, ply) for game, ply in self._known.items())
        for seat in self._seats():
            seat.sync(known)
        return None

    def _available(self, message: ws.Ready | ws.Pause | ws.Drain, _received: int) -> ws.Error | None:
        if self.stage is not Stage.IN:
            return self._not_in()
        self.wasted += 1
        for seat in self._seats():
            seat.available(_AVAILABILITY[type(message)])
        return None

    def _set_limits(self, message: ws.SetLimits, _received: int) -> ws.Error | None:
        if self.stage is not Stage.IN:
            return self._not_in()
        self.wasted += 1
        try:
            limits = _limits(message.limits)
        except Refused as refusal:
            return ws.Error(code=refusal.code, text=refusal.sentence)
        for seat in self._seats():
            seat.limit(limits)
        return None

    def _event(self, message: ws.EnterEvent | ws.WithdrawEvent | ws.CheckInEvent, _received: int) -> ws.Error | None:
        if self.stage is not Stage.IN:
            return self._not_in()
        self.wasted += 1
        self._seats()[0].event(_EVENT_WISHES[type(message)], message.event)
        return None

    def _ask(self, message: ws.Ask, _received: int) -> ws.Error | None:
        if self.stage is not Stage.IN:
            return self._not_in(message.ref)
        self.wasted += 1
        fields = msgspec.structs.asdict(message)
        ends_at = fields.pop("ends_at")
        ends_at_ms = None if ends_at is None else round(1000 * ends_at)
        wish = QuestionWish(**fields | {"against": tuple(message.against), "ends_at_ms": ends_at_ms})
        self._seats()[0].question(wish)
        return None

    def _stop_question(self, message: ws.StopQuestion, _received: int) -> ws.Error | None:
        if self.stage is not Stage.IN:
            return self._not_in(message.ref)
        self.wasted += 1
        self._seats()[0].question(StopWish(message.ref, message.question))
        return None

    def _watch_venue(self, message: ws.WatchVenue, _received: int) -> ws.Error | None:
        gallery = self._context.galleries.get(message.venue)
        if gallery is None:
            return self._no_venue(message.venue)
        self.wasted += 1
        watcher = self._watcher(message.venue)
        watcher.everything = True
        gallery.enter(watcher, True)
        return None

    def _watch_game(self, message: ws.WatchGame, _received: int) -> ws.Error | None:
        gallery = self._context.galleries.get(message.venue)
        if gallery is None:
            return self._no_venue(message.venue)
        self.wasted += 1
        watcher = self._watchers.get(message.venue)
        new = watcher is None or message.game not in watcher.games
        if new and self._watching >= WATCHED_MAX:
            text = f"You watch {WATCHED_MAX} games already. Unwatch one first."
            return ws.Error(code=Code.TOO_MANY, text=text, game=message.game)
        if watcher is None:
            watcher = self._watcher(message.venue)
            gallery.enter(watcher, False)
        refusal = gallery.observe(watcher, message.game, message.ply)
        if refusal is not None:
            return ws.Error(code=Code.TOO_MANY, text=refusal, game=message.game)
        if new:
            watcher.games.add(message.game)
            self._watching += 1
        return None

    def _unwatch(self, message: ws.Unwatch, _received: int) -> ws.Error | None:
        gallery = self._context.galleries.get(message.venue)
        if gallery is None:
            return self._no_venue(message.venue)
        self.wasted += 1
        watcher = self._watchers.get(message.venue)
        if watcher is None:
            return None
        if message.game is None:
            watcher.everything = False
        else:
            self.unwatched(watcher, message.game)
        gallery.ignore(watcher, message.game)
        return None

    def _watcher(self, venue: str) -> Watcher:
        watcher = self._watchers.get(venue)
        if watcher is None:
            watcher = self._watchers[venue] = Watcher(self, self._peer, venue)
        return watcher

    def _no_venue(self, venue: str, fatal: bool = False) -> ws.Error:
        names = ", ".join(self._context.galleries)
        return ws.Error(
            code=Code.NO_VENUE, text=f"This server has no venue {_line(venue)!r}, it has: {names}.", fatal=fatal
        )

    def _not_in(self, ref: str = "") -> ws.Error:
        text = (
            "Your sign-in is being checked: wait for signed_in." if self.stage is Stage.CHECKING else "Sign in first."
        )
        return ws.Error(code=Code.NOT_SIGNED_IN, text=text, ref=ref)

    # -- what its places say

    def tell(self, message: ws.ServerMessage) -> None:
        """Send, but not before `signed_in`."""
        if self._held is None:
            self._peer.send(message)
        else:
            self._held.append(message)

    def event(self, news: EventNews) -> None:
        """Something happened in an event; who has heard of one need not enter it after the sign-in, but for a series:
        another event of it may take the bot."""
        if not news.series:
            self._to_enter.pop(news.event, None)
        self.tell(render.event(news))

    def accepted(self, name: str) -> None:
        """One venue more has seated the bot, as `name`."""
        if self.stage is not Stage.CHECKING or any(place.seat is None for place in self._places.values()):
            return
        self.stage = Stage.IN
        self._name = name
        held, self._held = self._held or [], None
        self._peer.send(ws.SignedIn(name=name, venues=list(self._places), slots=self._slots), *held)
        to_enter, self._to_enter = self._to_enter, {}
        for event in to_enter:
            self._seats()[0].event(EventWish.ENTER, event)

    def refused(self, place: Place, code: str, sentence: str, retry_after_s: float | None) -> None:
        """A venue does not take the bot, or lets it go."""
        if self.stage is _CLOSED:
            return
        if code == DRAINED and self.stage is Stage.IN:
            self.stage = Stage.CLOSED
            self._peer.send(ws.Drained())
            self._close(Ending.DRAINED)
            return
        ending = Ending.DISMISSED if self.stage is Stage.IN else Ending.REFUSED
        self.stage = Stage.CLOSED
        self._peer.send(ws.Error(code=code, text=sentence, fatal=True, retry_after_s=retry_after_s, venue=place.venue))
        self._close(ending)

    def game(self, place: Place, number: GameId) -> PlayedGame:
        """The table of a game; made anew where there is none."""
        game = self._games.get(number)
        if game is None:
            game = self._games[number] = PlayedGame(self, place, number)
        return game

    def known(self, number: GameId) -> int:
        """The last ply of a game that the client has said it knows. It counts once."""
        return self._known.pop(number, 0)

    def unknown(self, place: Place, games: Sequence[GameId]) -> None:
        """One venue does not know these games; the client hears it of those that no venue knows."""
        for number in games:
            strange = self._strange.setdefault(number, set())
            strange.add(place.venue)
            if len(strange) == len(self._places):
                del self._strange[number]
                text = f"No venue in which you are signed in has a game {number} of yours."
                self.tell(ws.Error(code=Code.NO_GAME, text=text, game=number))

    def ended(self, game: PlayedGame) -> None:
        """The client was told how `game` ended."""
        number = game.number
        self._games.pop(number, None)
        unseen = self._unseen
        unseen.pop(number, None)
        if len(unseen) >= UNSEEN_MAX:
            del unseen[next(iter(unseen))]
        unseen[number] = game.place

    def unwatched(self, watcher: Watcher, number: GameId) -> None:
        """A watched game is not watched any more."""
        if number in watcher.games:
            watcher.games.remove(number)
            self._watching -= 1


class RoundTrip:
    """How long the way to a client and back takes, smoothed."""

    __slots__ = ("_smooth", "_told")

    def __init__(self) -> None:
        self._smooth = self._told = -1.0

    def sample(self, us: int) -> float | None:
        """One ping's way in microseconds. Milliseconds where the client is to be told: at first, and after each change
        by more than a quarter."""
        self._smooth = us if self._smooth < 0 else self._smooth + (us - self._smooth) * _NEW_WEIGHT
        if self._told >= 0 and abs(self._smooth - self._told) <= self._told / 4:
            return None
        self._told = self._smooth
        return round(self._smooth / 1000, 3)


_NEW_WEIGHT: Final = 0.25
"""Of a new measurement against all before it."""

_FAULTS: Final[Mapping[Fault, str]] = {
    Fault.NO_GAME: "You have no running game of this number. Sync it to hear how it ended.",
    Fault.GAP: "Ply {ply} was sent, and {next} is the next one. Send sync to hear what you missed.",
    Fault.NOT_YOUR_TURN: "It is not your move at ply {ply}.",
    Fault.CONTRADICTION: "Another move stands at ply {ply} already. Send sync to see it.",
}

_AVAILABILITY: Final = {
    ws.Ready: Availability.READY,
    ws.Pause: Availability.PAUSED,
    ws.Drain: Availability.DRAINING,
}

_EVENT_WISHES: Final = {
    ws.EnterEvent: EventWish.ENTER,
    ws.WithdrawEvent: EventWish.WITHDRAW,
    ws.CheckInEvent: EventWish.CHECK_IN,
}

_RULES: Final[Mapping[type[ws.ClientMessage], Callable[[WsSession, Any, int], ws.Error | None]]] = {
    ws.SignIn: WsSession._sign_in,
    ws.Move: WsSession._move,
    ws.Seen: WsSession._seen,
    ws.Sync: WsSession._sync,
    ws.Ready: WsSession._available,
    ws.Pause: WsSession._available,
    ws.Drain: WsSession._available,
    ws.SetLimits: WsSession._set_limits,
    ws.EnterEvent: WsSession._event,
    ws.WithdrawEvent: WsSession._event,
    ws.CheckInEvent: WsSession._event,
    ws.Ask: WsSession._ask,
    ws.StopQuestion: WsSession._stop_question,
    ws.WatchVenue: WsSession._watch_venue,
    ws.WatchGame: WsSession._watch_game,
    ws.Unwatch: WsSession._unwatch,
}


def _limits(limits: ws.OwnerLimits) -> Limits:
    """Raises Refused where the hours cannot be read."""
    return Limits(
        games_a_day=limits.games_a_day,
        avoid=frozenset(limits.avoid),
        accepts=frozenset(limits.accepts),
        hours=hours.parse(limits.hours),
    )


def _line(text: str) -> str:
    """`text` as one printable line: it is stored, logged and shown."""
    return text if text.isprintable() else "".join(char if char.isprintable() else "?" for char in text)
