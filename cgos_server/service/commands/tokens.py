"""Tokens: those with which bots sign in, and those of the API. A token's text is in one answer and nowhere else.

Must not know: how somebody signs in with one.
"""

from __future__ import annotations

from typing import Annotated, Final, get_args

from msgspec import Meta

from cgos_protocol.api import people as api
from cgos_protocol.api.people import Done, NewToken
from cgos_protocol.errors import Code, Conflict, Forbidden, Invalid, NotFound
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import SESSION_ONLY, BotName, Field
from cgos_server.service.commands.reasons import shown_label
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.service.people.passwords import ACCESS_PREFIX, digest, new_token
from cgos_server.service.people.sessions import DAY_MS
from cgos_server.storage.writing.records import AccessAdded, AccessRevoked, TokenAdded, TokenRevoked

SCOPES: Final[tuple[str, ...]] = get_args(api.Scope)
"""What a token of the API may be made for: one's own bots, or what an operator may do."""
MOST_TOKENS: Final = 50
"""Valid tokens of one account."""
MOST_DAYS: Final = 3650
"""Days that a token may be valid, if it is not for ever."""


class TokenMake(Command[NewToken], frozen=True, kw_only=True, tag="token make"):
    """Make a token with which a bot signs in."""

    allowed = Right.OWN_BOT
    concerns = "bot"
    audited = ("label", "token")
    surfaces = (
        CommandLine("token make", "Make a token for the bot NAME and print it, this once."),
        ApiRoute(
            "make_bot_token",
            "POST",
            "/bots/{bot}/tokens",
            body="MakeBotToken",
            body_says="A token with which a bot signs in instead of its password.",
            status=201,
        ),
        PageForm("/account/bot/{bot}", "Make a token", place="tokens", needed=("label",)),
    )

    bot: BotName
    label: Annotated[str, Field(body=api.Label, label="What it is for", help="What it is for, for people.")] = ""

    async def perform(self, context: CommandContext) -> NewToken:
        bot = await context.bot(self.bot)
        label, token, number = shown_label(self.label), new_token(), context.ids.token()
        added = TokenAdded(id=number, bot_id=bot.bot_id, digest=digest(token), label=label, created_at=context.now_ms())
        await context.commit(self, bot.name, [added], token=number, label=label)
        return NewToken(id=number, token=token)


class TokenRevoke(Command[Done], frozen=True, kw_only=True, tag="token revoke"):
    """End a bot's token's validity."""

    allowed = Right.OWN_BOT
    concerns = "bot"
    audited = ("token",)
    surfaces = (
        CommandLine("token revoke", "End the validity of token ID of the bot NAME."),
        ApiRoute("revoke_bot_token", "DELETE", "/bots/{bot}/tokens/{token}"),
        PageForm(
            "/account/bot/{bot}",
            "Revoke",
            place="token",
            warning="Token {token} of {bot} will let nobody in any more.",
            grave=True,
        ),
    )

    bot: BotName
    token: Annotated[int, Field(body=api.Id, label="The token", metavar="ID")]

    async def perform(self, context: CommandContext) -> Done:
        bot = await context.bot(self.bot)
        token = {token.id: token for token in await context.store.history.bots.tokens(bot.name)}.get(self.token)
        if token is None:
            raise NotFound(
                Code.UNKNOWN_TOKEN, f"{bot.name} has no token {self.token}. See: cgos-server token list {bot.name}"
            )
        if token.revoked_at is not None:
            raise Conflict(Code.REVOKED, f"Token {token.id} of {bot.name} is revoked already.")
        await context.commit(self, bot.name, [TokenRevoked(context.now_ms(), token.id)], token=token.id)
        return Done(sentence=f"Token {token.id} of {bot.name} is revoked.")


class AccessMake(Command[NewToken], frozen=True, kw_only=True, tag="access make"):
    """Make a token for the API."""

    allowed = Right.SESSION
    audited = ("label", "scopes", "token")
    surfaces = (
        ApiRoute(
            "make_token",
            "POST",
            "/me/tokens",
            body="MakeToken",
            body_says="A token for the API. `days`: how long it is valid; null for ever.",
            status=201,
            about=SESSION_ONLY,
        ),
        PageForm(
            "/account",
            "Make it",
            place="tokens",
            title="Make a token",
            filled={"days": "90", "scopes": "bots"},
            needed=("label",),
        ),
    )

    label: Annotated[str, Field(body=api.Label, label="What it is for")] = ""
    scopes: Annotated[
        list[str], Field(body=Annotated[list[api.Scope], Meta(min_length=1, max_length=2)], label="Rights")
    ]
    days: Annotated[
        int | None,
        Field(
            body=Annotated[int, Meta(ge=1, le=MOST_DAYS)] | None,
            label="Days",
            caption="Days that it is valid",
            hint="Empty: until it is revoked.",
        ),
    ] = None

    async def perform(self, context: CommandContext) -> NewToken:
        person = context.caller.person
        scopes = [scope for scope in SCOPES if scope in self.scopes]
        if not scopes or set(scopes) != set(self.scopes):
            raise Invalid(Code.SCOPES, f"A token is for one or more of: {', '.join(SCOPES)}.")
        if self.days is not None and not 1 <= self.days <= MOST_DAYS:
            raise Invalid(Code.DAYS, f"A token is valid for 1 to {MOST_DAYS} days, or for ever.")
        async with context.accounts.name_lock(person.name):
            owner = await context.still_valid(person)
            if "admin" in scopes and not owner.admin:
                raise Forbidden(Code.NOT_ALLOWED, "Only operators can make a token for what operators may do.")
            now = context.now_ms()
            tokens = [
                row for row in await context.store.history.people.valid_access(owner.id, now) if row.kind == "token"
            ]
            if len(tokens) >= MOST_TOKENS:
                raise Conflict(Code.FULL, f"An account has at most {MOST_TOKENS} tokens. End one that you do not need.")
            text, number, label, words = (
                new_token(ACCESS_PREFIX),
                context.ids.access(),
                shown_label(self.label),
                " ".join(scopes),
            )
            until = None if self.days is None else now + self.days * DAY_MS
            address = context.caller.address
            added = AccessAdded(
                id=number,
                owner_id=owner.id,
                kind="token",
                digest=digest(text),
                label=label,
                scopes=words,
                address=address,
                created_at=now,
                expires_at=until,
            )
            await context.commit(self, owner.name, [added], token=number, label=label, scopes=words)
        return NewToken(id=number, token=text)


class AccessRevoke(Command[Done], frozen=True, kw_only=True, tag="access revoke"):
    """End a token, or a session by its number."""

    allowed = Right.OWN_ACCESS
    concerns = "access"
    audited = ("account",)
    surfaces = (
        CommandLine("account end", "End the session or token NUMBER of whichever account."),
        ApiRoute(
            "revoke_token",
            "DELETE",
            "/me/tokens/{token}",
            named={"token": "access"},
            about="A token can end itself; every other one needs a session.",
        ),
        PageForm("/account", "End it", place="access", grave=True),
    )

    access: Annotated[int, Field(body=api.Id, label="The token or session", metavar="NUMBER")]

    async def perform(self, context: CommandContext) -> Done:
        access = await context.access(self.access)
        if access is None:
            raise NotFound(Code.UNKNOWN_ACCESS, f"There is no session or token {self.access}, or it is ended already.")
        ended = AccessRevoked(context.now_ms(), access.id)
        await context.commit(self, f"{access.kind} {access.id}", [ended], account=access.owner_id)
        return Done(sentence=f"The {access.kind} {access.id} is ended.")


COMMANDS: Final = (AccessMake, AccessRevoke, TokenMake, TokenRevoke)
