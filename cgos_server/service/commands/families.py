"""Which bots are one engine under several names, and what that appends to the venues' ledgers.

Must not know: ratings' formulas.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Final

from cgos_protocol.api import people as api
from cgos_protocol.api.people import Done
from cgos_protocol.errors import Code, Conflict
from cgos_protocol.ids import BotId
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import BotName, Field
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.service.ratings.families import Families
from cgos_server.service.ratings.family_links import join, part
from cgos_server.service.ratings.venue_ledgers import VenueLedgers
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
        async with context.accounts.family_lock(), ledgers.lock:
            bot, named = await context.bot(self.bot), await context.bot(self.leader)
            names = await _names(context)
            leader = families.leader(named.bot_id)
            _may_join(families, bot, leader, names)
            if context.store.sharing.block:  # the owners of all groups apply it to their venues, this one too
                await context.commit(self, bot.name, [BotFamily(leader, bot.bot_id)], leader=names[leader], venues="")
                return Done(sentence=f"{bot.name} belongs to the family of {names[leader]}.")
            venues = await ledgers.all()
            at = context.now_ms()
            for login in (bot, named):
                families.arrived(login.version_id, login.bot_id)
            linked = join(families, venues, bot=bot.bot_id, leader=leader, at=at)
            records = [BotFamily(leader, bot.bot_id), *_told(ledgers, linked)]
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
        async with context.accounts.family_lock(), ledgers.lock:
            bot = await context.bot(self.bot)
            names = await _names(context)
            leader = families.leader(bot.bot_id)
            if leader == bot.bot_id:
                members = families.members(bot.bot_id)
                hint = f" It leads one of {len(members) + 1}: unlink the others from it." if members else ""
                raise Conflict(Code.NOT_LINKED, f"{bot.name} belongs to no other bot's family.{hint}")
            if context.store.sharing.block:
                await context.commit(self, bot.name, [BotFamily(None, bot.bot_id)], leader=names[leader], venues="")
                return Done(sentence=f"{bot.name} does not belong to the family of {names[leader]} any more.")
            venues = await ledgers.all()
            at = context.now_ms()
            unlinked = part(families, venues, bot=bot.bot_id, leader=leader, at=at)
            records = [BotFamily(None, bot.bot_id), *_told(ledgers, unlinked)]
            await context.commit(self, bot.name, records, leader=names[leader], venues=", ".join(unlinked))
        where = _where(unlinked, "unlinked")
        return Done(sentence=f"{bot.name} does not belong to the family of {names[leader]} any more.{where}")


async def _names(context: CommandContext) -> dict[BotId, str]:
    """Of all bots, whose families are known then as the database has them: another node may just have changed one."""
    rows = await context.store.history.bots.names()
    for bot, _, leader in rows:
        context.accounts.families.lead(bot, leader)
    return {bot: name for bot, name, _ in rows}


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


def _told(ledgers: VenueLedgers, entries: Mapping[str, list[Record]]) -> list[Record]:
    """All of them; the refits of their venues hear of it."""
    for venue in entries:
        ledgers.changed(venue)
    return [entry for of_venue in entries.values() for entry in of_venue]


def _where(venues: Collection[str], done: str) -> str:
    return f" Its versions are {done} in {', '.join(venues)}." if venues else ""


COMMANDS: Final = (FamilyLink, FamilyUnlink)
