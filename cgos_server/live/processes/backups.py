"""Takes a backup each day when one is due, in a process of its own that stands back for the games.

One is due when the newest in the folder is older than the latest hour at which one should have been taken: what was
missed while no server ran is made up after the start, and one taken by command counts. Must not know: how a backup is
taken, which of them are removed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import structlog

from cgos_server.live.processes.children import Child, ChildFailed
from cgos_server.net.loop import Timekeeper
from cgos_server.observability.backup_meter import BackupMeter
from cgos_server.storage.backups import folder
from cgos_server.storage.backups.folder import Failed
from cgos_server.storage.backups.names import Keep, last_due
from cgos_server.storage.backups.taking import Backup
from cgos_server.storage.location import Location

log = structlog.get_logger(__name__)

LOOK_S: Final = 30.0
"""Between two looks at the folder."""

RETRY_MS: Final = 3_600_000
"""After a failure; an operator who mends it sooner can take one by command."""

LIMIT_S: Final = 6 * 3_600.0
"""A backup that takes longer is given up."""

Attempt = Callable[[], Backup | Failed]


class Plan(NamedTuple):
    """What the configuration says. `minute`: of the day (UTC), None for no backups."""

    folder: Path
    minute: int | None
    keep: Keep


async def in_child(attempt: Attempt) -> Backup | Failed:
    """What a backup comes to, taken in a process that ends with it."""
    with closing(Child("backup")) as child:
        try:
            return await child.do(attempt, LIMIT_S)
        except ChildFailed as failure:
            return Failed(why=f"The process that takes it {failure}", remedy=None)


class BackupSchedule:
    """One a server.

    :param plan: asked anew at every look
    :param perform: has a backup taken
    """

    def __init__(
        self,
        source: Location,
        plan: Callable[[], Plan],
        *,
        time: Timekeeper,
        meter: BackupMeter,
        perform: Callable[[Attempt], Awaitable[Backup | Failed]] = in_child,
    ) -> None:
        self._source = source
        self._plan = plan
        self._time = time
        self._meter = meter
        self._perform = perform
        self._not_before = 0

    async def run(self) -> None:
        """For ever."""
        while True:
            try:
                await self.look()
            except Exception as error:  # what fails here must not end the server
                log.error("our fault; no backup was taken", exc_info=error)
            await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """Take a backup where one is due."""
        plan, now = self._plan(), self._time.wall_ms()
        try:
            there = await asyncio.to_thread(folder.listed, plan.folder)
        except OSError as error:
            there = []
            log.debug("the folder of backups cannot be read", folder=str(plan.folder), why=str(error))
        # One that seems to be of the future was taken under a wrong clock.
        newest = next((backup for backup in there if backup.at <= now), None)
        if newest is not None:
            self._meter.there(newest.at, newest.size_bytes)
        if plan.minute is None or now < self._not_before:
            return
        if newest is not None and last_due(now, plan.minute) <= newest.at:
            return
        outcome = await self._perform(partial(folder.attempt, plan.folder, self._source, plan.keep, at_ms=now))
        if isinstance(outcome, Backup):
            self._meter.taken(outcome.at, outcome.size_bytes, outcome.seconds)
            log.info("backup taken", file=outcome.file, bytes=outcome.size_bytes, seconds=outcome.seconds)
            return
        self._not_before = now + RETRY_MS
        self._meter.failures += 1
        remedy = {} if outcome.remedy is None else {"remedy": outcome.remedy}
        log.warning("no backup could be taken; it is tried again in an hour", why=outcome.why, **remedy)
