"""Between bots and the questions about them: a bot asks and stops, for its owner, and is told how its questions stand.

Asking goes through the same commands as on every other way, with the rights of the account that owns the bot. Who is
told is the version whose strength is asked about, after the commit, as far as it is there. Must not know: how questions
go on, wire formats, SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

import structlog

from cgos_protocol.api.questions import AskedQuestion
from cgos_protocol.errors import Code, Forbidden, Invalid, NotFound, Refused, StoreError
from cgos_protocol.options import LATEST_MS
from cgos_protocol.question_news import ExpectedCost, QuestionTaken, QuestionWish, StopWish
from cgos_protocol.session import PlayerSession
from cgos_server.core.questions.answer import tallied
from cgos_server.core.questions.asked import Change, State
from cgos_server.core.questions.wording import news_of
from cgos_server.live.questions.director import QuestionDirector
from cgos_server.live.questions.runner import QuestionRunner
from cgos_server.live.venue.live_venue import LiveVenue
from cgos_server.live.venue.player import Player
from cgos_server.service.admin import Admin
from cgos_server.service.commands.declaration import Command
from cgos_server.service.questions.asking import AskChallenge, AskGauntlet, AskTest
from cgos_server.service.questions.managing import QuestionStop

log = structlog.get_logger(__name__)

_TOLD: Final = frozenset({Change.ASKED, Change.RESUMED, Change.ENDED})


class QuestionHerald:
    """One a server. The :class:`~cgos_server.live.venue.question_door.QuestionDoor` of all its lobbies.

    :param spawn: starts a coroutine in the server's task group
    """

    def __init__(
        self,
        director: QuestionDirector,
        venues: Mapping[str, LiveVenue],
        admin: Admin,
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._director = director
        self._venues = venues
        self._admin = admin
        self._spawn = spawn

    def open(self) -> None:
        """From now on the lobbies bring bots here, and the director says what happens."""
        self._director.moved.append(self.happened)
        for live in self._venues.values():
            live.lobby.questions = self

    # -- what is told

    def happened(self, runner: QuestionRunner, change: Change, state: State) -> None:
        """Something is committed of a question: tell the version that it is about, as far as it is there."""
        player = self._venues[runner.venue].roster.players.get(runner.asked.version)
        if change in _TOLD and player is not None and player.session is not None:
            self._tell(player.session, runner, state)

    def arrived(self, venue: str, player: Player) -> None:
        """See :class:`~cgos_server.live.venue.question_door.QuestionDoor`."""
        for runner in self._director.runners.values():
            if runner.venue == venue and runner.asked.version == player.version and player.session is not None:
                self._tell(player.session, runner, State.OPEN)

    def _tell(self, session: PlayerSession, runner: QuestionRunner, state: State) -> None:
        ended = None if state is State.OPEN else runner.end
        news = news_of(
            runner.id,
            runner.venue,
            runner.asked,
            state=state,
            why="" if ended is None else ended.why,
            known=tallied(runner.asked, runner.tally) if ended is None else ended.answer,
            names=self._venues[runner.venue].roster.names,
        )
        session.question(news)

    # -- what bots ask (QuestionDoor)

    def wish(self, player: Player, session: PlayerSession, wish: QuestionWish | StopWish) -> None:
        """See :class:`~cgos_server.live.venue.question_door.QuestionDoor`."""
        self._spawn(self._do(player, session, wish))

    async def _do(self, player: Player, session: PlayerSession, wish: QuestionWish | StopWish) -> None:
        """Do it; whatever comes of it, the bot hears."""
        try:
            if isinstance(wish, StopWish):
                await self._stop(player, wish)
            else:
                session.question_taken(_taken(wish, await self._admin.for_bot(_command(player, wish), player.name)))
        except Refused as refusal:
            session.question_refused(wish.ref, refusal.code, refusal.sentence)
        except StoreError:
            sentence = "The server cannot reach its database just now. Please try again in a minute."
            session.question_refused(wish.ref, Code.STORE, sentence)
        except Exception as error:
            log.error("our fault in a bot's question", bot=player.name, exc_info=error)
            session.question_refused(wish.ref, Code.OUR_FAULT, "The server failed. Its log says more.")

    async def _stop(self, player: Player, wish: StopWish) -> None:
        runner = self._director.runners.get(wish.question)
        if runner is None:
            raise NotFound(Code.NO_QUESTION, f"There is no question {wish.question} that has not ended.")
        if runner.asked.version != player.version:
            raise Forbidden(Code.NOT_ALLOWED, f"Question {wish.question} is not about you.")
        await self._admin.for_bot(QuestionStop(question=wish.question), player.name)


def _command(player: Player, wish: QuestionWish) -> Command[AskedQuestion]:
    """The same as somebody types. Raises Refused (``question``) where something is missing, or too much."""
    fields: dict[str, Any] = {"version": player.name, "ends_at": wish.ends_at_ms}
    fields |= _said(wish, ("venue", "most_games", "rated", "priority", "dry"))
    seconds = "ends_at is a Unix time in seconds, such as 1767225600 for 2026-01-01."
    _require(wish.ends_at_ms is None or wish.ends_at_ms <= LATEST_MS, seconds)
    against = wish.against
    if wish.kind == "gauntlet":
        _require(bool(against), "A gauntlet needs opponents. Name them in against.")
        return AskGauntlet(opponents=list(against), **fields | _said(wish, ("within",)))
    _require(len(against) <= 1, f"A {wish.kind} has one opponent. Name it alone in against.")
    if wish.kind == "test":
        _require(bool(against), "A test needs an opponent. Name it in against.")
        return AskTest(against=against[0], **fields | _said(wish, ("lower", "upper", "scale", "alpha", "beta")))
    _require(wish.most_games is not None, "A challenge needs the number of its games. Say it in most_games.")
    return AskChallenge(against=against[0] if against else None, **fields)


def _said(wish: QuestionWish, names: tuple[str, ...]) -> dict[str, Any]:
    """What of these it says; the rest is as the commands have it."""
    return {name: value for name in names if (value := getattr(wish, name)) is not None}


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise Invalid(Code.QUESTION, sentence)


def _taken(wish: QuestionWish, asked: AskedQuestion) -> QuestionTaken:
    costs = tuple(
        ExpectedCost(
            case=cost.case, difference=cost.difference, games=cost.games, hours=cost.hours, accepted=cost.accepted
        )
        for cost in asked.costs
    )
    return QuestionTaken(
        ref=wish.ref,
        question=asked.question,
        venue=asked.venue,
        kind=asked.kind,
        text=asked.sentence,
        costs=costs,
    )
