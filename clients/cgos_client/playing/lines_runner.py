"""A bot on CGOS lines: when to connect, when to try again, when to stop.

Must not know: what lines mean, how an engine is asked.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field

from cgos_client.bridge.supervisor import EngineGone, SupervisedEngine
from cgos_client.errors import CannotConnect
from cgos_client.playing.events import Listener
from cgos_client.playing.lines_session import Agenda, Bridge, End, Ended, Identity
from cgos_client.playing.together import FAILED, OK, BotRunner
from cgos_client.playing.transport import Connection
from cgos_client.retry import WRONG_SETTINGS, Retries, heals_by_waiting, pause_named

log = logging.getLogger(__name__)


@dataclass(eq=False, kw_only=True)
class Runner(BotRunner):
    """Runs sessions one after another.

    :ivar connect: opens a connection; raises CannotConnect
    :ivar tell: called with everything that happens in games
    :ivar once: never connect a second time
    :ivar retries: when to connect again
    :ivar was_in: whether any session was signed in
    :ivar sleep: for tests
    """

    connect: Callable[[], Awaitable[Connection]]
    engine: SupervisedEngine
    identity: Identity
    agenda: Agenda
    tell: Listener
    once: bool = False
    was_in: bool = False
    retries: Retries = field(default_factory=lambda: Retries(random.Random()))
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def _close(self) -> None:
        await self.engine.close()

    def _games_on(self) -> Collection[int]:
        return () if self.agenda.game is None else (self.agenda.game,)

    def _leave_after_games(self) -> None:
        self.agenda.leaving = True
        log.info("leaving after game %d; ask again to leave at once (its clock would run on)", self.agenda.game)

    async def _play(self) -> int:
        loop = asyncio.get_running_loop()
        try:
            await self.engine.start()
        except EngineGone as error:
            log.error("%s", error)
            return FAILED
        while True:
            began = loop.time()
            ended = await self._session()
            if ended.signed_in:
                self.was_in = True
                self.retries.signed_in(loop.time() - began, self.agenda.game is not None)
            if ended.end is End.LEFT:
                log.info("%s", ended.sentence)
                return OK
            if ended.end is End.ENGINE_GONE:
                log.error("%s", ended.sentence)
                return FAILED
            pause = self._pause_after(ended)
            if pause is None or self.once:
                return FAILED
            if self.agenda.done and self.agenda.game is None:
                return OK
            log.info("trying again in %.2g s", pause)
            await self.sleep(pause)

    def _pause_after(self, ended: Ended) -> float | None:
        """Say what happened; seconds until the next attempt, None where there shall be none."""
        sentence = ended.sentence
        if ended.end is not End.REFUSED:
            log.warning("no connection: %s", sentence)
            if ended.failure is not None and ended.failure.code in WRONG_SETTINGS:
                return None
            if ended.failure is not None and ended.failure.is_misdirected and not self.was_in:
                return self.retries.pause_after_refusal()
            return self.retries.pause()
        if heals_by_waiting(sentence):
            what = "ended the connection" if ended.signed_in else "refused the sign-in for now"
            log.warning("the server %s: %s", what, sentence)
            return self.retries.pause(pause_named(sentence))
        what = "ended the connection" if ended.signed_in else f"refused the sign-in as {self.identity.name}"
        log.error("the server %s: %s", what, sentence)
        pause = self.retries.pause_after_refusal(pause_named(sentence))
        if pause is None:
            log.error("giving up after %d refusals", self.retries.refusals)
        return pause

    async def _session(self) -> Ended:
        try:
            connection = await self.connect()
        except CannotConnect as error:
            return Ended(End.LOST, str(error), signed_in=False, failure=error)
        try:
            return await Bridge(
                connection=connection, engine=self.engine, identity=self.identity, agenda=self.agenda, tell=self.tell
            ).run()
        except asyncio.CancelledError:
            await connection.send("quit")
            raise
        finally:
            await connection.close()
