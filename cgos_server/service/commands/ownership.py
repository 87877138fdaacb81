"""Whose a bot is: claimed by its secret, given up, given by operators.

Must not know: what an owner wants of its bots.
"""

from __future__ import annotations

from typing import Annotated, Final

from cgos_protocol.api import people as api
from cgos_protocol.api.people import Done
from cgos_protocol.api.route import Limit
from cgos_protocol.errors import Code, Conflict, Unauthenticated
from cgos_protocol.session import Limits
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import BotName, Field, Source
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.service.people.passwords import digest, looks_like_token
from cgos_server.storage.reading.stored import BotLogin, Person
from cgos_server.storage.writing.records import BotOwner, BotWishes, Record, WebhookStopped


class BotClaim(Command[Done], frozen=True, kw_only=True, tag="bot claim"):
    """Become a bot's owner, by its password or one of its tokens."""

    allowed = Right.SIGNED_IN
    audited = ("by",)
    surfaces = (
        ApiRoute(
            "claim_bot",
            "POST",
            "/bots/{bot}/claim",
            body="ClaimBot",
            body_says="The bot's password, or one of its tokens.",
            limit=Limit.SIGN_IN,
        ),
        PageForm("/account", "Claim it", place="bots", title="Claim a bot"),
    )

    bot: Annotated[str, Field(body=api.Name, label="The bot's name", caption="Its name")]
    secret: Annotated[
        str,
        Field(
            body=api.Password,
            label="The bot's password or token",
            caption="Its password, or one of its tokens",
            source=Source.SECRET,
        ),
    ]

    async def perform(self, context: CommandContext) -> Done:
        """The password is checked before the bot's turn begins: it takes long."""
        caller, accounts = context.caller, context.accounts
        bot = await context.bot(self.bot)
        _has_no_owner(bot, caller.person)
        with accounts.failures.attempt(caller.address, bot.name):
            await accounts.check_secret(bot, self.secret, caller.address)
        async with accounts.bot_lock(bot.bot_id):
            now = await context.bot(self.bot)  # another claim may have been faster
            _has_no_owner(now, caller.person)
            token = looks_like_token(self.secret)
            if digest(self.secret) not in now.tokens if token else now.password != bot.password:
                raise Unauthenticated(
                    Code.WRONG_PASSWORD, f"The password or token of {bot.name} was replaced just now."
                )
            owned = BotOwner(caller.person.owner_id, bot.bot_id)
            await context.commit(self, bot.name, [owned], by="token" if token else "password")
        return Done(sentence=f"{bot.name} is yours.")


class BotRelease(Command[Done], frozen=True, kw_only=True, tag="bot release"):
    """Give a bot up."""

    allowed = Right.OWN_BOT
    concerns = "bot"
    surfaces = (
        CommandLine(
            "bot release",
            "Take the bot NAME from its owner.\n\nWhat the owner wanted for it (pause, limits) ends as well.",
        ),
        ApiRoute("release_bot", "DELETE", "/bots/{bot}/owner"),
        PageForm(
            "/account/bot/{bot}",
            "Give it up",
            place="end",
            title="Give it up",
            note="Its games and ratings stay. Whoever knows its password or a token of it can claim it then.",
            warning="{bot} will be nobody's until somebody claims it with its password or a token.",
            grave=True,
        ),
    )

    bot: BotName

    async def perform(self, context: CommandContext) -> Done:
        bot = await context.bot(self.bot)
        if bot.owner is None:
            raise Conflict(Code.NO_OWNER, f"{bot.name} has no owner.")
        return await _give_up(self, context, bot)


class BotOwn(Command[Done], frozen=True, kw_only=True, tag="bot own"):
    """Give a bot to an account, or to nobody."""

    allowed = Right.OPERATOR
    concerns = "bot"
    audited = ("account",)
    surfaces = (
        CommandLine(
            "bot own",
            "Give the bot NAME to the account ACCOUNT.\n\n"
            "Whoever owned it does so no more. Owners claim their bots themselves, on the pages, with the bot's "
            "password.",
        ),
        ApiRoute(
            "set_owner",
            "PUT",
            "/admin/bots/{bot}/owner",
            body="SetOwner",
            body_says="Whose a bot is to be; null: nobody's.",
        ),
        PageForm("/admin/bots/{bot}", "Set the owner", title="Owner"),
    )

    bot: BotName
    account: Annotated[str | None, Field(body=api.Name | None, caption="Account", hint="Empty: nobody.")]

    async def perform(self, context: CommandContext) -> Done:
        bot = await context.bot(self.bot)
        if self.account is None:
            return await _give_up(self, context, bot)
        owner = await context.account(self.account)
        stopped = [] if owner.id == bot.owner else await _stopped_webhooks(context, bot)
        await context.commit(self, bot.name, [BotOwner(owner.id, bot.bot_id), *stopped], account=owner.name)
        return Done(sentence=f"{bot.name} belongs to {owner.name}.")


async def _give_up(command: BotOwn | BotRelease, context: CommandContext, bot: BotLogin) -> Done:
    """What its owner wanted ends with the owner."""
    records: list[Record] = [BotOwner(None, bot.bot_id), BotWishes(0, "", bot.bot_id)]
    await context.commit(command, bot.name, [*records, *await _stopped_webhooks(context, bot)])
    if context.control is not None:
        context.control.wishes(bot.bot_id, False, Limits())
    return Done(
        sentence=f"{bot.name} belongs to nobody: it is not paused and not limited. Its password and its tokens stay "
        "valid."
    )


async def _stopped_webhooks(context: CommandContext, bot: BotLogin) -> list[Record]:
    """Its owner's webhooks for this very bot."""
    if bot.owner is None:
        return []
    hooks = await context.live_webhooks(bot.owner)
    why = f"{bot.name} changed hands"
    return [WebhookStopped(context.now_ms(), why, hook.id) for hook in hooks if hook.bot == bot.name]


def _has_no_owner(bot: BotLogin, person: Person) -> None:
    if bot.owner == person.owner_id:
        raise Conflict(Code.OWNED, f"{bot.name} is yours already.")
    if bot.owner is not None:
        raise Conflict(Code.OWNED, f"{bot.name} has an owner. Its owner may give it up, or ask the operators.")


COMMANDS: Final = (BotClaim, BotRelease, BotOwn)
