"""What a bot's owner and operators have it do: pause, limits, going home, and a look at what it does just now.

What an owner wants is kept with the bot and in force at once where it is signed in. Must not know: whose the bot is,
how the live server gives games.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from cgos_protocol import hours
from cgos_protocol.api import people as api
from cgos_protocol.api.people import Done
from cgos_protocol.errors import Code, Conflict, Invalid
from cgos_protocol.lines import admin as cgos_admin
from cgos_protocol.names import name_fault
from cgos_protocol.session import EVERYBODY, Limits
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import BotName, Field, VersionName, reason_field
from cgos_server.service.commands.reasons import connections, reason_for
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, OperatorLine, PageForm
from cgos_server.service.control import VersionNow
from cgos_server.storage.reading.stored import BotLogin
from cgos_server.storage.writing.records import BotWishes

MOST_NAMES: Final = 200
"""Names that a bot's owner may list as not to be met, or as accepted: as many as the bot itself may list."""
MOST_GAMES_A_DAY: Final = 1_000_000


class BotPause(Command[Done], frozen=True, kw_only=True, tag="bot pause"):
    """Give a bot no new game; running games go on."""

    allowed = Right.OWN_BOT
    concerns = "bot"
    surfaces = (
        CommandLine(
            "bot pause",
            "Give the bot NAME no new game until `resume`.\n\n"
            "Wherever it signs in, also after a restart of the server. Running games go on.",
        ),
        ApiRoute("pause_bot", "POST", "/bots/{bot}/pause"),
        PageForm("/account/bot/{bot}", "Pause", when=lambda bot: not bot.paused),
    )

    bot: BotName

    async def perform(self, context: CommandContext) -> Done:
        bot = await context.bot(self.bot)
        await _wish(self, context, bot, paused=True, limits=bot.limits)
        return Done(sentence=f"{bot.name} gets no new game until it is resumed. Running games go on.")


class BotResume(Command[Done], frozen=True, kw_only=True, tag="bot resume"):
    """Give it games again."""

    allowed = Right.OWN_BOT
    concerns = "bot"
    surfaces = (
        CommandLine("bot resume", "Give the bot NAME games again."),
        ApiRoute("resume_bot", "POST", "/bots/{bot}/resume"),
        PageForm("/account/bot/{bot}", "Resume", when=lambda bot: bot.paused),
    )

    bot: BotName

    async def perform(self, context: CommandContext) -> Done:
        bot = await context.bot(self.bot)
        await _wish(self, context, bot, paused=False, limits=bot.limits)
        return Done(sentence=f"{bot.name} gets games again.")


class BotLimit(Command[Done], frozen=True, kw_only=True, tag="bot limit"):
    """What a bot may do.

    On top of what it says itself: `avoid` are wire names that it must not meet, `accepts` as in
    :class:`cgos_protocol.session.Limits`, `hours` as :func:`cgos_protocol.hours.parse` reads them.
    """

    allowed = Right.OWN_BOT
    concerns = "bot"
    audited = ("accepts", "avoid", "games_a_day", "hours")
    surfaces = (
        CommandLine(
            "bot limit",
            "Set all limits of the bot NAME; without options there are none.\n\n"
            "They hold on top of what the bot itself says.",
        ),
        ApiRoute(
            "set_limits",
            "PUT",
            "/bots/{bot}/limits",
            body="SetLimits",
            body_says="What the owner allows a bot, on top of what it says itself. `avoid` are wire names that it must "
            "not meet; `accepts` are accounts and bots of other owners in whose tests, gauntlets and challenges it "
            "plays, `*` for everybody's, empty for nobody's; `hours` say when its games may begin, in UTC: `22-6`, "
            "`Mon-Fri 18-24, Sat`; empty: always.",
        ),
        PageForm("/account/bot/{bot}", "Set the limits", title="Limits"),
    )

    bot: BotName
    games_a_day: Annotated[
        int | None,
        Field(
            body=Annotated[int, Meta(ge=0, le=MOST_GAMES_A_DAY)] | None,
            label="Games a day",
            caption="Games within 24 hours",
            hint="Empty: any number.",
            help="Games that it begins within 24 hours; without this any number.",
            metavar="N",
        ),
    ] = None
    avoid: Annotated[
        list[str],
        Field(
            body=Annotated[list[api.Name], Meta(max_length=MOST_NAMES)],
            caption="Bots that it does not meet",
            hint="Their names, with blanks between them.",
            help="A version that it does not meet; may be repeated.",
            metavar="VERSION",
        ),
    ] = msgspec.field(default_factory=list)
    accepts: Annotated[
        list[str],
        Field(
            body=Annotated[list[api.AskerName], Meta(max_length=MOST_NAMES)],
            caption="Whose questions it plays in",
            hint="Names of accounts or bots, with blanks between them; * for everybody's. Empty: only your own.",
            help="An account or bot whose tests, gauntlets and challenges it plays in, '*' for everybody's; may be "
            "repeated.",
            metavar="NAME",
        ),
    ] = msgspec.field(default_factory=list)
    hours: Annotated[
        str,
        Field(
            body=Annotated[str, Meta(max_length=200)],
            caption="Hours at which its games begin (UTC)",
            hint="Such as 22-6, or Mon-Fri 18-24, Sat. Empty: always.",
            help="When its games may begin, in UTC: 22-6, or Mon-Fri 18-24, Sat.",
            metavar="HOURS",
        ),
    ] = ""

    async def perform(self, context: CommandContext) -> Done:
        limits = self._checked()
        bot = await context.bot(self.bot)
        await _wish(
            self,
            context,
            bot,
            paused=bot.paused,
            limits=limits,
            games_a_day=-1 if limits.games_a_day is None else limits.games_a_day,
            avoid=" ".join(sorted(limits.avoid)),
            accepts=" ".join(sorted(limits.accepts)),
            hours=str(limits.hours),
        )
        most = "any number of games" if limits.games_a_day is None else f"at most {limits.games_a_day} games"
        whom = f" and does not meet {', '.join(sorted(limits.avoid))}" if limits.avoid else ""
        at = f", only at these hours (UTC): {limits.hours}" if str(limits.hours) else ""
        askers = "everybody" if EVERYBODY in limits.accepts else ", ".join(sorted(limits.accepts))
        asked = f" It plays in the questions of {askers}." if askers else ""
        return Done(sentence=f"{bot.name} begins {most} a day{whom}{at}.{asked}")

    def _checked(self) -> Limits:
        """Raises Invalid where one of them is out of range, and Refused where the hours cannot be read."""
        if self.games_a_day is not None and not 0 <= self.games_a_day <= MOST_GAMES_A_DAY:
            raise Invalid(Code.LIMITS, f"Games a day are 0 to {MOST_GAMES_A_DAY}, or no limit.")
        if len(self.avoid) > MOST_NAMES:
            raise Invalid(Code.LIMITS, f"A bot can avoid {MOST_NAMES} versions, not {len(self.avoid)}.")
        if len(self.accepts) > MOST_NAMES:
            raise Invalid(
                Code.LIMITS,
                f"A bot can accept the questions of {MOST_NAMES} accounts and bots, not {len(self.accepts)}; "
                f"{EVERYBODY!r} accepts everybody's.",
            )
        for name in self.avoid:
            if name_fault(name) is not None:
                raise Invalid(Code.LIMITS, f"{name[:40]!r} is not the name of a version.")
        for name in self.accepts:
            if name != EVERYBODY and name_fault(name) is not None:
                raise Invalid(
                    Code.LIMITS,
                    f"{name[:40]!r} is not the name of an account or a bot, nor {EVERYBODY!r} for everybody.",
                )
        return Limits(
            games_a_day=self.games_a_day,
            avoid=frozenset(self.avoid),
            accepts=frozenset(self.accepts),
            hours=hours.parse(self.hours),
        )


class BotDrain(Command[Done], frozen=True, kw_only=True, tag="bot drain"):
    """Send a bot home when its running games have ended."""

    allowed = Right.OWN_BOT
    concerns = "bot"
    live = True
    audited = ("connections",)
    surfaces = (
        CommandLine("bot drain", "Send the bot NAME home when its games have ended.\n\nIt may come back at once."),
        ApiRoute("drain_bot", "POST", "/bots/{bot}/drain"),
        PageForm(
            "/account/bot/{bot}",
            "Drain",
            warning="{bot} will be sent home when its running games have ended. It may come back.",
        ),
    )

    bot: BotName

    async def perform(self, context: CommandContext) -> Done:
        bot = await context.bot(self.bot)
        gone = context.server.drain_bot(bot.bot_id)
        if not gone:
            raise Conflict(Code.NOT_HERE, f"{bot.name} is not signed in.")
        await context.commit(self, bot.name, [], connections=gone)
        return Done(sentence=f"{bot.name} goes when its games have ended ({connections(gone)}). It may come back.")


class BotLook(Command[list[VersionNow]], frozen=True, kw_only=True, tag="bot look"):
    """What a bot does just now, and why it is not paired."""

    allowed = Right.OWN_BOT
    audited = None
    concerns = "bot"
    live = True
    surfaces = (
        CommandLine(
            "bot now",
            "What the bot NAME does just now, and why it is not paired.\n\n"
            "One line for each of its versions and venues in the running server.",
            server_only=True,
        ),
        ApiRoute("bot_now", "GET", "/bots/{bot}/now"),
    )

    bot: BotName

    async def perform(self, context: CommandContext) -> list[VersionNow]:
        bot = await context.bot(self.bot)
        return context.server.look(bot.bot_id)


class Kick(Command[Done], frozen=True, kw_only=True, tag="kick"):
    """Close a bot's connections. It may come back."""

    allowed = Right.OPERATOR
    live = True
    audited = ("connections", "reason")
    surfaces = (
        CommandLine("kick", "Close the connections of the bot NAME.\n\nIt may come back: `bot disable` keeps it out."),
        ApiRoute("kick_bot", "POST", "/admin/bots/{bot}/kick", body="KickBot", body_says="What the bot is told."),
        PageForm(
            "/admin/connections",
            "Kick",
            title="Close connections",
            note="The bot may come back at once; to keep it out, disable it on its page.",
            warning="All connections of {bot} will be closed; it may come back. It is told: {reason}",
            grave=True,
        ),
        OperatorLine(cgos_admin.Kick),
    )

    bot: VersionName
    reason: Annotated[str, reason_field("the bot is told", "Why: told to it and kept.")]

    async def perform(self, context: CommandContext) -> Done:
        reason = reason_for(self.reason, "the connection is closed")
        sentence = f"The operator closes your connection: {reason}"
        gone = context.server.kick(self.bot, sentence)
        if not gone:
            bot = await context.store.history.bots.login(self.bot)
            gone = context.server.dismiss(bot.bot_id, sentence) if bot is not None else 0
        if not gone:
            raise Conflict(Code.NOT_HERE, f"{self.bot} is not signed in. See: cgos-server status")
        await context.commit(self, self.bot, [], reason=reason, connections=gone)
        return Done(
            sentence=f"Closed {connections(gone)} of {self.bot}. It may come back; to keep it out: cgos-server bot "
            f"disable {self.bot}"
        )


async def _wish(
    command: BotPause | BotResume | BotLimit,
    context: CommandContext,
    bot: BotLogin,
    *,
    paused: bool,
    limits: Limits,
    **detail: str | int,
) -> None:
    """What the owner wants, kept and in force."""
    await context.commit(command, bot.name, [BotWishes(int(paused), stored_limits(limits), bot.bot_id)], **detail)
    if context.control is not None:
        context.control.wishes(bot.bot_id, paused, limits)


def stored_limits(limits: Limits) -> str:
    """As a bot's row keeps them; empty for none."""
    if limits == Limits():
        return ""
    fields = {
        "games_a_day": limits.games_a_day,
        "avoid": sorted(limits.avoid),
        "accepts": sorted(limits.accepts),
        "hours": str(limits.hours),
    }
    return msgspec.json.encode(fields).decode()


COMMANDS: Final = (BotPause, BotResume, BotDrain, BotLimit, BotLook, Kick)
