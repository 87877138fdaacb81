"""What the questions that have not ended do just now, asked of the servers that play, and remembered for a moment.

However often pages are loaded, each server is asked once in two seconds at most, for all of its questions. Must not
know: SQL, what a question waits for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from cgos_protocol.api.questions import QuestionDetail, QuestionNow
from cgos_protocol.errors import CgosError
from cgos_protocol.ids import QuestionId
from cgos_server.presentation.questions.answers import with_waits
from cgos_server.service.questions.managing import QuestionLook

FRESH_MS: Final = 2_000
"""How long an answer is believed, or that there was none."""

WAIT_S: Final = 2.0
"""A page waits so long for the answer at most."""

Ask = Callable[[QuestionLook], Awaitable[list[list[QuestionNow]]]]
"""Has all that play answer: :meth:`cgos_server.web.site.Site.everywhere`."""


class QuestionsNow:
    """One a site.

    :param now_ms: Unix time in milliseconds
    """

    def __init__(self, ask: Ask, now_ms: Callable[[], int]) -> None:
        self._ask = ask
        self._now_ms = now_ms
        self._at: int | None = None
        self._known: dict[QuestionId, QuestionNow] = {}
        self._one_at_a_time = asyncio.Lock()

    async def all(self) -> dict[QuestionId, QuestionNow]:
        """By number; none while nobody answers."""
        async with self._one_at_a_time:
            if self._at is None or not 0 <= self._now_ms() - self._at < FRESH_MS:
                self._known = await self._asked()
                self._at = self._now_ms()
        return self._known

    async def added(self, detail: QuestionDetail) -> QuestionDetail:
        """The same, with what it waits for."""
        if detail.state != "open":
            return detail
        return with_waits(detail, (await self.all()).values())

    def forget(self) -> None:
        """Something was done with a question: what was known does not hold any more."""
        self._at = None

    async def _asked(self) -> dict[QuestionId, QuestionNow]:
        try:
            async with asyncio.timeout(WAIT_S):
                answers = await self._ask(QuestionLook())
        except (CgosError, TimeoutError):
            return {}
        return {each.question: each for answer in answers for each in answer}
