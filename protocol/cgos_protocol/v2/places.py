"""What a ``cgos.v2`` connection is to the live server: a bot's place in a venue, a game on it, a watcher of a venue.

Each turns calls of the seam into messages. Must not know: encodings, sockets, what the client said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

from cgos_protocol.errors import Code
from cgos_protocol.event_news import EventNews
from cgos_protocol.facts import Fact, GameEnded, MovePlayed, VenueFact
from cgos_protocol.games.base import Color
from cgos_protocol.ids import ConnectionId, GameId
from cgos_protocol.question_news import QuestionNews, QuestionTaken
from cgos_protocol.session import GameOver, GameSetup, ListedGame, OperatorDesk, PeerRelay, Reach, Seat, ShownGame, Turn
from cgos_protocol.v2 import messages as ws
from cgos_protocol.v2 import render


class Peer(Reach, Protocol):
    """The connection, as the dialogue sees it."""

    def wall(self) -> float:
        """Unix time in seconds."""

    def send(self, *messages: ws.ServerMessage) -> None:
        """Send, in order. Does nothing where the peer is gone."""


class Dialogue(Protocol):
    """What places and watchers tell their connection's dialogue."""

    def tell(self, message: ws.ServerMessage) -> None: ...
    def event(self, news: EventNews) -> None: ...
    def accepted(self, name: str) -> None: ...
    def refused(self, place: Place, code: str, sentence: str, retry_after_s: float | None) -> None: ...
    def game(self, place: Place, number: GameId) -> PlayedGame: ...
    def known(self, number: GameId) -> int: ...
    def unknown(self, place: Place, games: Sequence[GameId]) -> None: ...
    def ended(self, game: PlayedGame) -> None: ...
    def unwatched(self, watcher: Watcher, number: GameId) -> None: ...


class Place(PeerRelay[Peer]):
    """The bot in one venue. A :class:`~cgos_protocol.session.PlayerSession`.

    :ivar seat: None until the sign-in has succeeded
    """

    __slots__ = ("_dialogue", "_id", "seat", "venue")

    says_ready = False

    def __init__(self, dialogue: Dialogue, peer: Peer, venue: str, number: ConnectionId) -> None:
        super().__init__(peer)
        self._id = number
        self.venue = venue
        self.seat: Seat | None = None
        self._dialogue = dialogue

    @property
    def id(self) -> ConnectionId:
        return self._id

    def accepted(self, seat: Seat, name: str) -> None:
        if not self.alive:
            seat.left(False)
            return
        self.seat = seat
        self._dialogue.accepted(name)

    def operator(self, desk: OperatorDesk) -> None:  # noqa: ARG002
        sentence = "This name is an operator's. Operators use the CGOS ports or the command cgos-server."
        self._dialogue.refused(self, Code.OPERATOR, sentence, None)

    def refused(self, code: str, sentence: str, retry_after_s: float | None = None) -> None:
        self._dialogue.refused(self, code, sentence, retry_after_s)

    def table(self, game: GameId) -> PlayedGame:
        return self._dialogue.game(self, game)

    def unknown(self, games: Sequence[GameId]) -> None:
        self._dialogue.unknown(self, games)

    def info(self, text: str) -> None:
        self._peer.send(ws.Info(text, self.venue))

    def event(self, news: EventNews) -> None:
        self._dialogue.event(news)

    def event_refused(self, event: str, code: str, sentence: str) -> None:
        self._dialogue.tell(ws.Error(code=code, text=sentence, event=event))

    def question(self, news: QuestionNews) -> None:
        self._dialogue.tell(render.question(news))

    def question_taken(self, taken: QuestionTaken) -> None:
        self._dialogue.tell(render.asked(taken))

    def question_refused(self, ref: str, code: str, sentence: str) -> None:
        self._dialogue.tell(ws.Error(code=code, text=sentence, ref=ref))

    async def answers(self, sentence: str) -> bool:
        self.info(sentence)
        return await self.reaches_peer()


class PlayedGame:
    """One game of the bot. A :class:`~cgos_protocol.session.Table`.

    :ivar ply: the last ply that stands, as far as this connection knows
    """

    __slots__ = ("_dialogue", "number", "place", "ply")

    def __init__(self, dialogue: Dialogue, place: Place, number: GameId) -> None:
        self.number = number
        self.place = place
        self.ply = 0
        self._dialogue = dialogue

    def setup(self, setup: GameSetup, color: Color) -> None:
        self.ply = len(setup.moves)
        from_ply = min(self._dialogue.known(self.number), self.ply)
        self._dialogue.tell(render.game(setup, color, from_ply))

    def genmove(self, color: Color, left_ms: int, other_left_ms: int) -> None:
        self._dialogue.tell(
            render.turn(self.number, self.ply + 1, color=color, left_ms=left_ms, other_left_ms=other_left_ms)
        )

    def played(self, turn: Turn) -> None:
        self.ply = turn.ply
        self._dialogue.tell(render.moved(self.number, turn))

    def game_over(self, over: GameOver) -> None:
        self._dialogue.tell(render.over(self.number, over))
        self._dialogue.ended(self)

    def hurry(self) -> None:
        """Nothing is ever held back: a frame is a message."""


class Watcher:
    """Who watches one venue. A :class:`~cgos_protocol.session.Spectator`.

    :ivar everything: True where it wants the venue's facts, not only single games
    :ivar games: the games that it watches
    """

    __slots__ = ("_dialogue", "_peer", "everything", "games", "venue")

    def __init__(self, dialogue: Dialogue, peer: Peer, venue: str) -> None:
        self.venue = venue
        self.everything = False
        self.games: set[GameId] = set()
        self._dialogue = dialogue
        self._peer = peer

    @property
    def has_room(self) -> bool:
        return self._peer.has_room

    def listed(self, games: Sequence[ListedGame], missed: int) -> None:
        if self.everything:
            self._peer.send(ws.Picture(self.venue, [render.game_line(game) for game in games], missed))

    def facts(self, facts: Sequence[Fact]) -> None:
        self._peer.send(*[ws.FactTold(cast(VenueFact, fact)) for fact in facts])

    def shown(self, game: GameId, shown: ShownGame | None, since: int) -> None:
        if shown is None:
            self._dialogue.unwatched(self, game)
            text = f"Venue {self.venue} has no game {game}."
            self._peer.send(ws.Error(code=Code.NO_GAME, text=text, game=game, venue=self.venue))
            return
        if shown.over is not None:
            self._dialogue.unwatched(self, game)
        self._peer.send(render.shown(self.venue, shown, since))

    def moved(self, game: GameId, turns: Sequence[Turn]) -> None:
        self._peer.send(
            *[
                ws.FactTold(MovePlayed(venue=self.venue, game=game, ply=turn.ply, move=turn.move, left_ms=turn.left_ms))
                for turn in turns
            ]
        )

    def ended(self, game: GameId, over: GameOver) -> None:
        self._dialogue.unwatched(self, game)
        self._peer.send(
            ws.FactTold(
                GameEnded(venue=self.venue, game=game, result=over.result, reason=over.reason, at=self._peer.wall())
            )
        )
