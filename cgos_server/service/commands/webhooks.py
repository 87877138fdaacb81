"""Where owners are told by HTTP what their bots do.

Must not know: how a message is delivered.
"""

from __future__ import annotations

from typing import Annotated, Final, get_args

from msgspec import Meta

from cgos_protocol.api import people as api
from cgos_protocol.api.people import Done, NewWebhook
from cgos_protocol.errors import Code, Conflict, Invalid, NotFound
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import Field, Source
from cgos_server.service.commands.reasons import one_line
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.service.people.passwords import SIGNING_PREFIX, new_token
from cgos_server.service.people.webhook_urls import target
from cgos_server.storage.writing.records import WebhookAdded, WebhookStopped

EVENTS: Final[tuple[str, ...]] = get_args(api.Event)
"""What a webhook may be told."""

MOST_WEBHOOKS: Final = 10
"""Webhooks of one account that are sent to."""

WebhookNumber = Annotated[int, Field(body=api.Id, label="The webhook", metavar="NUMBER")]


class WebhookAdd(Command[NewWebhook], frozen=True, kw_only=True, tag="webhook add"):
    """Be told by HTTP what one's bots do."""

    allowed = Right.OWN_BOT_IF_NAMED
    concerns = "bot"
    audited = ("bot", "events", "host", "webhook")
    surfaces = (
        ApiRoute(
            "make_webhook",
            "POST",
            "/me/webhooks",
            body="MakeWebhook",
            body_says="Tell this address by HTTP what one's bots do, or what `bot` does.",
            status=201,
        ),
        PageForm("/account", "Add it", place="webhooks", title="Add a webhook", filled={"events": "game-ended"}),
    )

    url: Annotated[
        str,
        Field(
            body=Annotated[str, Meta(min_length=8, max_length=500)],
            label="The address",
            hint="https:// or http://, on the open Internet.",
            input="url",
        ),
    ]
    events: Annotated[
        list[str],
        Field(body=Annotated[list[api.Event], Meta(min_length=1, max_length=10)], label="Events", caption="When"),
    ]
    bot: Annotated[str | None, Field(body=api.Name | None, caption="Of", source=Source.OWN_BOT)] = None

    async def perform(self, context: CommandContext) -> NewWebhook:
        """Raises Refused (``url``, ``events``, ``full``, ``unknown-bot``)."""
        to = target(self.url)
        events = [event for event in EVENTS if event in self.events]
        if not events or set(events) != set(self.events):
            raise Invalid(Code.EVENTS, f"A webhook is told one or more of: {', '.join(EVENTS)}.")
        person = context.caller.person
        async with context.accounts.name_lock(person.name):  # so that two at once do not pass the limit
            bot = None if self.bot is None else await context.bot(self.bot)
            if len(await context.live_webhooks(person.owner_id)) >= MOST_WEBHOOKS:
                raise Conflict(Code.FULL, f"An account has at most {MOST_WEBHOOKS} webhooks. Remove one first.")
            number, secret, words = context.ids.webhook(), new_token(SIGNING_PREFIX), " ".join(events)
            bot_id, bot_name = (None, "") if bot is None else (bot.bot_id, bot.name)
            added = WebhookAdded(
                id=number,
                owner_id=person.owner_id,
                bot_id=bot_id,
                url=self.url,
                secret=secret,
                events=words,
                created_at=context.now_ms(),
            )
            # The address may hold a word that only its owner knows: its host is enough for the record.
            await context.commit(self, person.name, [added], webhook=number, host=to.host, bot=bot_name, events=words)
        return NewWebhook(id=number, secret=secret)


class WebhookRemove(Command[Done], frozen=True, kw_only=True, tag="webhook remove"):
    """Be told no more."""

    allowed = Right.OWN_WEBHOOK
    concerns = "webhook"
    audited = ("account", "why")
    surfaces = (
        CommandLine("webhook remove", "Send nothing to webhook NUMBER any more."),
        ApiRoute("remove_webhook", "DELETE", "/me/webhooks/{webhook}"),
        PageForm(
            "/account",
            "Remove",
            place="webhook",
            warning="Webhook {webhook} will be told nothing any more. Its secret is forgotten.",
            grave=True,
        ),
    )

    webhook: WebhookNumber

    async def perform(self, context: CommandContext) -> Done:
        return await _stop(self, context, "removed")


class WebhookGiveUp(Command[Done], frozen=True, kw_only=True, tag="webhook give up"):
    """Stop a webhook that has failed for too long; asked by the server itself."""

    allowed = Right.NOBODY
    audited = ("account", "why")

    webhook: WebhookNumber
    why: str

    async def perform(self, context: CommandContext) -> Done:
        return await _stop(self, context, one_line(self.why))


async def _stop(command: WebhookRemove | WebhookGiveUp, context: CommandContext, why: str) -> Done:
    """Raises Refused (``unknown-webhook``)."""
    hook = await context.webhook(command.webhook)
    if hook is None:
        raise NotFound(Code.UNKNOWN_WEBHOOK, f"There is no webhook {command.webhook}, or it is removed already.")
    stopped = WebhookStopped(context.now_ms(), why, hook.id)
    await context.commit(command, f"webhook {hook.id}", [stopped], account=hook.owner_id, why=why)
    return Done(sentence=f"Nothing is sent to webhook {hook.id} any more.")


COMMANDS: Final = (WebhookAdd, WebhookRemove, WebhookGiveUp)
