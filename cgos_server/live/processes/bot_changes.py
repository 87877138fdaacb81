"""Applies to the venues of this node what was changed of bots, by whichever node of the cluster.

What the database says is applied, not what was heard: so it does not matter whether a message is lost, comes twice, or
speaks of what this node did itself. Must not know: how nodes hear of one another.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import structlog

from cgos_protocol.errors import CgosError
from cgos_protocol.ids import BotId
from cgos_server.service.control import Control
from cgos_server.service.ratings.families import Families
from cgos_server.service.ratings.family_links import join, part
from cgos_server.service.ratings.venue_ledgers import VenueLedgers
from cgos_server.storage.store import Store

log = structlog.get_logger(__name__)


class BotChanges:
    """One a node.

    :param here: the bots that are signed in
    :param now_ms: Unix milliseconds
    """

    def __init__(
        self,
        store: Store,
        control: Control,
        *,
        families: Families,
        ledgers: VenueLedgers,
        here: Callable[[], Collection[BotId]],
        now_ms: Callable[[], int],
    ) -> None:
        self._store = store
        self._control = control
        self._families = families
        self._ledgers = ledgers
        self._here = here
        self._now_ms = now_ms

    async def run(self) -> None:
        """For ever."""
        async for bots in self._store.sharing.changes():
            try:
                await self.apply(bots)
            except CgosError as error:
                log.warning("changes of bots are not applied yet", why=str(error))

    async def apply(self, bots: Collection[BotId] | None) -> None:
        """Have the live server be as the database says that these bots are; None: all of them.

        :raises CgosError: where the database does not say so
        """
        here = set(self._here())
        names = {bot: name for bot, name, _ in await self._store.history.bots.names()}  # of all who were here before
        for bot in sorted(here if bots is None else here & set(bots)):
            await self._apply(bot, names[bot])
        await self._apply_families()

    async def _apply(self, bot: BotId, name: str) -> None:
        login = await self._store.history.bots.login(name)
        if login is None:
            return
        if login.state != "active":
            self._control.dismiss(bot, f"{login.name} was disabled: {login.reason}")
        else:
            self._control.wishes(bot, login.paused, login.limits)

    async def _apply_families(self) -> None:
        if not await self._store.sharing.families_to_apply():
            return
        async with self._store.sharing.hold("families"), self._ledgers.lock:
            changed = await self._store.sharing.families_to_apply()
            leaders = {bot: leader for bot, _, leader in await self._store.history.bots.names()}
            for version, bot in (await self._store.history.bots.of_versions()).items():
                self._families.arrived(version, bot)
            venues = await self._ledgers.all()
            for bot, before in changed.items():
                after, at = leaders[bot], self._now_ms()
                entries = {} if before is None else part(self._families, venues, bot=bot, leader=before, at=at)
                self._families.lead(bot, after)
                if after is not None:
                    for venue, more in join(self._families, venues, bot=bot, leader=after, at=at).items():
                        entries.setdefault(venue, []).extend(more)
                for venue, records in entries.items():
                    await self._store.commit(records)
                    self._ledgers.changed(venue)
            await self._store.sharing.families_applied(changed)
