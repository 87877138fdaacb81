"""What a bot that comes into a family, or goes from it, appends to the ledgers of venues.

Must not know: ratings' formulas, who wants it.
"""

from __future__ import annotations

from collections.abc import Mapping

from cgos_protocol.ids import BotId, VersionId
from cgos_server.core.rating.lineage import Lineage, Predecessor
from cgos_server.service.ratings.families import Families
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.writing.records import Record


def join(
    families: Families, venues: Mapping[str, VenueRatings], *, bot: BotId, leader: BotId, at: int
) -> dict[str, list[Record]]:
    """Put `bot` into the family of `leader`; the entries, applied already, by those of `venues` that have any.

    :param at: Unix milliseconds
    """
    own = families.versions(bot)
    others = {version for member in (leader, *families.members(leader)) for version in families.versions(member)}
    entries: dict[str, list[Record]] = {}
    for venue, ratings in venues.items():
        pair = _neighbors(*({v for v in versions if ratings.knows(v)} for versions in (own, others - own)))
        if pair is not None and _may_be_linked(ratings.lineage, *pair):
            successor, predecessor = pair[0], Predecessor(pair[1])
            entries[venue] = ratings.link(successor, predecessor, at).records
            families.linked(successor, predecessor)
    families.lead(bot, leader)
    return entries


def part(
    families: Families, venues: Mapping[str, VenueRatings], *, bot: BotId, leader: BotId, at: int
) -> dict[str, list[Record]]:
    """Take `bot` out of the family of `leader`, as :func:`join` puts it in."""
    members = {bot, leader, *families.members(leader)}
    of_family = {version for member in members for version in families.versions(member)}
    families.lead(bot, None)
    cut = {venue: _cut(families, ratings, bot=bot, of_family=of_family, at=at) for venue, ratings in venues.items()}
    return {venue: entries for venue, entries in cut.items() if entries}


def _cut(families: Families, ratings: VenueRatings, *, bot: BotId, of_family: set[VersionId], at: int) -> list[Record]:
    """Part this bot's versions from those `of_family`, its own among them: who succeeded them succeeds what is older
    there."""
    own, lineage = families.versions(bot), ratings.lineage
    records: list[Record] = []
    for version, predecessor in lineage.links():
        if not {version, predecessor.version} <= of_family or (version in own) == (predecessor.version in own):
            continue
        records += ratings.unlink(version, predecessor.version, at).records
        families.linked(version, None)
        if version in own:
            continue
        older = families.newest(version, {other for other in ratings.standings() if other < version})
        if older is not None and _may_be_linked(lineage, version, older.version):
            records += ratings.link(version, older, at).records
            families.linked(version, older)
    return records


def _may_be_linked(lineage: Lineage, version: VersionId, other: VersionId) -> bool:
    """Whether nobody has said already whom the version succeeds, and the other does not come from it."""
    return lineage.predecessor(version) is None and not lineage.descends(other, version)


def _neighbors(own: set[VersionId], others: set[VersionId]) -> tuple[VersionId, VersionId] | None:
    """(successor, predecessor) by which these versions join those: versions are numbered as they came."""
    if not own or not others:
        return None
    first = min(own)
    older = max((version for version in others if version < first), default=None)
    if older is not None:
        return first, older
    after = min(others)
    return after, max(version for version in own if version < after)
