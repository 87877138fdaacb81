"""Answers of the API about questions: what is asked by games, and what these say.

Must not know: SQL, what follows from games, how addresses are read.
"""

from __future__ import annotations

from typing import Annotated

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from cgos_protocol.api import questions as api
from cgos_protocol.api.route import TEXT
from cgos_server.presentation.questions import answers
from cgos_server.presentation.questions.reading import Wanted, question_link
from cgos_server.web.api.reading.parameters import Before, Name, OnlyVenue, PageSize, QuestionNumber, up_to
from cgos_server.web.api.typed import Group
from cgos_server.web.site import Site

_questions = Group("Questions")


class ReadingQuestions:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site

    @_questions.get("/questions")
    async def questions(
        self,
        venue: OnlyVenue = None,
        owner: Annotated[Name | None, "Only those that this account asks."] = None,
        bot: Annotated[Name | None, "Only those about this bot or version, or with it for a named opponent."] = None,
        state: Annotated[api.StateWord | None, "Only those that stand so."] = None,
        before: Before = None,
        limit: Annotated[PageSize, up_to(200)] = 50,
    ) -> api.QuestionPage:
        """Questions, the latest first: tests, gauntlets and challenges."""
        wanted = Wanted(venue=venue, owner=owner, bot=bot, state=state)
        return await self._site.questions.page(wanted, limit, before)

    @_questions.get("/questions/{question}")
    async def question(self, request: Request, question: QuestionNumber) -> api.QuestionDetail:
        """One question, with what its games say.

        What decides is `answer`, by the question's own games. `superiority` beside it is Bayesian and decides nothing:
        it takes the ladder's ratings too.
        """
        detail = await self._site.questions.detail(question, self._site.address(request))
        return await self._site.questions_now.added(detail)

    @_questions.get("/questions/{question}/games")
    async def question_games(self, question: QuestionNumber) -> api.QuestionGames:
        """The games of a question, pair by pair."""
        return answers.games(await self._site.questions.record(question))

    @_questions.get("/questions/{question}/text", media=(TEXT,))
    async def question_text(self, request: Request, question: QuestionNumber) -> Response:
        """A question in six lines of text, to be pasted into a pull request."""
        record = await self._site.questions.record(question)
        link = question_link(self._site.address(request), question)
        return PlainTextResponse(answers.text(record, link) + "\n")
