"""The CGOS line dialogue on one connection: an engine's lines to its seat and its game's words to the engine.

Who is not an engine is handed on: viewers to :mod:`cgos_server.net.viewer`, operators to
:mod:`cgos_server.net.operator_lines`. Floods and slow sign-ins are dealt with here, at the cost of the offender alone.
Must not know: sockets, what a lobby or a game does with what the bot says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog

from cgos_protocol.event_news import EventNews
from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId
from cgos_protocol.lines.framing import Line
from cgos_protocol.lines.player import CgosPlayer, Fatal, Ignored, Move, Quit, Ready, Reply, State, Watch
from cgos_protocol.question_news import QuestionNews, QuestionTaken
from cgos_protocol.session import Credentials, GameOver, GameSetup, OperatorDesk, PeerRelay, Seat, Turn
from cgos_server.net.limits import RateLimiter
from cgos_server.net.loop import Handle, Timekeeper
from cgos_server.net.operator_lines import OperatorLines
from cgos_server.net.viewer import ViewerLines
from cgos_server.net.wire import BotSockets, ConnectionContext, Wire, blame
from cgos_server.observability.metrics import CloseReason
from cgos_server.observability.transcript_files import MASK
from cgos_server.observability.transcripts import TranscriptRecorder

log = structlog.get_logger(__name__)


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class EngineLines(PeerRelay[Wire]):
    """One dialogue, from the greeting on. Implements :class:`~cgos_protocol.session.PlayerSession` and, as it
    has one game at a time, :class:`~cgos_protocol.session.Table`.

    :ivar receive: takes the next line: of an engine, a viewer or an operator
    """

    _context: ConnectionContext
    receive: Callable[[Line], None] = field(init=False)
    _sockets: BotSockets = field(init=False)
    _time: Timekeeper = field(init=False)
    _ignored: RateLimiter = field(init=False)
    _recorder: TranscriptRecorder | None = field(init=False)
    _player: CgosPlayer = field(default_factory=CgosPlayer, init=False)
    _viewer: ViewerLines | None = field(default=None, init=False)
    _seat: Seat | None = field(default=None, init=False)
    _sign_in_timer: Handle | None = field(default=None, init=False)
    _orderly: bool = field(default=False, init=False)

    says_ready = True

    def __post_init__(self) -> None:
        sockets, transcripts = self._context.sockets, self._context.sockets.transcripts
        self.receive = self._engine_line
        self._sockets = sockets
        self._time = sockets.time
        self._ignored = RateLimiter(sockets.limits.ignored_per_minute)
        self._recorder = None if transcripts is None else transcripts.recorder(self._peer.id, self._context.venue)

    # -- what the wire says

    def opened(self, refusal: str | None) -> None:
        """The connection stands; `refusal` is the sentence why it may not stay."""
        self._say(self._player.greeting())
        if refusal is not None:
            self._sockets.metrics.refused("connections")
            self._dismiss(self._player.refused(refusal), CloseReason.REFUSED)
            return
        time = self._time
        self._sign_in_timer = time.call_at(
            time.now() + self._sockets.limits.login_timeout_us, self._sign_in_took_too_long
        )

    def unreadable(self, sentence: str) -> None:
        """What the peer sent cannot be cut into lines."""
        self._violation("long-line", self._player.refused(sentence))

    def ended(self) -> None:
        """The peer closes in order."""
        self._orderly = True

    def lost(self, clean: bool) -> None:
        """The connection is gone; `clean` where no error ended it."""
        if self._sign_in_timer is not None:
            self._sign_in_timer.cancel()
        viewer, self._viewer = self._viewer, None
        if viewer is not None:
            viewer.gone()
        seat, self._seat = self._seat, None
        if seat is not None:
            seat.left(self._orderly and clean)
        self.receive = _unheard  # it would hold itself

    # -- what the bot says

    def _engine_line(self, line: Line) -> None:
        recorder, seat, player = self._recorder, self._seat, self._player
        words = line.text
        if recorder is not None:
            recorder.heard(words if seat is not None else _masked(player.state, words), line.received)
        if seat is not None:
            move = player.plain_move(words)
            if move is not None:
                seat.move(move, None, line.received)
                return
        match player.receive(words):
            case Move(text, analysis):
                if seat is not None:
                    seat.move(text, analysis, line.received)
            case Ready():
                if seat is not None:
                    seat.ready()
            case Ignored(why):
                self._was_ignored(why)
            case Reply(data):
                self._say(data)
            case Credentials() as credentials:
                self._signing_in()
                if recorder is not None:
                    recorder.secrets(credentials.secret, credentials.new_secret)
                self._context.reception.sign_in(self, credentials._replace(address=self._peer.address))
            case Watch(client):
                self._signing_in()
                self._recorder = None
                self._viewer = ViewerLines(self._context, self._peer, client)
                self.receive = self._viewer.receive
            case Quit():
                self._orderly = True
                self._peer.close(CloseReason.QUIT)
            case Fatal(data, code):
                self._violation(code, data)

    def _signing_in(self) -> None:
        """From here on it is our time."""
        if self._sign_in_timer is not None:
            self._sign_in_timer.cancel()
            self._sign_in_timer = None

    def _was_ignored(self, why: str) -> None:
        sockets = self._sockets
        sockets.metrics.line_ignored()
        if self._ignored.exhausted(self._time.now()):
            sentence = f"You sent {sockets.limits.ignored_per_minute + 1} lines that nobody asked for within a minute."
            self._violation("flood", self._player.refused(sentence))
        else:
            log.debug("line ignored", connection=self._peer.id, why=why)

    def _sign_in_took_too_long(self) -> None:
        seconds = self._sockets.limits.login_timeout_us // 1_000_000
        self._violation("login-timeout", self._player.refused(f"Signing in took longer than {seconds} seconds."))

    # -- what the server says (PlayerSession)

    def accepted(self, seat: Seat, name: str) -> None:
        self._seat = seat
        if self._recorder is not None:
            self._recorder.named(seat.bot, name)
        self._say(self._player.accepted())

    def operator(self, desk: OperatorDesk) -> None:
        self._recorder = None
        self._peer.write(self._player.accepted())
        self.receive = OperatorLines(self._context, self._peer, desk).receive

    def refused(self, code: str, sentence: str, retry_after_s: float | None = None) -> None:
        reason = CloseReason.REFUSED if self._seat is None else CloseReason.DISMISSED
        self._dismiss(self._player.refused(sentence), reason)

    def table(self, game: GameId) -> EngineLines:
        return self

    def unknown(self, games: Sequence[GameId]) -> None:
        """Nobody asks for games by number on this protocol."""

    def info(self, text: str) -> None:
        self._say(self._player.info(text))

    def event(self, news: EventNews) -> None:
        self.info(news.text)

    def event_refused(self, event: str, code: str, sentence: str) -> None:
        """Nobody asks for events on this protocol."""

    def question(self, news: QuestionNews) -> None:
        self.info(news.text)

    def question_taken(self, taken: QuestionTaken) -> None:
        """Nobody asks questions on this protocol."""

    def question_refused(self, ref: str, code: str, sentence: str) -> None:
        """Nobody asks questions on this protocol."""

    async def answers(self, sentence: str) -> bool:
        self.info(sentence)
        return await self.reaches_peer()

    # -- what its game says (Table)

    def setup(self, setup: GameSetup, color: Color) -> None:
        if self._recorder is not None:
            self._recorder.about(setup.game)
        self._say(self._player.setup(setup))

    def genmove(self, color: Color, left_ms: int, other_left_ms: int) -> None:
        self._say(self._player.genmove(color, left_ms))

    def played(self, turn: Turn) -> None:
        then = turn.other_left_ms if turn.on else None
        self._say(self._player.played(turn.color, turn.move, turn.left_ms, then))

    def game_over(self, over: GameOver) -> None:
        self._say(self._player.game_over(over.date, over.result, over.detail))
        if self._recorder is not None:
            self._recorder.soon = True

    def hurry(self) -> None:
        self._peer.flush()

    # -- closing

    def _violation(self, code: str, data: bytes) -> None:
        blame(self._peer, self._sockets.metrics, code)
        self._dismiss(data, CloseReason.VIOLATION)

    def _dismiss(self, data: bytes, reason: CloseReason) -> None:
        self._say(data)
        if self._recorder is not None:
            self._recorder.soon = True
        self._peer.close(reason)

    def _say(self, data: bytes) -> None:
        recorder = self._recorder
        if recorder is not None and data:
            recorder.said(data, self._time.now())
        self._peer.write(data)


def _masked(state: State, text: bytes) -> bytes:
    """What may be written down of a line that came in this state."""
    if state is State.PASSWORD:
        words = max(1, len(text.split()))
        return b" ".join([MASK.encode()] * words)
    if state is State.CHECKING:
        return MASK.encode()  # no line was due: it may be the password again
    if state is State.USERNAME:
        name, *rest = text.split() or [b""]
        return b" ".join([name, *[MASK.encode()] * len(rest)])  # perhaps the password behind the name
    return text


def _unheard(_: Line) -> None:
    """Nothing is heard any more."""
