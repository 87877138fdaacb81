"""People and bots are erased: their names, texts, addresses and secrets go, their results stay.

It cannot be undone. Must not know: how texts are worded anew, how the live server ends games.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Annotated, Final

import msgspec

from cgos_protocol.api import people as api
from cgos_protocol.api.people import Done
from cgos_protocol.api.route import Limit
from cgos_protocol.errors import Code, Conflict, Invalid, Unauthenticated
from cgos_protocol.ids import BotId
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import SESSION_ONLY, AccountName, BotName, Field, Source, reason_field
from cgos_server.service.commands.reasons import reason_for
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.service.people.passwords import new_token
from cgos_server.service.personal.erasing import Erased, erased, reword_large, reworded, rows_of
from cgos_server.storage.reading.stored import Owner
from cgos_server.storage.writing.records import BotState

BEING_ERASED: Final = "Being erased."
"""Why a bot is disabled until it is."""

SWEEPS: Final = 5
"""Looks for what was written with an old name meanwhile."""

WithBots = Annotated[
    bool,
    Field(
        caption="its bots too",
        hint="Otherwise they play on under their names and belong to nobody.",
        help="Its bots too; otherwise they play on under their names and belong to nobody.",
    ),
]
_WHY: Final = reason_field("is kept", "Why: kept in the audit.", "The audit keeps it, without the name.")


class AccountErase(Command[Done], frozen=True, kw_only=True, tag="account erase"):
    """Erase a person.

    Name, password, sessions, tokens, webhooks and addresses go, from all records. It cannot be undone.
    """

    allowed = Right.OPERATOR
    audited = ("bots", "reason")
    surfaces = (
        CommandLine(
            "account erase",
            "Erase the person NAME from all records.\n\n"
            "The account becomes deleted-N; its sessions, tokens and webhooks go. It cannot be undone.",
        ),
        ApiRoute(
            "erase_account",
            "POST",
            "/admin/accounts/{account}/erase",
            body="EraseAccount",
            body_says="Why a person is erased, and whether its bots are, too.",
        ),
        PageForm(
            "/admin/accounts",
            "Erase",
            title="Erase an account",
            note="Its name is replaced in all records. This cannot be undone.",
            warning="{account} will be erased from all records. This cannot be undone.",
            grave=True,
        ),
    )

    account: AccountName
    reason: Annotated[str, _WHY]
    bots: WithBots = False

    async def perform(self, context: CommandContext) -> Done:
        reason = reason_for(self.reason, "the account is erased")
        async with context.accounts.name_lock(self.account):
            owner = await context.account(self.account)
            return await _erase_account(self, context, owner, with_bots=self.bots, reason=reason)


class OwnErase(Command[Done], frozen=True, kw_only=True, tag="account erase own"):
    """Erase oneself."""

    allowed = Right.SESSION
    audited = ("bots", "reason")
    surfaces = (
        ApiRoute(
            "erase_me",
            "POST",
            "/me/erase",
            body="EraseMe",
            body_says="One's own name, typed once more, and the password; `bots`: one's bots are erased, too.",
            limit=Limit.SIGN_IN,
            about=SESSION_ONLY,
        ),
        PageForm("/account/erase", "Erase me", grave=True),
    )

    name: Annotated[str, Field(body=api.Name, label="Your name", caption="Type your name to confirm")]
    password: Annotated[
        str, Field(body=api.Password, label="The password", source=Source.SECRET, autocomplete="current-password")
    ]
    bots: Annotated[
        bool,
        Field(
            caption="erase my bots too",
            hint="Otherwise they play on under their names and belong to nobody.",
        ),
    ] = False

    async def perform(self, context: CommandContext) -> Done:
        """Raises Refused (``confirm``, ``wrong-password``, ``last-operator``)."""
        caller, accounts = context.caller, context.accounts
        person = caller.person
        if self.name != person.name:
            raise Invalid(Code.CONFIRM, "Type your own name, as it is written, if you mean it.")
        async with accounts.name_lock(person.name):
            with accounts.failures.attempt(caller.address, person.name):
                owner = await context.still_valid(person)
                if not await accounts.verify_account(owner.password, self.password, caller.address):
                    raise Unauthenticated(Code.WRONG_PASSWORD, "The password is not right.")
            return await _erase_account(self, context, owner, with_bots=self.bots, reason="its own wish")


class BotErase(Command[Done], frozen=True, kw_only=True, tag="bot erase"):
    """Erase a bot.

    Its name, versions' names and texts, tokens and addresses go, from all records; its results stay, under another
    name. It cannot be undone.
    """

    allowed = Right.OPERATOR
    concerns = "bot"
    audited = ("reason",)
    surfaces = (
        CommandLine(
            "bot erase",
            "Erase the bot NAME from all records.\n\n"
            "It becomes deleted-N and never plays again; its results stay. It cannot be undone.",
        ),
        ApiRoute(
            "erase_bot",
            "POST",
            "/admin/bots/{bot}/erase",
            body="EraseBot",
            body_says="Why a bot is erased: kept in the audit, without the name.",
        ),
        PageForm(
            "/admin/bots/{bot}",
            "Erase",
            title="Erase",
            note="Its name is replaced in all records, and it never plays again. Its results stay. This cannot be "
            "undone.",
            warning="{bot} will be erased from all records. This cannot be undone.",
            grave=True,
        ),
    )

    bot: BotName
    reason: Annotated[str, _WHY]

    async def perform(self, context: CommandContext) -> Done:
        reason = reason_for(self.reason, "the bot is erased")
        bot = await context.bot(self.bot)
        await _require_all_groups(context)
        await _end_play(context, {bot.bot_id: bot.name})
        who = await erased(context.store, None, {bot.bot_id: bot.name}, [])
        new = who.bots[bot.bot_id]
        left = await _erase(self, context, who, new, reason=reason)
        return Done(sentence=f"{bot.name} is erased: it is {new} now.{left}")


async def _erase_account(
    command: AccountErase | OwnErase, context: CommandContext, owner: Owner, *, with_bots: bool, reason: str
) -> Done:
    """Called under the account's lock."""
    await _require_all_groups(context)
    if await context.store.history.erasing.operators() == [owner.id]:
        raise Conflict(
            Code.LAST_OPERATOR,
            f"{owner.name} is the last operator. Make another one first: cgos-server account grant NAME admin",
        )
    owned = {BotId(bot.id): bot.name for bot in await context.store.history.people.bots_of(owner.id)}
    bots = owned if with_bots else {}
    async with AsyncExitStack() as stack:
        for bot in sorted(owned):
            await stack.enter_async_context(context.accounts.bot_lock(bot))
        await _end_play(context, bots)
        who = await erased(context.store, owner, bots, [bot for bot in owned if bot not in bots])
        left = await _erase(command, context, who, who.owner_name, reason=reason, bots=len(bots))
    more = f", and {len(bots)} of its bots" if bots else ""
    return Done(sentence=f"{owner.name} is erased{more}: it is {who.owner_name} now.{left}")


async def _require_all_groups(context: CommandContext) -> None:
    """Raises Refused where other nodes live: names are in the games of their venues, too, and in their memory."""
    lives = sorted(owner.group for owner in await context.store.sharing.owners() if owner.lives)
    if len(lives) > 1:
        raise Conflict(
            Code.GROUP_HELD,
            f"The names are in the records of all groups, and nodes have {' and '.join(lives)}. Stop all nodes, give "
            "the command on one of their machines, and start them again.",
        )


async def _end_play(context: CommandContext, bots: dict[BotId, str]) -> None:
    """No connection and no running game of them is left. Raises Refused."""
    if not bots:
        return
    await context.store.commit([BotState("disabled", BEING_ERASED, None, bot) for bot in bots])
    if context.control is not None:
        await context.control.vacate(list(bots), "This bot is being erased.")


async def _erase(
    command: AccountErase | OwnErase | BotErase, context: CommandContext, who: Erased, subject: str, **detail: str | int
) -> str:
    """One transaction, but for what is too large for one and is done before; then wherever names are in memory, and in
    files. A sentence about what is left, if anything is."""
    store, renaming = context.store, who.renaming
    detail = {name: renaming.text(text) if isinstance(text, str) else text for name, text in detail.items()}
    actor = renaming.text(command.actor)
    command = msgspec.structs.replace(command, actor=subject if actor.startswith(f"{subject} (") else actor)
    no_password = await context.accounts.passwords.hash(new_token())
    await reword_large(store, who)
    records = [*await reworded(store, who), *await rows_of(store, who, no_password)]
    await context.commit(command, subject, records, **detail)
    for _ in range(SWEEPS):
        late = await reworded(store, who)
        if not late:
            break
        await store.commit(late)
    store.history.forget_names()
    if context.control is not None:
        await context.control.erased(who.versions, renaming)
    left = [] if context.files is None else await context.files.erase(list(who.bots), renaming)
    if not left:
        return ""
    return f" Transcripts on {' and '.join(left)} stay until they are too old, as nobody answers there."


COMMANDS: Final = (AccountErase, OwnErase, BotErase)
