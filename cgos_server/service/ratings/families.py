"""Which bots are one engine under several names, so that a new one begins where its predecessor stands, and whom a
version succeeds where somebody has said so.

By WebSocket versions of one bot are its own family; on the CGOS lines a naming convention or an operator puts bots into
one. Must not know: ratings' formulas, sockets.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from cgos_protocol.ids import BotId, VersionId
from cgos_protocol.names import fold
from cgos_server.core.rating.base import Kind
from cgos_server.core.rating.lineage import Predecessor
from cgos_server.storage.store import Store


class Families:
    """Who belongs together.

    :param bots: version id -> bot id
    :param leaders: bot id -> id of the bot that leads its family, where it belongs to another one's
    :param pattern: the naming convention; see :func:`family_by_name`
    """

    def __init__(
        self, bots: dict[VersionId, BotId], leaders: dict[BotId, BotId], pattern: re.Pattern[str] | None = None
    ) -> None:
        self.pattern = pattern
        self._bots = bots
        self._leaders = leaders
        self._stated: dict[VersionId, Predecessor | None] = {}
        self._versions: dict[BotId, tuple[VersionId, ...]] = {}
        self._members: dict[BotId, set[BotId]] = {}
        for version, bot in bots.items():
            self._versions[bot] = (*self._versions.get(bot, ()), version)
        for bot, leader in leaders.items():
            self._members.setdefault(leader, set()).add(bot)

    @classmethod
    async def load(cls, store: Store, pattern: str = "") -> Families:
        """As the database has them."""
        leaders = {bot: leader for bot, _, leader in await store.history.bots.names() if leader is not None}
        families = cls(await store.history.bots.of_versions(), leaders, re.compile(pattern) if pattern else None)
        venues = await store.history.server.venues()
        entries = [entry for venue in venues for entry in await store.history.ledger.links(venue.id)]
        for entry in sorted(entries, key=lambda entry: entry.at):
            if entry.version is not None and entry.other is not None and entry.kind is not Kind.ENTER:
                linked = entry.kind is Kind.LINK
                families.linked(entry.version, Predecessor(entry.other, entry.sd, entry.surely) if linked else None)
        return families

    def arrived(self, version: VersionId, bot: BotId) -> None:
        """A version of a bot was seen, perhaps for the first time."""
        self._bots[version] = bot
        if version not in self._versions.get(bot, ()):
            self._versions[bot] = (*self._versions.get(bot, ()), version)

    def bot(self, version: VersionId) -> BotId:
        """The bot whose version it is; a number of its own for an unknown one."""
        return self._bots.get(version, BotId(-version))

    def family(self, version: VersionId) -> BotId:
        """The same number for all versions of one family."""
        bot = self.bot(version)
        return self._leaders.get(bot, bot)

    def lead(self, bot: BotId, leader: BotId | None) -> None:
        """`bot` belongs to the family of `leader` from now on, or with None to its own."""
        before = self._leaders.pop(bot, None)
        if before is not None:
            self._members[before].discard(bot)
        if leader is not None:
            self._leaders[bot] = leader
            self._members.setdefault(leader, set()).add(bot)

    def linked(self, version: VersionId, predecessor: Predecessor | None) -> None:
        """It was said in a venue whom a version succeeds, or that it succeeds nobody."""
        self._stated[version] = predecessor

    def leader(self, bot: BotId) -> BotId:
        """The bot that leads this one's family: itself unless it belongs to another's."""
        return self._leaders.get(bot, bot)

    def members(self, leader: BotId) -> list[BotId]:
        """The bots of this leader's family besides itself, oldest first."""
        return sorted(self._members.get(leader, ()))

    def versions(self, bot: BotId) -> frozenset[VersionId]:
        """The versions of a bot, as far as they were seen."""
        return frozenset(self._versions.get(bot, ()))

    def predecessor(
        self, version: VersionId, entered: Container[VersionId], named: Predecessor | None = None
    ) -> Predecessor | None:
        """Whom a version succeeds that comes into a venue: as was said of it in another one, else `named`, whom the
        bot itself names, else the newest other version of its family. None where it was said to succeed nobody.

        :param entered: the versions that have entered the venue; nobody else is anybody's predecessor there
        """
        if version in self._stated:
            stated = self._stated[version]
            if stated is None or stated.version in entered:
                return stated
        if named is not None and named.version in entered:
            return named
        return self.newest(version, entered)

    def newest(self, version: VersionId, among: Container[VersionId]) -> Predecessor | None:
        """The newest other version of the same family, of these."""
        leader = self.family(version)
        versions = (other for bot in (leader, *self.members(leader)) for other in self._versions.get(bot, ()))
        newest = max((other for other in versions if other != version and other in among), default=None)
        return None if newest is None else Predecessor(newest)


def family_by_name(
    name: str, pattern: re.Pattern[str], bots: Iterable[tuple[BotId, str, BotId | None]]
) -> BotId | None:
    """The bot that leads the family to which a new name belongs by convention, or None.

    :param pattern: with a group ``family``; a name belongs to a family where the whole of it matches
    :param bots: (id, name, leader's id or None) of those that exist, oldest first
    """
    word = _word(name, pattern)
    if word is None:
        return None
    for bot, other, leader in bots:
        if word in (fold(other), _word(other, pattern)):
            return bot if leader is None else leader
    return None


def _word(name: str, pattern: re.Pattern[str]) -> str | None:
    match = pattern.fullmatch(name)
    family = None if match is None else match["family"]  # a group may have no part in a match
    return fold(family) if family else None
