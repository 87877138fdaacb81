"""Puts another configuration in force while the server runs, as far as that goes without a restart.

Must not know: where the configuration is read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import msgspec
import structlog

from cgos_protocol.errors import CgosError, Code, Conflict
from cgos_server.config.reloading import AT_ONCE, changed
from cgos_server.config.schema import Config
from cgos_server.config.venues import venue_value
from cgos_server.live.venue.live_venue import LiveVenue, reconfigure
from cgos_server.net.tls.certificates import CertificateKeeper
from cgos_server.observability.notifying import SERVING, Supervisor

log = structlog.get_logger(__name__)


class Reloading:
    """One a server.

    :param reread: reads the configuration again, from where it came from; raises ConfigErrors. None where it came from
        nowhere
    :param supervisor: is told of it
    :ivar config: what is in force
    :ivar keeper: has the certificate, which is read again too
    """

    def __init__(
        self,
        config: Config,
        venues: Mapping[str, LiveVenue],
        reread: Callable[[], Config] | None = None,
        supervisor: Supervisor | None = None,
    ) -> None:
        self.config = config
        self.keeper: CertificateKeeper | None = None
        self._venues = venues
        self._reread = reread
        self._supervisor = supervisor or Supervisor()
        self._one_at_a_time = asyncio.Lock()

    async def reload_and_log(self) -> None:
        """As :meth:`reload`; what is refused goes to the log."""
        try:
            await self.reload()
        except CgosError as error:
            log.error("the configuration stays as it was", why=str(error))

    async def reload(self) -> list[str]:
        """Read the configuration again and put in force what can be, all or nothing; sentences that say what has
        changed and what has to wait for a restart. Raises ConfigErrors, Refused."""
        if self._reread is None:
            raise Conflict(Code.NO_RELOAD, "This server was not started from a configuration that can be read again.")
        async with self._one_at_a_time:  # what was read first must not come last
            self._supervisor.reloading("reading the configuration again")
            try:
                sentences = await self._apply(await asyncio.to_thread(self._reread))
                if self.keeper is not None:
                    sentences.append(await self.keeper.reload() or "The certificate is read again.")
                return sentences
            finally:
                self._supervisor.ready(SERVING)

    async def _apply(self, new: Config) -> list[str]:
        changes = changed(self.config, new)
        values = {
            venue.name: await asyncio.to_thread(venue_value, venue, self._venues[venue.name].venue.id)
            for venue in new.venue
            if venue.name in self._venues
        }
        sentences: list[str] = []
        for name, value in values.items():
            if value.pairing != self._venues[name].venue.pairing:
                reconfigure(self._venues[name], value.pairing)
                sentences += changes.now.get(name, [f"{name}: what its files of openings hold has changed."])
        pairings = {venue.name: venue.pairing for venue in new.venue}
        self.config = msgspec.structs.replace(
            self.config,
            venue=tuple(
                msgspec.structs.replace(venue, pairing=pairings.get(venue.name, venue.pairing))
                for venue in self.config.venue
            ),
            **{table: getattr(new, table) for table in AT_ONCE},
        )
        sentences += [*changes.tables, *changes.later]
        log.info("configuration read again", changes=sentences)
        return sentences
