"""Which bots are one engine under several names, and what that appends to the venues' ledgers.

Must not know: ratings' formulas.
"""

from __future__ import annotations

from typing import Annotated, Final

from cgos_protocol.api import people as api
from cgos_protocol.api.people import Done
from cgos_protocol.errors import Code, Conflict
from cgos_protocol.ids import BotId, VersionId
from cgos_server.core.rating.lineage import Lineage, Predecessor
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import BotName, Field
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.service.ratings.families import Families
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.reading.stored import BotLogin
from cgos_server.storage.writing.records import BotFamily, Record


class FamilyLink(Command[Done], frozen=True, kw_only=True, tag="family link"):
    """Put a bot into another one's family.

    Into that of the leader's own leader, where it has one.
    """

    allowed = Right.OPERATOR
    audited = ("leader", "venues")
    surfaces = (
        CommandLine("family link", "Put the bot NAME into the family of the bot LEADER."),
        ApiRoute(
            "link_family",
            "PUT",
            "/admin/bots/{bot}/family",
            body="LinkFamily",
            body_says="The bot that leads the family: one engine under several names.",
        ),
        PageForm("/admin/bots/{bot}", "Put it into the family", title="Family"),
    )

    bot: BotName
    leader: Annotated[str, Field(body=api.Name, label="The bot that leads the family", caption="The bot that leads it")]

    async def perform(self, context: CommandContext) -> Done:
        families, ledgers = context.accounts.families, context.ledgers
        async with ledgers.lock:
            bot, named = await context.bot(self.bot), await context.bot(self.leader)
            names = {number: name for number, name, _ in await context.store.history.bots.names()}
            leader = families.leader(named.bot_id)
            _may_join(families, bot, leader, names)
            venues = await ledgers.all()
            at = context.now_ms()
            for login in (bot, named):
                families.arrived(login.version_id, login.bot_id)
            records: list[Record] = [BotFamily(leader, bot.bot_id)]
            linked: list[str] = []
            own = families.versions(bot.bot_id)
            others = {
                version for member in (leader, *families.members(leader)) for version in families.versions(member)
            }
            for venue, ratings in venues.items():
                pair = _neighbors(*({v for v in versions if ratings.knows(v)} for versions in (own, others)))
                if pair is not None and _may_be_linked(ratings.lineage, *pair):
                    successor, predecessor = pair[0], Predecessor(pair[1])
                    records += ratings.link(successor, predecessor, at).records
                    families.linked(successor, predecessor)
                    linked.append(venue)
                    ledgers.changed(venue)
            families.lead(bot.bot_id, leader)
            await context.commit(self, bot.name, records, leader=names[leader], venues=", ".join(linked))
        return Done(sentence=f"{bot.name} belongs to the family of {names[leader]}.{_where(linked, 'linked')}")


class FamilyUnlink(Command[Done], frozen=True, kw_only=True, tag="family unlink"):
    """Take a bot out of its family.

    Who succeeded it there succeeds what is older in the family from now on.
    """

    allowed = Right.OPERATOR
    audited = ("leader", "venues")
    surfaces = (
        CommandLine("family unlink", "Take the bot NAME out of its family."),
        ApiRoute("unlink_family", "DELETE", "/admin/bots/{bot}/family"),
        PageForm("/admin/bots/{bot}", "Take it out of its family", when=lambda bot: bool(bot.family)),
    )

    bot: BotName

    async def perform(self, context: CommandContext) -> Done:
        families, ledgers = context.accounts.families, context.ledgers
        async with ledgers.lock:
            bot = await context.bot(self.bot)
            leader = families.leader(bot.bot_id)
            if leader == bot.bot_id:
                members = families.members(bot.bot_id)
                hint = f" It leads one of {len(members) + 1}: unlink the others from it." if members else ""
                raise Conflict(Code.NOT_LINKED, f"{bot.name} belongs to no other bot's family.{hint}")
            names = {number: name for number, name, _ in await context.store.history.bots.names()}
            venues = await ledgers.all()
            at = context.now_ms()
            of_family = {
                version for member in (leader, *families.members(leader)) for version in families.versions(member)
            }
            families.lead(bot.bot_id, None)
            cut = {
                venue: _cut(families, ratings, bot=bot.bot_id, of_family=of_family, at=at)
                for venue, ratings in venues.items()
            }
            unlinked = [venue for venue, entries in cut.items() if entries]
            for venue in unlinked:
                ledgers.changed(venue)
            records = [BotFamily(None, bot.bot_id), *(entry for entries in cut.values() for entry in entries)]
            await context.commit(self, bot.name, records, leader=names[leader], venues=", ".join(unlinked))
        where = _where(unlinked, "unlinked")
        return Done(sentence=f"{bot.name} does not belong to the family of {names[leader]} any more.{where}")


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


def _may_join(families: Families, bot: BotLogin, leader: BotId, names: dict[BotId, str]) -> None:
    now = families.leader(bot.bot_id)
    if now == leader != bot.bot_id:
        raise Conflict(Code.LINKED, f"{bot.name} belongs to the family of {names[leader]} already.")
    if now != bot.bot_id:
        raise Conflict(
            Code.LINKED,
            f"{bot.name} belongs to the family of {names[now]}. First: cgos-server family unlink {bot.name}",
        )
    if leader == bot.bot_id:
        raise Conflict(Code.ITSELF, f"{bot.name} leads that family itself: it cannot be linked to it.")
    members = [names[member] for member in families.members(bot.bot_id)]
    if members:
        raise Conflict(
            Code.LEADS,
            f"{bot.name} leads a family of its own ({', '.join(members)}). Unlink its members first, or link "
            f"{names[leader]} to {bot.name} instead.",
        )


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


def _where(venues: list[str], done: str) -> str:
    return f" Its versions are {done} in {', '.join(venues)}." if venues else ""


COMMANDS: Final = (FamilyLink, FamilyUnlink)
