"""Who must not meet in an event: versions by name, or all of one owner or one family; and who may again.

It can be said before the event and while it is held, and has a reason. Must not know: what rounds become of it, how
events go on.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from cgos_protocol.api import people as api
from cgos_protocol.api.people import Done
from cgos_protocol.errors import Code, Invalid
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import Field
from cgos_server.service.commands.reasons import reason_for
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.service.events.entering import PAGE
from cgos_server.service.events.fields import EventWord, Why, actor_of, seat_named
from cgos_server.service.events.holding import is_on
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import APART, Apart
from cgos_server.tournaments.words import listed

Versions = Annotated[
    list[str],
    Field(
        body=Annotated[list[api.Name], msgspec.Meta(max_length=100)],
        label="The versions",
        hint="Names with blanks between them, two or more.",
        metavar="VERSION",
    ),
]
Same = Annotated[
    str | None,
    Field(
        body=Apart | None,
        label="What they have in common",
        caption="All versions of one",
        help="All versions of one owner, or of one family, whoever comes later included.",
    ),
]


class _OfSome(Command[Done], frozen=True, kw_only=True):
    """Base of what is said of versions by name or of all that have something in common."""

    live = True
    audited = ("reason", "same", "versions")

    event: EventWord
    versions: Versions = msgspec.field(default_factory=list)
    reason: Why
    same: Same = None

    async def _say(self, context: CommandContext, kind: type[log.Forbidden | log.Lifted], what: str) -> Done:
        """Write such an entry. Raises Refused."""
        if self.same is not None and self.same not in APART:
            raise Invalid(Code.EVENT_SETTING, f"{self.same[:40]!r} is nothing in common. Give owner or family.")
        reason = reason_for(self.reason, f"they {what}")
        named = [await context.version(name) for name in dict.fromkeys(self.versions)]
        state = context.server.events.state(self.event)
        seats = [seat_named(state, each.version_id, each.name) for each in named]
        said = kind(entrants=tuple(seat.entrant for seat in seats), same=self.same, reason=reason)  # type: ignore[arg-type]
        context.server.events.say(self.event, said, actor_of(context))
        names = [seat.name for seat in seats]
        await context.commit(self, self.event, [], versions=" ".join(names), same=self.same or "", reason=reason)
        who = ", and ".join(filter(None, (listed(names), self.same and f"versions of one {self.same}")))
        return Done(sentence=f"{who[0].upper()}{who[1:]} {what} in {self.event}.")


class EventForbid(_OfSome, frozen=True, kw_only=True, tag="event forbid"):
    """Keep entrants apart: from the next round that is paired on none of these versions meets another one of them.

    Games that are paired already are played.
    """

    allowed = Right.OPERATOR
    surfaces = (
        CommandLine(
            "event forbid",
            "Keep each VERSION apart from the others in EVENT, from the next round that is paired on.\n\n"
            "With --same, instead or besides, all versions of one owner or one family.",
            arguments=("event", "versions"),
        ),
        ApiRoute(
            "forbid_meetings",
            "POST",
            "/admin/events/{event}/forbid",
            body="ForbidMeetings",
            body_says="Two versions or more of which none meets another one, or what those have in common who do not "
            "meet, and why.",
        ),
        PageForm(PAGE, "Keep them apart", title="Keep versions apart", when=is_on),
    )

    async def perform(self, context: CommandContext) -> Done:
        return await self._say(context, log.Forbidden, "must not meet")


class EventLift(_OfSome, frozen=True, kw_only=True, tag="event lift"):
    """Let entrants meet again that were kept apart."""

    allowed = Right.OPERATOR
    surfaces = (
        CommandLine(
            "event lift",
            "Let each VERSION meet the others again in EVENT, and with --same all of one owner or family.",
            arguments=("event", "versions"),
        ),
        ApiRoute(
            "allow_meetings",
            "POST",
            "/admin/events/{event}/lift",
            body="AllowMeetings",
            body_says="Versions that may meet again, or what those have in common who may, and why.",
        ),
        PageForm(
            PAGE,
            "Let them meet",
            title="Let versions meet again",
            when=lambda state: is_on(state) and bool(state.forbidden or state.settings.apart),
        ),
    )

    async def perform(self, context: CommandContext) -> Done:
        return await self._say(context, log.Lifted, "may meet")


COMMANDS: Final[tuple[type[Command[Done]], ...]] = (EventForbid, EventLift)
