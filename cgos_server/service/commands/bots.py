"""Who may play: bots are registered, shut out, let in again, and get another password.

Must not know: who owns them, how the live server gives games.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Final

from cgos_protocol.api import people as api
from cgos_protocol.api.people import Done
from cgos_protocol.errors import Code, Conflict, Invalid, NotFound
from cgos_protocol.ids import VersionId
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import BotName, BotSecret, Field, Until, reason_field
from cgos_server.service.commands.reasons import connections, reason_for
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.service.people.accounts import until_words
from cgos_server.storage.reading.stored import BotLogin
from cgos_server.storage.writing.records import BotPassword, BotState, Record, SuspensionNow

LAST_MOMENT: Final = 253_402_300_799_000
"""The last moment that can be told people, in the year 9999 (Unix milliseconds)."""


class BotAdd(Command[Done], frozen=True, kw_only=True, tag="bot add"):
    """Register a bot that may play at once."""

    allowed = Right.OPERATOR
    creates = True
    audited = ("origin", "state")
    surfaces = (
        CommandLine("bot add", "Register the bot NAME."),
        ApiRoute("add_bot", "POST", "/admin/bots", body="AddBot", body_says="A bot that may play at once.", status=201),
        PageForm("/admin/bots", "Add it", title="Add a bot"),
    )

    name: BotName
    password: BotSecret

    async def perform(self, context: CommandContext) -> Done:
        async with context.accounts.name_lock(self.name):
            await context.accounts.register(self.name, self.password, state="active", actor=self.actor, address="")
        return Done(sentence=f"The bot {self.name} may play.")


class BotPasswd(Command[Done], frozen=True, kw_only=True, tag="bot passwd"):
    """Replace a bot's password."""

    allowed = Right.OWN_BOT
    concerns = "bot"
    surfaces = (
        CommandLine("bot passwd", "Replace the password of the bot NAME."),
        ApiRoute(
            "set_password", "PUT", "/bots/{bot}/password", body="SetPassword", body_says="The new password of a bot."
        ),
        PageForm("/account/bot/{bot}", "Replace the password", place="tokens", title="Another password"),
        PageForm("/admin/bots/{bot}", "Replace the password", title="Another password"),
    )

    bot: BotName
    password: BotSecret

    async def perform(self, context: CommandContext) -> Done:
        bot = await context.bot(self.bot)
        hashed = await context.accounts.new_password(self.password)
        await context.commit(self, bot.name, [BotPassword(hashed, bot.bot_id)])
        return Done(sentence=f"The password of {bot.name} is replaced.")


def _kept_out(written: Mapping[str, str]) -> str:
    span = f"for {written['days']} days" if written["days"] else "until somebody enables it"
    return f"{written['bot']} will be sent away at once and kept out {span}. Its author is told: {written['reason']}"


class BotDisable(Command[Done], frozen=True, kw_only=True, tag="bot disable"):
    """Keep a bot out.

    Its connections are closed. `until`: Unix milliseconds, None: until it is enabled again.
    """

    allowed = Right.OPERATOR
    concerns = "bot"
    audited = ("reason", "until")
    surfaces = (
        CommandLine("bot disable", "Shut the bot NAME out and close its connections."),
        ApiRoute(
            "disable_bot",
            "POST",
            "/admin/bots/{bot}/disable",
            body="DisableBot",
            body_says="Why a bot is kept out, which its author is told; `until` when, null: until it is enabled again.",
        ),
        PageForm(
            "/admin/bots/{bot}",
            "Disable",
            title="Disable",
            note="Its connections are closed at once. Its games and ratings stay.",
            warning=_kept_out,
            grave=True,
        ),
    )

    bot: BotName
    reason: Annotated[str, reason_field("its author is told", "Why: told to its author at every try, and kept.")]
    until: Until = None

    async def perform(self, context: CommandContext) -> Done:
        bot = await context.bot(self.bot)
        reason = reason_for(self.reason, "the bot is disabled")
        end = ""
        if self.until is not None:
            if not context.now_ms() < self.until <= LAST_MOMENT:
                raise Invalid(Code.UNTIL, "The end of the time in which a bot is disabled lies in the future.")
            end = f" until {until_words(self.until)}"
        state = BotState("disabled", reason, self.until, bot.bot_id)
        await context.commit(self, bot.name, [state], reason=reason, until=self.until or 0)
        notice = f"{bot.name} was disabled{end}: {reason}"
        gone = 0 if context.control is None else context.control.dismiss(bot.bot_id, notice)
        closed = f"; closed {connections(gone)} of it" if gone else ""
        return Done(sentence=f"{bot.name} is disabled{end}{closed}.")


class BotEnable(Command[Done], frozen=True, kw_only=True, tag="bot enable"):
    """Let a disabled bot play again."""

    allowed = Right.OPERATOR
    concerns = "bot"
    surfaces = (
        CommandLine("bot enable", "Let the bot NAME in again."),
        ApiRoute("enable_bot", "POST", "/admin/bots/{bot}/enable"),
        PageForm("/admin/bots/{bot}", "Enable", when=lambda bot: bot.state == "disabled"),
    )

    bot: BotName

    async def perform(self, context: CommandContext) -> Done:
        bot = await context.bot(self.bot)
        if bot.state == "pending":
            raise Conflict(
                Code.WAITS_APPROVAL, f"{bot.name} waits for approval. Approve it with: cgos-server approve {bot.name}"
            )
        return await _let_in(self, context, bot)


class Approve(Command[Done], frozen=True, kw_only=True, tag="approve"):
    """Let a bot play that registered itself and waits."""

    allowed = Right.OPERATOR
    concerns = "bot"
    surfaces = (
        CommandLine("approve", "Let in a bot that waits for approval."),
        ApiRoute("approve_bot", "POST", "/admin/bots/{bot}/approve"),
        *(
            PageForm(page, "Approve", place=place, when=lambda bot: bot.state == "pending")
            for page, place in (("/admin/bots", "bot"), ("/admin/bots/{bot}", ""))
        ),
    )

    bot: BotName

    async def perform(self, context: CommandContext) -> Done:
        bot = await context.bot(self.bot)
        if bot.state != "pending":
            raise Conflict(Code.NOT_PENDING, f"{bot.name} does not wait for approval; it is {bot.state}.")
        return await _let_in(self, context, bot)


async def _let_in(command: BotEnable | Approve, context: CommandContext, bot: BotLogin) -> Done:
    await context.commit(command, bot.name, [BotState("active", "", None, bot.bot_id)])
    return Done(sentence=f"{bot.name} may play.")


class BotRecall(Command[Done], frozen=True, kw_only=True, tag="bot recall"):
    """Let a bot that was suspended play again.

    Or one of its versions, by its wire name; without `venue` everywhere.
    """

    allowed = Right.OWN_BOT
    concerns = "bot"
    audited = ("venues", "versions")
    surfaces = (
        CommandLine("bot recall", "Let the bot NAME, or a version, play again that was suspended."),
        ApiRoute(
            "recall_bot",
            "POST",
            "/bots/{bot}/recall",
            body="RecallBot",
            body_says="Where a bot that was suspended shall play again; null: everywhere.",
        ),
        *(
            PageForm(page, "Let it play again", when=lambda bot: bool(bot.suspended), fields=("bot",))
            for page in ("/account/bot/{bot}", "/admin/bots/{bot}")
        ),
    )

    bot: BotName
    venue: Annotated[
        str | None, Field(body=api.Name | None, help="Only there; without this everywhere.", metavar="VENUE")
    ] = None

    async def perform(self, context: CommandContext) -> Done:
        versions = await self._versions(context)
        if context.control is not None:
            recalled = context.control.recall(self.venue, versions.keys())
            records: list[Record] = []  # the live server keeps its own account of it
        else:
            recalled = await self._suspended(context, versions.keys())
            ids = {venue.name: venue.id for venue in await context.store.history.server.venues()}
            now = context.now_ms()
            records = [
                SuspensionNow(venue_id=ids[venue], version_id=version, spoilt=0, suspended=0, reason="", at=now)
                for venue, those in recalled.items()
                for version in those
            ]
        if not recalled:
            where = "" if self.venue is None else f" in {self.venue}"
            raise Conflict(Code.NOT_SUSPENDED, f"{self.bot} is not suspended{where}. See: cgos-server bots")
        who = ", ".join(sorted({versions[version] for those in recalled.values() for version in those}))
        where = ", ".join(sorted(recalled))
        await context.commit(self, self.bot, records, versions=who, venues=where)
        return Done(sentence=f"{who} may play again in {where}.")

    async def _suspended(self, context: CommandContext, versions: Collection[VersionId]) -> dict[str, list[VersionId]]:
        """By venue, which of the versions the database says to be suspended. Raises Refused (``unknown-venue``)."""
        venues = {row.name: row.id for row in await context.store.history.server.venues()}
        if self.venue is not None and self.venue not in venues:
            raise NotFound(
                Code.UNKNOWN_VENUE, f"There is no venue {self.venue}. The venues are {', '.join(sorted(venues))}."
            )
        by_venue = {
            name: [
                row.version_id
                for row in await context.store.history.pairings.suspensions(number)
                if row.suspended and row.version_id in versions
            ]
            for name, number in venues.items()
            if self.venue in (None, name)
        }
        return {name: there for name, there in by_venue.items() if there}

    async def _versions(self, context: CommandContext) -> dict[VersionId, str]:
        """Version id -> wire name of the versions of the bot, or of the one version that is called so. Raises Refused
        (``unknown-bot``)."""
        named = await context.version(self.bot)
        names = await context.store.history.bots.version_names()
        if await context.store.history.bots.login(self.bot) is None:
            return {named.version_id: named.name}
        bots = await context.store.history.bots.of_versions()
        return {version: names[version] for version, bot in bots.items() if bot == named.bot_id}


COMMANDS: Final = (BotAdd, BotPasswd, BotDisable, BotEnable, Approve, BotRecall)
