"""One session with a server: its lines on one side, an engine on the other.

Decides what is answered to each line. Must not know: how the connection came about, when to connect again, why the
client is asked to leave.
"""

from __future__ import annotations

import asyncio
import enum
import logging
from dataclasses import dataclass
from typing import NamedTuple

from cgos_client.bridge.supervisor import RESIGN, EngineGone, SupervisedEngine
from cgos_client.errors import CannotConnect
from cgos_client.playing.events import GameOver, GameResult, Listener, MoveAsked, MoveMade, Seated
from cgos_client.playing.lines_messages import (
    BadLine,
    GameEnded,
    Greeting,
    Info,
    Message,
    MoveWanted,
    NameWanted,
    Other,
    PasswordWanted,
    Played,
    Refusal,
    parse,
)
from cgos_client.playing.transport import Connection
from cgos_protocol.games.base import Color
from cgos_protocol.session import GameSetup

log = logging.getLogger(__name__)

IDLE_SECONDS = 3600.0
"""Silence after which a connection counts as lost. Opponents may think for long; keep-alive notices dead peers."""
SIGN_IN_SECONDS = 30.0
"""The same until the password has been sent: what asks for no sign-in is another kind of server, or hangs."""
LEAVING_SECONDS = 10.0
"""How long a client that wants to leave waits after signing in for a game that it may have left unfinished."""
_OVERTAKING = frozenset(("gameover", "setup", "genmove", "play", "Error:"))
"""Lines after which the answer to the last ``genmove`` is not wanted any more."""


class Identity(NamedTuple):
    """What the client signs in with. `secret` is a password or token and is never shown."""

    name: str
    secret: str
    client: str

    def __repr__(self) -> str:
        return f"Identity({self.name!r})"


@dataclass(slots=True, kw_only=True)
class Agenda:
    """What the client still means to do; shared by its sessions.

    :ivar games_left: games after which to leave, or None for ever
    :ivar leaving: leave after the current game
    :ivar game: the number of the game that is on, or None
    :ivar last: the last result that was told
    """

    games_left: int | None = None
    leaving: bool = False
    game: int | None = None
    last: GameResult | None = None

    @property
    def done(self) -> bool:
        """True when no further game is wanted."""
        return self.leaving or self.games_left == 0


class End(enum.Enum):
    """How a session ended."""

    LEFT = enum.auto()
    """The client left: its agenda is done."""
    LOST = enum.auto()
    """The connection ended, or the server spoke nonsense."""
    REFUSED = enum.auto()
    """The server said ``Error:``."""
    ENGINE_GONE = enum.auto()
    """The engine cannot be kept running."""


class Ended(NamedTuple):
    """A session's end.

    :ivar sentence: what happened, for people
    :ivar signed_in: True where the server went on after the password
    :ivar failure: why there was no connection; None where there was one
    """

    end: End
    sentence: str
    signed_in: bool
    failure: CannotConnect | None = None


@dataclass(slots=True, kw_only=True)
class Bridge:
    """Runs one session over a connection that is open already.

    :ivar tell: called with everything that happens in games
    """

    connection: Connection
    engine: SupervisedEngine
    identity: Identity
    agenda: Agenda
    tell: Listener
    _analysis: bool = False
    _password_sent: bool = False
    _signed_in: bool = False
    _seated: Seated | None = None

    async def run(self) -> Ended:
        """Talk until the session ends. The connection stays the caller's to close."""
        try:
            end, sentence = await self._talk()
        except BadLine as error:
            end, sentence = End.LOST, f"the server's line cannot be used: {error}"
        except EngineGone as error:
            end, sentence = End.ENGINE_GONE, str(error)
        if end in (End.LEFT, End.ENGINE_GONE):
            await self.connection.send("quit")
        return Ended(end, sentence, self._signed_in)

    async def _talk(self) -> tuple[End, str]:
        """Answer lines until the session ends: how, and what happened. Raises BadLine and EngineGone."""
        line = await self._read()
        while line is not None:
            message = parse(line)
            if isinstance(message, Refusal):
                return End.REFUSED, message.sentence
            if self._password_sent and not self._signed_in:
                self._signed_in = True
                log.info("signed in as %s", self.identity.name)
            if isinstance(message, MoveWanted):
                line = await self._move(message)
                continue
            await self._hear(message)
            if isinstance(message, GameEnded) and self.agenda.done:
                return End.LEFT, "left after the game"
            line = await self._read()
        return self._silence()

    def _silence(self) -> tuple[End, str]:
        """What the end of reading means."""
        if self.connection.lost is not None:
            return End.LOST, self.connection.lost
        if not self._password_sent:
            return End.LOST, (
                "the server does not speak the CGOS protocol or does not answer: it did not ask for the password, and "
                f"was silent for {SIGN_IN_SECONDS:g} s"
            )
        if self._leaves_unless_seated():
            self.agenda.game = None
            return End.LEFT, "left, since no game is waiting"
        return End.LOST, "the server said nothing for too long"

    def _leaves_unless_seated(self) -> bool:
        return self.agenda.done and self._password_sent and self._seated is None

    async def _read(self) -> str | None:
        """The next line; None when the connection is lost, was silent for too long, or the client may leave."""
        limit = IDLE_SECONDS if self._password_sent else SIGN_IN_SECONDS
        waited = 0.0
        while waited < limit:
            line = await self.connection.read(LEAVING_SECONDS)
            if line is not None or self.connection.lost is not None:
                return line
            if self._leaves_unless_seated():
                return None
            waited += LEAVING_SECONDS
        return None

    async def _hear(self, message: Message) -> None:
        """Everything but a refusal and the request for a move."""
        match message:
            case Greeting():
                self._analysis = message.analysis and self.engine.analyses
                await self.connection.send(f"e1 {self.identity.client}{' genmove_analyze' if self._analysis else ''}")
            case NameWanted():
                await self.connection.send(self.identity.name)
            case PasswordWanted():
                await self.connection.send(self.identity.secret, secret=True)
                self._password_sent = True
            case Info():
                log.info("server: %s", message.text)
            case GameSetup():
                await self._sit(message)
            case Played():
                if self._seated is None:
                    raise BadLine("'play' came before 'setup'")
                self.tell(MoveMade(self._seated.setup.game, message.color, message.move, message.left_ms))
                await self.engine.played(message.color, message.move)
            case GameEnded():
                await self._game_over(message)
            case Other() if message.line.startswith("HTTP/"):
                raise BadLine(
                    f"{message.line[:60]!r} comes from a web server; CGOS lines are spoken on a port of their own, and "
                    "for a WebSocket port the address begins with ws://"
                )
            case Other():
                log.warning("the server sent a line that this client does not know: %s", message.line[:200])

    async def _sit(self, setup: GameSetup) -> None:
        name = self.identity.name.lower()
        if name not in (setup.black.lower(), setup.white.lower()):
            raise BadLine(f"'setup' is for {setup.white} and {setup.black}, not for {self.identity.name}")
        seated = Seated(setup, Color.BLACK if name == setup.black.lower() else Color.WHITE)
        log.info("%s%s", seated, f" after {len(setup.moves)} moves" if setup.moves else "")
        self._seated, self.agenda.game = seated, setup.game
        self.tell(seated)
        await self.engine.sit(seated.new_game(), [move for move, _ in setup.moves])

    async def _move(self, wanted: MoveWanted) -> str | None:
        """Let the engine think, with an ear on the server. Returns the next line, or None as :meth:`_read` does."""
        if self._seated is None:
            raise BadLine("'genmove' came before 'setup'")
        game = self._seated.setup.game
        self.tell(MoveAsked(game, wanted.color, wanted.left_ms))
        async with asyncio.TaskGroup() as tasks:
            thinking = tasks.create_task(self.engine.genmove(wanted.color, wanted.left_ms))
            while True:
                hearing = tasks.create_task(self._read())
                await asyncio.wait({thinking, hearing}, return_when=asyncio.FIRST_COMPLETED)
                if thinking.done() and not hearing.done():
                    hearing.cancel()
                    break
                line = hearing.result()
                if line is None or line.split(None, 1)[0] in _OVERTAKING:
                    thinking.cancel()
                    return line
                await self._hear(parse(line))
                if thinking.done():
                    break
        move = thinking.result()
        analysis = move.analysis if self._analysis else None
        await self.connection.send(move.text if analysis is None else f"{move.text} {analysis}")
        if move.text != RESIGN.text:
            self.tell(MoveMade(game=game, color=wanted.color, move=move.text, left_ms=None, analysis=move.analysis))
        return await self._read()

    async def _game_over(self, ended: GameEnded) -> None:
        seated, self._seated, self.agenda.game = self._seated, None, None
        if seated is not None:
            over = GameOver(seated.setup.game, ended.date, ended.result, ended.detail)
            self.tell(over)
            self._count(seated, seated.result(over, self.engine.ply))
        await self.engine.game_over(ended.result)
        if not self.agenda.done:
            await self.engine.start()
            await self.connection.send("ready")

    def _count(self, seated: Seated, result: GameResult) -> None:
        if seated.setup.moves and result == self.agenda.last:
            return  # a server repeats an ending where it cannot know that it was heard
        self.agenda.last = result
        if self.agenda.games_left is not None:
            self.agenda.games_left = max(0, self.agenda.games_left - 1)
        self.tell(result)
