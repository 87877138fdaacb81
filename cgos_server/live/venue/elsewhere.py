"""Venues that other nodes of a cluster play, and how people and bots are told where.

Must not know: how nodes hear of one another, who asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final, TypeVar

import structlog

from cgos_protocol.errors import CgosError, Code, Conflict, NotFound
from cgos_server.storage.sharing import GroupOwner, Sharing

log = structlog.get_logger(__name__)

LOOK_EVERY_S: Final = 5.0

T = TypeVar("T")


class Elsewhere:
    """One a server.

    :param groups: venue -> its group, of those that this process does not play
    :ivar node: the name of this process among the nodes; empty where it is alone
    :ivar group: the group that it has; empty where it is alone
    """

    def __init__(self, groups: Mapping[str, str] | None = None, *, node: str = "", group: str = "") -> None:
        self.node = node
        self.group = group
        self._groups = dict(groups or {})
        self._owners: Mapping[str, GroupOwner] = {}

    def __contains__(self, venue: str) -> bool:
        return venue in self._groups

    @property
    def owners(self) -> list[GroupOwner]:
        """Who has the groups, this process among them, as of the latest look."""
        return list(self._owners.values())

    def refusal(self, venue: str) -> Conflict | None:
        """Why nothing can be done in `venue` here, with where it can; None where no other node plays it."""
        group = self._groups.get(venue)
        if group is None:
            return None
        owner = self._owners.get(group)
        where = (
            f"node {owner.node} at {owner.address} plays it. Go there"
            if owner is not None and owner.lives
            else "no node has it just now. Try again in a moment"
        )
        return Conflict(Code.VENUE_ELSEWHERE, f"The venue {venue} is in the group {group}: {where}.")

    def where(self, venue: str) -> str | None:
        """The same as a sentence."""
        refusal = self.refusal(venue)
        return None if refusal is None else refusal.sentence

    def refuse(self, venue: str) -> None:
        """Raises Conflict (``venue-elsewhere``) where another node plays it."""
        refusal = self.refusal(venue)
        if refusal is not None:
            raise refusal

    def require(self, venues: Mapping[str, T], venue: str) -> T:
        """That one of the venues that are played here. Raises Refused (``unknown-venue``, ``venue-elsewhere``)."""
        live = venues.get(venue)
        if live is None:
            self.refuse(venue)
            raise NotFound(Code.UNKNOWN_VENUE, f"There is no venue {venue}. Choose one of: {', '.join(venues)}.")
        return live

    async def run(self, sharing: Sharing) -> None:
        """Keep knowing who has which group, for ever."""
        while True:
            try:
                self._owners = {owner.group: owner for owner in await sharing.owners()}
            except CgosError as error:
                log.warning("who has the other groups is not known just now", why=str(error))
            await asyncio.sleep(LOOK_EVERY_S)
