"""What an owner's bot does in the live server just now, asked at the control socket, and remembered for a moment.

However often pages are loaded, the game process is asked about one bot once in two seconds at most. Whoever calls has
made sure that the person may see the bot. Must not know: SQL, what a version's state is decided from.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from starlette.requests import Request

from cgos_protocol.errors import CgosError, Code, Refused
from cgos_server.service.commands.availability import BotLook
from cgos_server.service.control import VersionNow

OnBehalf = Callable[[str, Request, BotLook], Awaitable[list[list[VersionNow]]]]
"""Has all that play look with the rights of a credential: :meth:`cgos_server.web.site.Site.everywhere_on_behalf`."""

FRESH_MS: Final = 2_000
"""How long an answer is believed."""

WAIT_S: Final = 2.0
"""A page waits so long for the answer at most."""

KEPT: Final = 1_000
"""Bots whose answers are remembered."""

SILENT: Final = "The server that plays does not answer just now, so this cannot say what the bot does."


class Now(NamedTuple):
    """What is known.

    :ivar versions: those that are signed in, or whose games run; None where nobody answered
    :ivar sentence: why nobody did; empty otherwise
    """

    versions: list[VersionNow] | None
    sentence: str = ""


class _Answer:
    """The latest answer about one bot. Whoever waits for the lock finds it fresh."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.at: int | None = None
        self.now = Now(None)


class BotsNow:
    """One a site.

    :param now_ms: Unix time in milliseconds
    :param wait_s: see :data:`WAIT_S`
    """

    def __init__(self, on_behalf: OnBehalf, now_ms: Callable[[], int], wait_s: float = WAIT_S) -> None:
        self._on_behalf = on_behalf
        self._now_ms = now_ms
        self._wait_s = wait_s
        self._answers: OrderedDict[str, _Answer] = OrderedDict()

    async def look(self, bot: str, credential: str, request: Request) -> Now:
        """What `bot` does. Never raises for a game process that is away or slow: then it says so.

        :param credential: of whoever asks
        """
        answer = self._answers.setdefault(bot, _Answer())
        self._answers.move_to_end(bot)
        while len(self._answers) > KEPT:
            self._answers.popitem(last=False)
        async with answer.lock:
            if answer.at is None or not 0 <= self._now_ms() - answer.at < FRESH_MS:
                now, shared = await self._ask(bot, credential, request)
                if not shared:
                    return now
                answer.now, answer.at = now, self._now_ms()
        return answer.now

    def forget(self, bot: str) -> None:
        """Something was done with that bot: what was known of it does not hold any more."""
        self._answers.pop(bot, None)

    async def _ask(self, bot: str, credential: str, request: Request) -> tuple[Now, bool]:
        """The answer, and whether it holds for others who may see the bot as well."""
        try:
            async with asyncio.timeout(self._wait_s):
                answers = await self._on_behalf(credential, request, BotLook(bot=bot))
        except Refused as refusal:
            if refusal.code is not Code.NO_SERVER:
                return Now(None, refusal.sentence), False
            return Now(None, SILENT), True
        except (CgosError, TimeoutError):
            return Now(None, SILENT), True
        return Now([version for answer in answers for version in answer]), True
