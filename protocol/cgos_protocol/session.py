"""The seam between wire protocols and the live server: what a lobby or a game may say to a bot, and hear from it.

Every wire protocol is a shell round these interfaces; a lobby or a game never knows which one it talks to. All calls
are plain synchronous calls inside the event loop and never raise: a session whose peer is gone swallows them. The one
exception is :meth:`PlayerSession.answers`, which waits for the peer.
Must not know: sockets, storage, how bots are paired.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from cgos_protocol.errors import Code
from cgos_protocol.event_news import EventNews, EventWish, Occasion
from cgos_protocol.facts import Fact
from cgos_protocol.games.base import Color
from cgos_protocol.hours import ALWAYS, Hours
from cgos_protocol.ids import BotId, ConnectionId, GameId, QuestionId
from cgos_protocol.question_news import QuestionNews, QuestionTaken, QuestionWish, StopWish
from cgos_protocol.terms import Terms

NARROWEST_STEP: Final = 1.0
WIDEST_STEP: Final = 1_000.0
"""Bounds of the standard deviation of the step between a version and its predecessor that somebody states, Elo: our
choice. Nobody knows two engines better than that, and what is wider says nothing."""


class NamedPredecessor(NamedTuple):
    """The version that a bot says to come from.

    :ivar name: its wire name
    :ivar sd: standard deviation of the step between the two, Elo, from :data:`NARROWEST_STEP` to :data:`WIDEST_STEP`;
        None where none is stated
    :ivar surely: True where nobody doubts it
    """

    name: str
    sd: float | None = None
    surely: bool = False


class Declaration(NamedTuple):
    """What a bot says of the version that plays; the CGOS line protocol has no words for it.

    :ivar label: the version's own name, such as ``1.2``; empty for the bot's only version
    :ivar wire_name: the name it wants to be shown under; empty: made from bot and label
    :ivar parameters: JSON of an object, compact; empty for none
    :ivar predecessor: whom it succeeds in a venue into which it comes for the first time; None: the server decides
    """

    label: str = ""
    wire_name: str = ""
    engine: str = ""
    parameters: str = ""
    author: str = ""
    predecessor: NamedPredecessor | None = None


class Credentials(NamedTuple):
    """What a bot signs in with.

    :ivar name: the name as sent, already checked against the name rules
    :ivar secret: password or token
    :ivar new_secret: the password that shall replace it, or None
    :ivar client: the client's own description of itself
    :ivar analysis: True where the client announced that its moves may carry analysis
    :ivar address: the peer's address, for limits and logs; empty where the words alone are looked at
    :ivar declared: the version that plays
    """

    name: str
    secret: str
    new_secret: str | None
    client: str
    analysis: bool
    address: str = ""
    declared: Declaration = Declaration()


class GameSetup(NamedTuple):
    """Everything a bot needs to sit down at a game, new or in the middle.

    :ivar komi2: in half points
    :ivar level_ms: the time control's figure at the start of the game
    :ivar black_label: rating as shown in parentheses: ``1800`` or ``1800?``
    :ivar moves: (normal spelling, mover's milliseconds left after it), alternating from Black
    :ivar left_ms: [Black's, White's] milliseconds left as committed
    :ivar venue: the venue's name
    :ivar terms: rules, time control and limits; None only in tests of the lines
    :ivar why: why these two meet, one sentence for people; may be empty
    :ivar opening: the name of the opening that its first moves are, or empty
    :ivar occasion: the event that it is played in; None: it is none of an event
    :ivar question: the question that it is played for; None: for none
    """

    game: GameId
    size: int
    komi2: int
    level_ms: int
    black: str
    black_label: str
    white: str
    white_label: str
    moves: tuple[tuple[str, int], ...] = ()
    left_ms: tuple[int, int] = (0, 0)
    venue: str = ""
    terms: Terms | None = None
    why: str = ""
    opening: str = ""
    occasion: Occasion | None = None
    question: QuestionId | None = None


class Turn(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A committed move, as its opponent is told it.

    :ivar ply: its number, from 1
    :ivar color: who made it
    :ivar move: normal spelling
    :ivar left_ms: the mover's milliseconds left after it
    :ivar other_left_ms: the opponent's
    :ivar at: when the server received it, Unix milliseconds
    :ivar on: True where the game goes on and it is now the opponent's move
    """

    ply: int
    color: Color
    move: str
    left_ms: int
    other_left_ms: int
    at: int
    on: bool


class RatingMoved(NamedTuple):
    """What a game did to one rating, in Elo.

    :ivar plus_minus: half of the 95 % interval after it, where the rating system says so
    :ivar lower: where that interval begins
    :ivar upper: where it ends; it need not be as far from `after` as `lower` is
    """

    before: float
    after: float
    plus_minus: float | None = None
    lower: float | None = None
    upper: float | None = None


class GameOver(NamedTuple):
    """A game's end, as one of its players is told it.

    :ivar date: YYYY-MM-DD
    :ivar result: as :attr:`cgos_protocol.verdict.Verdict.text`
    :ivar reason: a value of :class:`cgos_protocol.verdict.Reason`
    :ivar plies: moves on the record
    :ivar rating: what it did to this player's rating, where the game was rated and that is known
    """

    date: str
    result: str
    winner: Color | None
    reason: str
    detail: str
    plies: int
    rating: RatingMoved | None = None


class Table(Protocol):
    """One game on one connection, as the game sees it."""

    def setup(self, setup: GameSetup, color: Color) -> None:
        """A game begins, or goes on after a reconnection; this bot plays `color`."""

    def genmove(self, color: Color, left_ms: int, other_left_ms: int) -> None:
        """Your move, without a move of the opponent just before."""

    def played(self, turn: Turn) -> None:
        """The opponent moved; with `turn.on` it is also your move."""

    def game_over(self, over: GameOver) -> None:
        """The game has ended."""

    def hurry(self) -> None:
        """The time of this side is up: hand over at once what was received and is held back, if anything is."""


class Liveness(Protocol):
    """Whether anybody is at the other end of a connection."""

    @property
    def id(self) -> ConnectionId:
        """The connection's number, for logs and the store."""

    @property
    def alive(self) -> bool:
        """False once it is lost or being closed."""

    @property
    def heard_at(self) -> int:
        """When the peer last sent anything (microseconds, loop's clock)."""

    @property
    def proxied(self) -> bool:
        """True where a configured proxy stands between, so that TCP says nothing about the bot itself."""


class Reach(Liveness, Protocol):
    """What is known of the peer at the other end of a connection, whatever is spoken on it."""

    @property
    def address(self) -> str:
        """The peer's address, as limits and logs want it."""

    @property
    def has_room(self) -> bool:
        """False while more than half of what may wait for this peer is waiting."""

    async def reaches_peer(self) -> bool:
        """True where the peer, or its system, acknowledges within a few seconds what was written last."""


R = TypeVar("R", bound=Reach)


@dataclass(slots=True, eq=False, repr=False)
class PeerRelay(Generic[R]):
    """Relays what its connection knows of the peer: a :class:`Reach`."""

    _peer: R

    @property
    def id(self) -> ConnectionId:
        return self._peer.id

    @property
    def address(self) -> str:
        return self._peer.address

    @property
    def alive(self) -> bool:
        return self._peer.alive

    @property
    def heard_at(self) -> int:
        return self._peer.heard_at

    @property
    def proxied(self) -> bool:
        return self._peer.proxied

    @property
    def has_room(self) -> bool:
        return self._peer.has_room

    async def reaches_peer(self) -> bool:
        return await self._peer.reaches_peer()


class PlayerSession(Liveness, Protocol):
    """One bot's connection in one venue, as the lobby sees it."""

    @property
    def says_ready(self) -> bool:
        """True where the bot must say `ready` after each game (CGOS lines); False where a free slot is enough."""

    def accepted(self, seat: Seat, name: str) -> None:
        """Sign-in succeeded: from now on the bot's words go to `seat`. `name` is the wire name."""

    def operator(self, desk: OperatorDesk) -> None:
        """The sign-in was an operator's: from now on the lines are commands. Where the protocol has none: refuse."""

    def refused(self, code: str, sentence: str, retry_after_s: float | None = None) -> None:
        """Sign-in failed, or the bot must go: tell it why, then close."""

    def table(self, game: GameId) -> Table:
        """The end of the wire at which that game is played."""

    def unknown(self, games: Sequence[GameId]) -> None:
        """Answer to :meth:`Seat.sync`: these are no games of this version in this venue."""

    def info(self, text: str) -> None:
        """A word to the bot's author. Needs no answer."""

    def event(self, news: EventNews) -> None:
        """Something happened in an event that concerns this bot. Needs no answer."""

    def event_refused(self, event: str, code: str, sentence: str) -> None:
        """Answer to :meth:`Seat.event`: it cannot be."""

    def question(self, news: QuestionNews) -> None:
        """A question about this bot stands as this says. Needs no answer."""

    def question_taken(self, taken: QuestionTaken) -> None:
        """Answer to :meth:`Seat.question`: it is asked, or what it would cost."""

    def question_refused(self, ref: str, code: str, sentence: str) -> None:
        """Answer to :meth:`Seat.question`: it cannot be."""

    async def answers(self, sentence: str) -> bool:
        """Tell the peer `sentence`; True where its side still acknowledges within a few seconds."""


class Availability(enum.StrEnum):
    """What a bot wants of the matchmaker."""

    READY = "ready"
    PAUSED = "paused"
    """No new game until it is ready again."""
    DRAINING = "draining"
    """No new game any more; when the last one is over the bot is sent home."""


EVERYBODY: Final = "*"
"""Among the names of `Limits.accepts`: it plays in everybody's questions."""


class Limits(NamedTuple):
    """What a bot's owner allows.

    :ivar games_a_day: most games begun within 24 hours; None: no limit
    :ivar avoid: wire names that it must not meet
    :ivar accepts: names of the accounts and bots in whose questions it plays, or :data:`EVERYBODY`; empty: in nobody's
    :ivar hours: when a game of it may begin
    """

    games_a_day: int | None = None
    avoid: frozenset[str] = frozenset()
    accepts: frozenset[str] = frozenset()
    hours: Hours = ALWAYS


class Known(NamedTuple):
    """A game that a client knows, up to and including `ply` (0: nothing of its moves)."""

    game: GameId
    ply: int


class Fault(enum.StrEnum):
    """Why a move of a numbered game was not taken."""

    NO_GAME = Code.NO_GAME.value
    """No running game of this bot has that number."""
    GAP = "gap"
    """The ply is not the next one."""
    NOT_YOUR_TURN = "not-your-turn"
    CONTRADICTION = "contradiction"
    """Another move stands at that ply already."""


class Seat(Protocol):
    """What a signed-in session tells the live server."""

    @property
    def bot(self) -> BotId:
        """The number of the bot that sits here."""

    def move(self, text: str, analysis: str | None, received: int) -> None:
        """The bot answered `genmove` in its only game. `received`: when the line counts as received (microseconds,
        loop's clock)."""

    def play(self, game: GameId, ply: int, text: str, analysis: str | None, received: int) -> Fault | None:
        """The bot's move at `ply` of `game`. None: it was taken, or it repeats what was taken already."""

    def ready(self) -> None:
        """The bot wants its next game (where :attr:`PlayerSession.says_ready`)."""

    def seen(self, game: GameId) -> None:
        """The bot knows how `game` ended."""

    def available(self, availability: Availability) -> None:
        """The bot changes what it wants of the matchmaker."""

    def limit(self, limits: Limits) -> None:
        """The owner's limits, instead of those before."""

    def sync(self, known: Sequence[Known]) -> None:
        """Tell what follows what the client knows of these games: moves, clocks, verdict."""

    def event(self, wish: EventWish, event: str) -> None:
        """The bot wants something of an event, by its name. Answered later by :meth:`PlayerSession.event`, in the
        event's venue, or by :meth:`PlayerSession.event_refused` here. What is so already is no refusal."""

    def question(self, wish: QuestionWish | StopWish) -> None:
        """The bot asks about itself, or stops what is asked about it. Answered later by
        :meth:`PlayerSession.question_taken` or :meth:`PlayerSession.question_refused` here; what was stopped is told by
        :meth:`PlayerSession.question`, in the question's venue."""

    def left(self, orderly: bool) -> None:
        """The connection is gone; `orderly` where the peer said so or closed it itself."""


class OperatorDesk(Protocol):
    """What an operator's commands go to. One a connection; a command is answered before the next one begins."""

    def command(self, line: str, answer: Callable[[Sequence[str]], None]) -> None:
        """Do what `line` says and call `answer` once, later or at once, with the lines to be shown (no line ends). It
        answers also what it does not understand, and what failed."""


class Reception(Protocol):
    """Where a session brings a bot that wants in. One a venue."""

    def sign_in(self, session: PlayerSession, credentials: Credentials) -> None:
        """Answers later with `session.accepted` or `session.refused`, unless the session dies first."""


class Wish(NamedTuple):
    """How a bot of several slots or venues wants to play.

    :ivar slots: games at once, over all its venues (>= 1)
    :ivar known: games of which it knows something, for a resume
    """

    slots: int = 1
    limits: Limits = Limits()
    known: tuple[Known, ...] = ()


class MultiVenueReception(Protocol):
    """Where a connection brings a bot that wants into several venues at once. One a server."""

    def sign_in(self, sessions: Mapping[str, PlayerSession], credentials: Credentials, wish: Wish) -> None:
        """Checks `credentials` once and seats the bot in every venue of `sessions`, all or none.

        Answers each session with `accepted`, or one of them with `refused`, after which the connection closes. A venue
        that does not exist is refused like a wrong password: with a sentence.
        """


# -- those who watch


class ListedGame(NamedTuple):
    """One game of a venue's list. Times are Unix seconds; `result` is None while it runs."""

    game: GameId
    started_at: float
    size: int
    komi2: int
    black: str
    black_label: str
    white: str
    white_label: str
    result: str | None


class ShownGame(NamedTuple):
    """One game to look at, running or archived. `setup` holds all its moves."""

    setup: GameSetup
    started_at: float
    over: GameOver | None


class Spectator(Protocol):
    """A connection that watches one venue, as the gallery sees it.

    What it has not read yet is bounded: the gallery asks `has_room` first, and while there is none it tells nothing.
    When there is room again it gives a fresh picture instead of what was missed. Nobody is dropped for reading slowly.
    """

    @property
    def has_room(self) -> bool:
        """False while too much that was written has not been read."""

    def listed(self, games: Sequence[ListedGame], missed: int) -> None:
        """The picture: recent games, oldest first, then the running ones. `missed`: facts skipped before it."""

    def facts(self, facts: Sequence[Fact]) -> None:
        """What happened since, in order; to be written at once."""

    def shown(self, game: GameId, shown: ShownGame | None, since: int) -> None:
        """The picture of a watched game, from the move after `since` on; None where there is no such game."""

    def moved(self, game: GameId, turns: Sequence[Turn]) -> None:
        """Moves of a watched game, in order. `other_left_ms` and `at` may be 0."""

    def ended(self, game: GameId, over: GameOver) -> None:
        """A watched game has ended."""


class Gallery(Protocol):
    """Where spectators of one venue come. One a venue.

    Nothing is told within these calls: the answers come soon afterwards, when the spectator has room.
    """

    @property
    def size(self) -> int:
        """Board size of the venue's games."""

    @property
    def komi2(self) -> int:
        """Their komi in half points."""

    def enter(self, spectator: Spectator, everything: bool) -> None:
        """Watch from now on. With `everything` a picture of the venue comes first and all its facts follow (moves
        excepted), else only the games that are observed."""

    def observe(self, spectator: Spectator, game: GameId, since: int) -> str | None:
        """Watch one game from the move after `since` on: it is shown, or shown to be none, and moves follow while it
        runs. Otherwise the sentence why not now: it watches as much as one may."""

    def ignore(self, spectator: Spectator, game: GameId | None) -> None:
        """Stop watching `game`, or with None the venue's facts."""

    def leave(self, spectator: Spectator) -> None:
        """Gone. May be called for somebody who never came."""
