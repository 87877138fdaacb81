"""What a lobby asks of the questions: which are about a bot, and what a bot asks about itself.

Must not know: how questions go on, wire formats.
"""

from __future__ import annotations

from typing import Final, Protocol

from cgos_protocol.errors import Code
from cgos_protocol.question_news import QuestionWish, StopWish
from cgos_protocol.session import PlayerSession
from cgos_server.live.venue.player import Player


class QuestionDoor(Protocol):
    """The questions, as the lobbies of the venues see them. One a server."""

    def arrived(self, venue: str, player: Player) -> None:
        """A bot has signed in to a venue: tell it how the questions about it stand there that have not ended."""

    def wish(self, player: Player, session: PlayerSession, wish: QuestionWish | StopWish) -> None:
        """A bot asks about itself, or stops what is asked; see :meth:`cgos_protocol.session.Seat.question`."""


class _NoQuestions:
    """Of a server that has not read its questions yet."""

    def arrived(self, venue: str, player: Player) -> None: ...

    def wish(self, player: Player, session: PlayerSession, wish: QuestionWish | StopWish) -> None:  # noqa: ARG002
        session.question_refused(wish.ref, Code.STARTING, "The server is starting. Ask again in a moment.")


NO_QUESTIONS: Final[QuestionDoor] = _NoQuestions()
