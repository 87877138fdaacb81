"""When to connect, when to try again, when to stop: the life of a client from start to exit status.

Must not know: what lines mean, how an engine is asked.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable

from cgos_client.bridge import Agenda, Bridge, End, Ended, GameResult, Identity
from cgos_client.errors import CannotConnect
from cgos_client.events import Event
from cgos_client.retry import REFUSALS, SETTLED_SECONDS, Pauses, heals_by_waiting, pause_named
from cgos_client.supervisor import EngineGone, SupervisedEngine
from cgos_client.transport import Connection

log = logging.getLogger(__name__)

OK, FAILED, INTERRUPTED = 0, 1, 130


class Runner:
    """Runs sessions one after another.

    :param connect: opens a connection; raises CannotConnect
    :param report: called with every finished game
    :param once: never connect a second time
    :param tell: called with everything that happens in games
    :param sleep: for tests
    """

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        engine: SupervisedEngine,
        identity: Identity,
        agenda: Agenda,
        report: Callable[[GameResult], None],
        *,
        once: bool = False,
        tell: Callable[[Event], None] = lambda _: None,
        rng: random.Random | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._connect = connect
        self._engine = engine
        self._identity = identity
        self._agenda = agenda
        self._report = report
        self._once = once
        self._tell = tell
        self._sleep = sleep
        rng = rng or random.Random()
        self._pauses = Pauses(rng)
        self._refusal_pauses = Pauses(rng, first=20.0)
        self._refusals = 0
        self._work: asyncio.Task[int] | None = None

    async def run(self) -> int:
        """Play until there is nothing more to do. Returns the exit status: 0 done, 1 gave up, 130 left a game."""
        try:
            async with asyncio.TaskGroup() as tasks:
                self._work = tasks.create_task(self._sessions())
        finally:
            await self._engine.close()
        if self._work.cancelled():
            return OK if self._agenda.game is None else INTERRUPTED
        return self._work.result()

    def stop(self) -> None:
        """First call: leave after the game that is on, at once where there is none. Second call: leave at once."""
        first, self._agenda.leaving = not self._agenda.leaving, True
        if first and self._agenda.game is not None:
            log.info("leaving after game %d; ask again to leave at once (its clock would run on)", self._agenda.game)
        elif self._work is not None:
            log.info("leaving")
            self._work.cancel()

    async def _sessions(self) -> int:
        loop = asyncio.get_running_loop()
        try:
            await self._engine.start()
        except EngineGone as error:
            log.error("%s", error)
            return FAILED
        while True:
            began = loop.time()
            ended = await self._session()
            good = ended.signed_in and (self._agenda.game is not None or loop.time() - began >= SETTLED_SECONDS)
            if good:
                self._pauses.reset()
                self._refusal_pauses.reset()
                self._refusals = 0
            match ended.end:
                case End.LEFT:
                    log.info("%s", ended.sentence)
                    return OK
                case End.ENGINE_GONE:
                    log.error("%s", ended.sentence)
                    return FAILED
                case End.REFUSED if not heals_by_waiting(ended.sentence):
                    self._refusals += 1
                    if ended.signed_in:
                        log.error("the server ended the connection: %s", ended.sentence)
                    else:
                        log.error("the server refused the sign-in as %s: %s", self._identity.name, ended.sentence)
                    if self._refusals >= REFUSALS:
                        log.error("giving up after %d refusals", self._refusals)
                        return FAILED
                    pause = self._refusal_pauses.next(pause_named(ended.sentence))
                case End.REFUSED:
                    what = "ended the connection" if ended.signed_in else "refused the sign-in for now"
                    log.warning("the server %s: %s", what, ended.sentence)
                    pause = self._pauses.next(pause_named(ended.sentence))
                case _:
                    log.warning("no connection: %s", ended.sentence)
                    pause = self._pauses.next()
            if self._once:
                return FAILED
            if self._agenda.done and self._agenda.game is None:
                return OK
            log.info("trying again in %.0f s", pause)
            await self._sleep(pause)

    async def _session(self) -> Ended:
        try:
            connection = await self._connect()
        except CannotConnect as error:
            return Ended(End.LOST, str(error), signed_in=False)
        try:
            return await Bridge(
                connection=connection,
                engine=self._engine,
                identity=self._identity,
                agenda=self._agenda,
                report=self._report,
                tell=self._tell,
            ).run()
        except asyncio.CancelledError:
            await connection.send("quit")
            raise
        finally:
            await connection.close()
