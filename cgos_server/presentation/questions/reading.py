"""Questions as pages, API and commands answer them: lists, and one with all that is known of it.

One a process that reads; it is for one event loop. Must not know: HTTP, how an answer is shown.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import NamedTuple

from cgos_protocol.api import questions as api
from cgos_protocol.errors import Refused
from cgos_protocol.ids import QuestionId, VersionId
from cgos_server.core.questions.asked import decode_asked
from cgos_server.presentation.questions import answers
from cgos_server.presentation.questions.record import QuestionRecord, ReadQuestions, names_of
from cgos_server.presentation.strengths import StrengthsOf
from cgos_server.service.questions.planning import Pace
from cgos_server.storage.reading.history import History


class Wanted(NamedTuple):
    """Which questions: those of which all of this is true.

    :ivar owner: the name of an account
    :ivar bot: the name of a bot, or of a version: it is asked about, or is a named opponent
    :ivar state: a value of :class:`cgos_server.core.questions.asked.State`
    """

    venue: str | None = None
    owner: str | None = None
    bot: str | None = None
    state: str | None = None


class Questions:
    """Answers about questions.

    :param share: of its bots' time that a question gets, 0 to 1
    """

    def __init__(self, history: History, strengths: StrengthsOf, share: float) -> None:
        self._history = history
        self._strengths = strengths
        self._share = share
        self._read = ReadQuestions(history)

    async def record(self, question: QuestionId) -> QuestionRecord:
        """See :meth:`ReadQuestions.numbered`."""
        return await self._read.numbered(question)

    async def detail(self, question: QuestionId, address: str) -> api.QuestionDetail:
        """All that is known of a question. Raises as :meth:`record`.

        :param address: that of the pages, without a slash at its end
        """
        record = await self.record(question)
        venue = record.row.venue
        pace = Pace.of(await self._history.lengths.of_venue(venue), self._share)
        strengths = await self._strengths.venue(venue)
        link = question_link(address, question)
        return await asyncio.to_thread(partial(answers.detail, record, link=link, pace=pace, strengths=strengths))

    async def page(self, wanted: Wanted, limit: int, before: int | None = None) -> api.QuestionPage:
        """Questions, the latest first. Raises Refused where a name is unknown, StoreError, OurFault."""
        owner = None if wanted.owner is None else await self._history.people.account_id(wanted.owner)
        versions = None if wanted.bot is None else await self._versions(wanted.bot)
        rows = await self._history.questions.page(
            limit + 1, before=before, venue=wanted.venue, owner=owner, versions=versions, state=wanted.state
        )
        page = rows[:limit]
        names = await names_of(self._history, [decode_asked(row.asked) for row in page])
        return api.QuestionPage(
            items=[answers.question(row, names) for row in page],
            next=page[-1].id if len(rows) > limit else None,
        )

    async def _versions(self, name: str) -> list[VersionId]:
        """The version of this name, else all of the bot. Raises Refused."""
        try:
            return [VersionId((await self._history.bots.version(name)).id)]
        except Refused:
            return [VersionId(version.id) for version in (await self._history.bots.detail(name)).versions]


def question_link(address: str, question: QuestionId) -> str:
    """Where people can look at a question.

    :param address: that of the pages, without a slash at its end
    """
    return f"{address}/questions/{question}"
