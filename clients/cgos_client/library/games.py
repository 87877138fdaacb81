"""One bot's games over any number of connections: the part of the library that decides, without any I/O.

What the server says goes in, and so do the bot's moves and wishes; out come effects, in the order in which they are to
be carried out. A lost connection loses nothing: at the next sign-in the games go on from what is known, a move that was
not committed is sent again, and never another one in its place.
Must not know: sockets, time, tasks, how messages are written.
"""

from __future__ import annotations

import enum
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
from msgspec import UNSET, Raw, UnsetType

from cgos_client.errors import CgosClientError, Dismissed, MoveRefused, ServerFault, SignInRefused
from cgos_protocol.errors import Code
from cgos_protocol.games.notation import normal
from cgos_protocol.ids import GameId
from cgos_protocol.v2 import messages as ws
from cgos_protocol.v2.messages import ColorWord, KnownGame, Ply

FAULTS = 5
"""Contradictions about one position after which a game is not tried to be mended any more."""
REMEMBERED = 1024
"""Ended games whose numbers are kept, so that an ending told twice is not a second game."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a game ended.

    :ivar result: as in SGF, also ``Draw``, ``Abort`` and ``Void``; ``?`` where the server knows the game no more
    :ivar winner: None for a draw and for games without a result
    :ivar reason: score, resignation, time, illegal move, forfeit, void, abort or unknown
    :ivar plies: moves on the record
    :ivar rating: this bot's (before, after) in Elo, where the game was rated
    :ivar plus_minus: half of the 95 % interval of its rating after it, in Elo, where the server has one
    :ivar lower: where that interval begins
    :ivar upper: where it ends; it need not be as far from the rating as `lower` is
    """

    result: str
    winner: ColorWord | None
    reason: str
    detail: str
    plies: int
    date: str
    rating: tuple[float, float] | None = None
    plus_minus: float | None = None
    lower: float | None = None
    upper: float | None = None


class Held(NamedTuple):
    """The bot's own move, chosen and not known to be committed."""

    ply: int
    move: str
    analysis: Raw | UnsetType = UNSET


@dataclass(slots=True, kw_only=True)
class GameState:
    """One game as this bot knows it. Only the state machine changes it.

    :ivar start: the server's description of the game, as it came last
    :ivar moves: the committed moves
    :ivar held: the bot's move at the next ply, chosen already
    :ivar wanted: the ply at which the server waits for the bot's move on this connection
    :ivar open_turn: the ply at which the bot was asked for a move and has not answered
    :ivar turns_given: how often it was asked
    :ivar faults: contradictions about it since the last move
    :ivar sought: True once the server was asked what became of it
    """

    start: ws.Game
    moves: list[Ply]
    black_ms: int
    white_ms: int
    held: Held | None = None
    wanted: int | None = None
    open_turn: int | None = None
    turns_given: int = 0
    faults: int = 0
    sought: bool = False
    outcome: Outcome | None = None

    @property
    def game(self) -> GameId:
        """Its number."""
        return self.start.game

    @property
    def color(self) -> ColorWord:
        """The bot's color."""
        return self.start.color

    @property
    def chosen_move(self) -> str | None:
        """The bot's own next move, chosen already, as the record will have it; None where there is none to record."""
        held = self.held
        move = normal(held.move) if held is not None and held.ply == len(self.moves) + 1 else None
        return None if move == "RESIGN" else move

    def is_own(self, ply: int) -> bool:
        """True where the bot makes that ply."""
        return ply % 2 == (self.color == "black")

    def own_ms(self, black_ms: int, white_ms: int) -> int:
        """The bot's time of the two."""
        return black_ms if self.color == "black" else white_ms


# -- effects


class Send(NamedTuple):
    """Say this to the server."""

    message: ws.ClientMessage


class Admitted(NamedTuple):
    """The sign-in succeeded."""

    signed_in: ws.SignedIn


class Began(NamedTuple):
    """A game that the bot did not know, new or unfinished from before."""

    game: GameId


class TurnGiven(NamedTuple):
    """The bot is to choose a move. It is asked once a ply, again only where the record changed under it."""

    game: GameId
    ply: int


class Changed(NamedTuple):
    """The record or the clocks of a game are others than before."""

    game: GameId


class Ended(NamedTuple):
    """A game has its outcome."""

    game: GameId


class Notice(NamedTuple):
    """A word to people; a complaint where `code` is not empty."""

    text: str
    venue: str = ""
    code: str = ""


class Finished(NamedTuple):
    """The bot asked for `drain` and its last game is over."""


class Fatal(NamedTuple):
    """The connection is of no more use."""

    error: CgosClientError


Effect = Send | Admitted | Began | TurnGiven | Changed | Ended | Notice | Finished | Fatal

_MENDABLE = ("gap", "not-your-turn", "contradiction")
"""What a server says where the client's picture of a game differs from the record."""


class Wish(enum.Enum):
    """What the bot wants of the matchmaker."""

    GAMES = enum.auto()
    PAUSE = enum.auto()
    DRAIN = enum.auto()


@dataclass(slots=True, kw_only=True)
class Games:
    """The state machine of one bot.

    :ivar sign_in: what the bot signs in with; None for who only watches
    :ivar seats: the games it knows, by number; an ended one stays until :meth:`retire`
    :ivar welcome: what the server said of itself last
    :ivar admitted: True while signed in; for who only watches: while connected
    :ivar wish: what it wants of the matchmaker
    :ivar latency_ms: the way to the server and back, as the server measures it
    """

    sign_in: ws.SignIn | None
    seats: dict[GameId, GameState] = field(default_factory=dict)
    welcome: ws.Welcome | None = None
    admitted: bool = False
    wish: Wish = Wish.GAMES
    latency_ms: float | None = None
    _ended: OrderedDict[GameId, None] = field(default_factory=OrderedDict)

    # -- the connection

    def lost(self) -> None:
        """The connection is gone. What the server waited for it will ask again."""
        self.admitted = False
        for seat in self.seats.values():
            seat.wanted, seat.faults, seat.sought = None, 0, False

    def receive(self, message: ws.ServerMessage) -> list[Effect]:
        """What follows from a message. Those to watchers have no effect here."""
        match message:
            case ws.Welcome():
                return self._welcomed(message)
            case ws.SignedIn():
                return self._signed_in(message)
            case ws.Game():
                return self._game(message)
            case ws.Turn() | ws.Moved():
                seat = self.seats.get(message.game)
                if seat is None:
                    self._ended.pop(message.game, None)  # it runs: a restored server knows nothing of its end
                    return [_sync(message.game, 0)]
                if seat.outcome is not None:
                    return []
                return self._turn(seat, message) if isinstance(message, ws.Turn) else self._moved(seat, message)
            case ws.Over():
                return self._over(message)
            case ws.Info():
                return [Notice(message.text, message.venue)]
            case ws.Error():
                return self._error(message)
            case ws.Latency():
                self.latency_ms = message.round_trip_ms
                return []
            case ws.Drained():
                return [Finished()]
            case _:
                return []

    # -- what the bot says

    def choose(self, game: GameId, ply: int, move: str, analysis: Raw | UnsetType = UNSET) -> tuple[bool, list[Effect]]:
        """The bot's move at `ply`. (False, nothing) where the game has gone on or ended meanwhile.

        Raises MoveRefused where the bot was not asked, or has chosen another move there.
        """
        seat = self.seats.get(game)
        if seat is None or seat.outcome is not None:
            return False, []
        held = seat.held
        if held is not None and held.ply == ply:
            if normal(held.move) == normal(move):
                return True, []
            raise MoveRefused("second-move", f"game {game}: {held.move} was chosen at move {ply} already, not {move}")
        if seat.open_turn != ply:
            if ply <= len(seat.moves) + 1 and seat.turns_given:
                return False, []
            raise MoveRefused("not-your-turn", f"game {game}: nobody asked for a move at {ply}")
        seat.held, seat.open_turn = Held(ply, move, analysis), None
        return True, self._send_held(seat)

    def want(self, wish: Wish) -> list[Effect]:
        """Games, none for a while, or none any more. Holds over reconnections."""
        self.wish = wish
        return [Send(_WISHES[wish])] if self.admitted else []

    def limit(self, limits: ws.OwnerLimits) -> list[Effect]:
        """The owner's limits, instead of those before. Holds over reconnections."""
        if self.sign_in is not None:
            self.sign_in = msgspec.structs.replace(self.sign_in, limits=limits)
        return [Send(ws.SetLimits(limits))] if self.admitted else []

    def retire(self, game: GameId) -> None:
        """Nobody looks at that game any more."""
        if self.seats.pop(game, None) is not None:
            self._ended[game] = None
            if len(self._ended) > REMEMBERED:
                self._ended.popitem(last=False)

    @property
    def playing(self) -> list[GameId]:
        """The games without an outcome."""
        return [game for game, seat in self.seats.items() if seat.outcome is None]

    # -- sign-in

    def _welcomed(self, welcome: ws.Welcome) -> list[Effect]:
        if self.welcome is not None and self.welcome.incarnation not in ("", welcome.incarnation):
            self._ended.clear()
        self.welcome = welcome
        if welcome.protocol != ws.VERSION:
            words = f"the server speaks version {welcome.protocol} of its protocol, this client version {ws.VERSION}"
            return [Fatal(ServerFault(words))]
        if self.sign_in is None:
            self.admitted = True
            return []
        known = [KnownGame(game, len(self.seats[game].moves)) for game in self.playing]
        return [Send(msgspec.structs.replace(self.sign_in, games=known))]

    def _signed_in(self, message: ws.SignedIn) -> list[Effect]:
        self.admitted = True
        effects: list[Effect] = [Admitted(message)]
        if self.wish is not Wish.GAMES:
            effects.append(Send(_WISHES[self.wish]))
        return effects

    # -- games

    def _game(self, message: ws.Game) -> list[Effect]:
        game, seat = message.game, self.seats.get(message.game)
        if game in self._ended or (seat is not None and seat.outcome is not None):
            return []  # the ending follows, and is answered again
        if seat is None:
            if message.from_ply:
                return [_sync(game, 0)]
            self.seats[game] = GameState(
                start=message, moves=list(message.moves), black_ms=message.black_ms, white_ms=message.white_ms
            )
            return [Began(game)]
        if message.from_ply > len(seat.moves):
            return self._mend(seat, len(seat.moves))
        seat.start, seat.black_ms, seat.white_ms = message, message.black_ms, message.white_ms
        seat.wanted = None
        self._rewrite(seat, seat.moves[: message.from_ply] + list(message.moves))
        return [Changed(game)]

    def _rewrite(self, seat: GameState, moves: list[Ply]) -> None:
        """`moves` are the record now. What the bot chose stays only where everything before it is as it was."""
        before, seat.moves = seat.moves, moves
        next_ply = len(moves) + 1
        same = _agree(before, moves)
        held = seat.held
        if not same or (held is not None and held.ply != next_ply):
            held = None
        if same and len(before) >= next_ply and seat.is_own(next_ply):
            held = Held(next_ply, before[next_ply - 1].move)  # it was made once and is not made differently now
        seat.held = held
        if seat.open_turn is not None and (not same or seat.open_turn != next_ply):
            seat.open_turn = None

    def _turn(self, seat: GameState, message: ws.Turn) -> list[Effect]:
        if message.ply != len(seat.moves) + 1 or message.color != seat.color:
            return self._mend(seat, min(len(seat.moves), max(0, message.ply - 1)))
        seat.black_ms, seat.white_ms = message.black_ms, message.white_ms
        return [Changed(seat.game), *self._wanted(seat, message.ply)]

    def _moved(self, seat: GameState, message: ws.Moved) -> list[Effect]:
        ply, known = message.ply, len(seat.moves)
        left_ms = message.black_ms if message.color == "black" else message.white_ms
        if seat.is_own(ply) or ply < 1 or message.color == seat.color:
            return self._mend(seat, min(known, max(0, ply - 1)))
        if ply <= known:
            if seat.moves[ply - 1].move != message.move:
                return self._mend(seat, ply - 1)
            if ply < known:
                return []
        else:
            missing = ply - known - 1
            own = seat.chosen_move
            if missing == 1 and own is not None:
                seat.moves.append(Ply(own, seat.own_ms(message.black_ms, message.white_ms)))
            elif missing:
                return self._mend(seat, known)
            seat.moves.append(Ply(message.move, left_ms))
            seat.held, seat.open_turn, seat.wanted, seat.faults = None, None, None, 0
        seat.black_ms, seat.white_ms = message.black_ms, message.white_ms
        return [Changed(seat.game), *(self._wanted(seat, ply + 1) if message.your_turn else ())]

    def _wanted(self, seat: GameState, ply: int) -> list[Effect]:
        seat.wanted = ply
        if seat.held is not None and seat.held.ply == ply:
            return self._send_held(seat)
        if seat.open_turn == ply:
            return []
        seat.open_turn = ply
        seat.turns_given += 1
        return [TurnGiven(seat.game, ply)]

    def _send_held(self, seat: GameState) -> list[Effect]:
        held = seat.held
        if held is None or seat.wanted != held.ply:
            return []
        return [Send(ws.Move(game=seat.game, ply=held.ply, move=held.move, analysis=held.analysis))]

    def _over(self, message: ws.Over) -> list[Effect]:
        game, seat = message.game, self.seats.get(message.game)
        seen = Send(ws.Seen(game))
        if seat is None or seat.outcome is not None:
            return [seen]
        own = seat.chosen_move
        if own is not None and message.plies == len(seat.moves) + 1:
            seat.moves.append(Ply(own, seat.own_ms(seat.black_ms, seat.white_ms)))
        moved = message.rating
        outcome = Outcome(
            result=message.result,
            winner=message.winner,
            reason=message.reason,
            detail=message.detail,
            plies=message.plies,
            date=message.date,
            rating=None if moved is None else (moved.before, moved.after),
            plus_minus=None if moved is None else moved.plus_minus,
            lower=None if moved is None else moved.lower,
            upper=None if moved is None else moved.upper,
        )
        return [seen, *self._end(seat, outcome)]

    def _end(self, seat: GameState, outcome: Outcome) -> list[Effect]:
        seat.outcome, seat.held, seat.open_turn, seat.wanted = outcome, None, None, None
        return [Ended(seat.game)]

    def _mend(self, seat: GameState, ply: int) -> list[Effect]:
        """The record and what is known here differ: ask for what follows `ply`, a limited number of times."""
        seat.faults += 1
        if seat.faults <= FAULTS:
            seat.wanted = None
            return [_sync(seat.game, ply)]
        return [
            Fatal(ServerFault(f"game {seat.game} cannot be followed: the server contradicts itself at move {ply + 1}"))
        ]

    # -- complaints

    def _error(self, message: ws.Error) -> list[Effect]:
        code, text, wait = message.code, message.text, message.retry_after_s
        if message.fatal:
            kind = Dismissed if self.admitted else SignInRefused
            return [Fatal(kind(code, text, fatal=True, retry_after=wait))]
        if message.event or message.ref:
            return []  # of an event or a question, of which others take care
        effects: list[Effect] = [Notice(text, message.venue, code)]
        seat = None if message.game is None else self.seats.get(message.game)
        if seat is None or seat.outcome is not None:
            return effects
        if code in _MENDABLE:
            return [*effects, *self._mend(seat, len(seat.moves))]
        if code == Code.NO_GAME:
            return [*effects, *self._unknown(seat, text)]
        return effects

    def _unknown(self, seat: GameState, text: str) -> list[Effect]:
        """It runs no more: ask once how it ended, then leave it at that."""
        if not seat.sought:
            seat.sought, seat.wanted = True, None
            return [_sync(seat.game, len(seat.moves))]
        plies = len(seat.moves)
        return self._end(seat, Outcome(result="?", winner=None, reason="unknown", detail=text, plies=plies, date=""))


_WISHES: dict[Wish, ws.ClientMessage] = {
    Wish.GAMES: ws.Ready(),
    Wish.PAUSE: ws.Pause(),
    Wish.DRAIN: ws.Drain(),
}


def _sync(game: GameId, ply: int) -> Send:
    return Send(ws.Sync([KnownGame(game, ply)]))


def _agree(one: list[Ply], other: list[Ply]) -> bool:
    """True where one record is the beginning of the other."""
    return all(a.move == b.move for a, b in zip(one, other, strict=False))
