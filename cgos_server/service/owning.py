"""What owners do with their bots: claim and give up, pause, send home and limit them, tokens, and webhooks.

What an owner wants is kept with the bot and in force at once where it is signed in. Must not know: who may ask for
what (see authority), how the live server gives games, how a webhook is delivered.
"""

from __future__ import annotations

from typing import Final

import msgspec

from cgos_protocol import hours
from cgos_protocol.errors import Code, Conflict, Invalid, NotFound, Unauthenticated, Unavailable
from cgos_protocol.names import name_fault
from cgos_protocol.session import Limits
from cgos_server.service.accounts import Accounts
from cgos_server.service.control import Control
from cgos_server.service.deeds import Deeds, one_line
from cgos_server.service.ids import Ids
from cgos_server.service.passwords import SIGNING_PREFIX, digest, looks_like_token, new_token
from cgos_server.service.people import LABEL_MAX, Caller
from cgos_server.service.requests import (
    EVENTS,
    BotClaim,
    BotDrain,
    BotLimit,
    BotLook,
    BotOwn,
    BotPause,
    BotRelease,
    BotResume,
    BotSeen,
    Done,
    TokenMade,
    TokenMake,
    TokenRevoke,
    WebhookAdd,
    WebhookGiveUp,
    WebhookMade,
    WebhookRemove,
)
from cgos_server.service.webhook_urls import target
from cgos_server.storage.people_answers import WebhookRow
from cgos_server.storage.reading.stored import BotLogin, Person
from cgos_server.storage.records import (
    BotOwner,
    BotWishes,
    Record,
    TokenAdded,
    TokenRevoked,
    WebhookAdded,
    WebhookStopped,
)

MOST_WEBHOOKS: Final = 10
"""Webhooks of one account that are sent to."""
MOST_AVOIDED: Final = 200
"""Versions that a bot's owner may name as not to be met, as many as the bot itself may name."""
MOST_GAMES_A_DAY: Final = 1_000_000


class Owning:
    """Handles what concerns bots and their owners. Whoever calls holds the bot's lock, except for a claim.

    :param control: the live server, or None on a closed database
    """

    def __init__(self, deeds: Deeds, ids: Ids, accounts: Accounts, control: Control | None) -> None:
        self._deeds = deeds
        self._store = deeds.store
        self._now_ms = deeds.now_ms
        self._ids = ids
        self._accounts = accounts
        self._control = control

    # -- whose it is

    async def claim(self, request: BotClaim, caller: Caller) -> Done:
        """Raises Refused (``unknown-bot``, ``owned``, ``wrong-password``, ``too-many-failures``, ``busy``)."""
        bot = await self._deeds.bot(request.bot)
        _has_no_owner(bot, caller.person)
        with self._accounts.failures.attempt(caller.address, bot.name):
            await self._accounts.check_secret(bot, request.secret, caller.address)
        async with self._accounts.bot_lock(bot.bot_id):
            now = await self._deeds.bot(request.bot)  # another claim may have been faster
            _has_no_owner(now, caller.person)
            token = looks_like_token(request.secret)
            if digest(request.secret) not in now.tokens if token else now.password != bot.password:
                raise Unauthenticated(
                    Code.WRONG_PASSWORD, f"The password or token of {bot.name} was replaced just now."
                )
            await self._deeds.commit(
                request, bot.name, [BotOwner(caller.person.owner_id, bot.bot_id)], by="token" if token else "password"
            )
        return Done(f"{bot.name} is yours.")

    async def own(self, request: BotOwn) -> Done:
        """Raises Refused (``unknown-bot``, ``unknown-account``)."""
        bot = await self._deeds.bot(request.bot)
        if request.account is None:
            return await self._give_up(request, bot)
        owner = await self._deeds.owner(request.account)
        stopped = [] if owner.id == bot.owner else await self._stopped_webhooks(bot)
        await self._deeds.commit(request, bot.name, [BotOwner(owner.id, bot.bot_id), *stopped], account=owner.name)
        return Done(f"{bot.name} belongs to {owner.name}.")

    async def release(self, request: BotRelease) -> Done:
        """Raises Refused (``unknown-bot``, ``no-owner``)."""
        bot = await self._deeds.bot(request.bot)
        if bot.owner is None:
            raise Conflict(Code.NO_OWNER, f"{bot.name} has no owner.")
        return await self._give_up(request, bot)

    async def _give_up(self, request: BotOwn | BotRelease, bot: BotLogin) -> Done:
        """What its owner wanted ends with the owner."""
        records: list[Record] = [BotOwner(None, bot.bot_id), BotWishes(0, "", bot.bot_id)]
        await self._deeds.commit(request, bot.name, [*records, *await self._stopped_webhooks(bot)])
        self._in_force(bot, False, Limits())
        return Done(
            f"{bot.name} belongs to nobody: it is not paused and not limited. Its password and its tokens stay valid."
        )

    async def _stopped_webhooks(self, bot: BotLogin) -> list[Record]:
        """Its owner's webhooks for this very bot."""
        if bot.owner is None:
            return []
        hooks = await self._webhooks_of(bot.owner)
        why = f"{bot.name} changed hands"
        return [WebhookStopped(self._now_ms(), why, hook.id) for hook in hooks if hook.bot == bot.name]

    async def _webhooks_of(self, owner_id: int) -> list[WebhookRow]:
        """The webhooks of this account that are sent to."""
        return [hook for hook in await self._store.history.people.webhooks(owner_id) if hook.stopped_at is None]

    # -- what it is to do

    async def pause(self, request: BotPause | BotResume) -> Done:
        """Raises Refused (``unknown-bot``)."""
        bot = await self._deeds.bot(request.bot)
        paused = isinstance(request, BotPause)
        await self._wish(request, bot, paused, bot.limits)
        if paused:
            return Done(f"{bot.name} gets no new game until it is resumed. Running games go on.")
        return Done(f"{bot.name} gets games again.")

    async def limit(self, request: BotLimit) -> Done:
        """Raises Refused (``unknown-bot``, ``limits``, ``hours``)."""
        if request.games_a_day is not None and not 0 <= request.games_a_day <= MOST_GAMES_A_DAY:
            raise Invalid(Code.LIMITS, f"Games a day are 0 to {MOST_GAMES_A_DAY}, or no limit.")
        if len(request.avoid) > MOST_AVOIDED:
            raise Invalid(Code.LIMITS, f"A bot can avoid {MOST_AVOIDED} versions, not {len(request.avoid)}.")
        for name in request.avoid:
            if name_fault(name) is not None:
                raise Invalid(Code.LIMITS, f"{name[:40]!r} is not the name of a version.")
        when = hours.parse(request.hours)
        bot = await self._deeds.bot(request.bot)
        limits = Limits(request.games_a_day, frozenset(request.avoid), when)
        await self._wish(
            request,
            bot,
            bot.paused,
            limits,
            games_a_day=-1 if limits.games_a_day is None else limits.games_a_day,
            avoid=" ".join(sorted(limits.avoid)),
            hours=str(limits.hours),
        )
        most = "any number of games" if limits.games_a_day is None else f"at most {limits.games_a_day} games"
        whom = f" and does not meet {', '.join(sorted(limits.avoid))}" if limits.avoid else ""
        at = f", only at these hours (UTC): {limits.hours}" if str(limits.hours) else ""
        return Done(f"{bot.name} begins {most} a day{whom}{at}.")

    async def look(self, request: BotLook) -> BotSeen:
        """Raises Refused (``unknown-bot``, ``no-server``)."""
        bot = await self._deeds.bot(request.bot)
        return BotSeen(self._live().look(bot.bot_id))

    async def drain(self, request: BotDrain) -> Done:
        """Raises Refused (``unknown-bot``, ``no-server``, ``not-here``)."""
        bot = await self._deeds.bot(request.bot)
        told = self._live().drain_bot(bot.bot_id)
        if not told:
            raise Conflict(Code.NOT_HERE, f"{bot.name} is not signed in.")
        await self._deeds.commit(request, bot.name, [], connections=told)
        many = "1 connection" if told == 1 else f"{told} connections"
        return Done(f"{bot.name} goes when its games have ended ({many}). It may come back.")

    async def _wish(
        self,
        request: BotPause | BotResume | BotLimit,
        bot: BotLogin,
        paused: bool,
        limits: Limits,
        **detail: str | int,
    ) -> None:
        await self._deeds.commit(
            request, bot.name, [BotWishes(int(paused), stored_limits(limits), bot.bot_id)], **detail
        )
        self._in_force(bot, paused, limits)

    def _live(self) -> Control:
        if self._control is None:
            raise Unavailable(Code.NO_SERVER, "No server runs on this database. Start one with: cgos-server serve")
        return self._control

    def _in_force(self, bot: BotLogin, paused: bool, limits: Limits) -> None:
        if self._control is not None:
            self._control.wishes(bot.bot_id, paused, limits)

    # -- its tokens

    async def token_make(self, request: TokenMake) -> TokenMade:
        """Raises Refused (``unknown-bot``)."""
        bot = await self._deeds.bot(request.bot)
        label = one_line(request.label)[:LABEL_MAX]
        token, number = new_token(), self._ids.token()
        added = TokenAdded(number, bot.bot_id, digest(token), label, self._now_ms())
        await self._deeds.commit(request, bot.name, [added], token=number, label=label)
        return TokenMade(number, token)

    async def token_revoke(self, request: TokenRevoke) -> Done:
        """Raises Refused (``unknown-bot``, ``unknown-token``, ``revoked``)."""
        bot = await self._deeds.bot(request.bot)
        found = {token.id: token for token in await self._store.history.bots.tokens(bot.name)}.get(request.token)
        if found is None:
            raise NotFound(
                Code.UNKNOWN_TOKEN, f"{bot.name} has no token {request.token}. See: cgos-server token list {bot.name}"
            )
        if found.revoked_at is not None:
            raise Conflict(Code.REVOKED, f"Token {found.id} of {bot.name} is revoked already.")
        await self._deeds.commit(request, bot.name, [TokenRevoked(self._now_ms(), found.id)], token=found.id)
        return Done(f"Token {found.id} of {bot.name} is revoked.")

    # -- being told

    async def webhook_add(self, request: WebhookAdd, caller: Caller) -> WebhookMade:
        """Raises Refused (``url``, ``events``, ``full``, ``unknown-bot``)."""
        to = target(request.url)
        events = [event for event in EVENTS if event in request.events]
        if not events or set(events) != set(request.events):
            raise Invalid(Code.EVENTS, f"A webhook is told one or more of: {', '.join(EVENTS)}.")
        person = caller.person
        async with self._accounts.name_lock(person.name):  # so that two at once do not pass the limit
            bot = None if request.bot is None else await self._deeds.bot(request.bot)
            if len(await self._webhooks_of(person.owner_id)) >= MOST_WEBHOOKS:
                raise Conflict(Code.FULL, f"An account has at most {MOST_WEBHOOKS} webhooks. Remove one first.")
            number, secret = self._ids.webhook(), new_token(SIGNING_PREFIX)
            added = WebhookAdded(
                number,
                person.owner_id,
                None if bot is None else bot.bot_id,
                request.url,
                secret,
                " ".join(events),
                self._now_ms(),
            )
            # The address may hold a word that only its owner knows: its host is enough for the record.
            await self._deeds.commit(
                request,
                person.name,
                [added],
                webhook=number,
                host=to.host,
                bot="" if bot is None else bot.name,
                events=" ".join(events),
            )
        return WebhookMade(number, secret)

    async def webhook_stop(self, request: WebhookRemove | WebhookGiveUp) -> Done:
        """Raises Refused (``unknown-webhook``)."""
        hook = await self._deeds.webhook(request.webhook)
        if hook is None:
            raise NotFound(Code.UNKNOWN_WEBHOOK, f"There is no webhook {request.webhook}, or it is removed already.")
        why = "removed" if isinstance(request, WebhookRemove) else one_line(request.why)
        await self._deeds.commit(
            request,
            f"webhook {hook.id}",
            [WebhookStopped(self._now_ms(), why, hook.id)],
            account=hook.owner_id,
            why=why,
        )
        return Done(f"Nothing is sent to webhook {hook.id} any more.")


def stored_limits(limits: Limits) -> str:
    """As a bot's row keeps them; empty for none."""
    if limits == Limits():
        return ""
    said = {"games_a_day": limits.games_a_day, "avoid": sorted(limits.avoid), "hours": str(limits.hours)}
    return msgspec.json.encode(said).decode()


def _has_no_owner(bot: BotLogin, person: Person) -> None:
    if bot.owner == person.owner_id:
        raise Conflict(Code.OWNED, f"{bot.name} is yours already.")
    if bot.owner is not None:
        raise Conflict(Code.OWNED, f"{bot.name} has an owner. Its owner may give it up, or ask the operators.")
