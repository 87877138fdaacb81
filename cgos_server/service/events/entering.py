"""Who is in an event: versions are entered, check in, sit a round out, withdraw, come back and are struck out.

An owner does it for his own versions, within the event's limits; an operator for any, beyond them. Must not know: how
events go on, what follows from an entry of their logs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, Literal, NamedTuple

from msgspec import Meta

from cgos_protocol.api.people import Done
from cgos_protocol.errors import Code, Forbidden, Invalid
from cgos_server.service.commands.context import CommandContext, NamedVersion
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import Field
from cgos_server.service.commands.reasons import one_line, reason_for
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.service.events.fields import EventWord, VersionWord, Why, actor_of, by_operator, seat_named
from cgos_server.tournaments.checking import MOST_ROUNDS
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.admission import Candidate, entering, rejoining
from cgos_server.tournaments.running.state import BEFORE, EventState, Phase, Seat, closed_to

PAGE: Final = "/events/{event}"

POINTS: Final = {"0": 0, "1/2": 1, "1": 2}
"""Words for what a bye gives -> half points."""

OperatorsWhy = Annotated[
    str,
    Field(
        body=Annotated[str, Meta(max_length=200)],
        label="The reason, which everybody can read,",
        caption="Reason",
        hint="Everybody can read it.",
        help="Why: it stands in the event's log. Operators have to say it.",
    ),
]
RoundNumber = Annotated[
    int | None,
    Field(
        body=Annotated[int, Meta(ge=1, le=MOST_ROUNDS)] | None,
        label="The round",
        hint="Empty: the next one.",
        help="Which round; without this the next one.",
        metavar="N",
    ),
]


class Entry(NamedTuple):
    """An entrant of an event, as the event's page shows it beside its buttons (`place` is ``entrant``)."""

    state: EventState
    seat: Seat


def takes(state: EventState | None) -> bool:
    """Whether versions can be entered just now, by whomever."""
    return state is not None and (state.phase in BEFORE or not closed_to(state))


def _checks_in(entry: Entry) -> bool:
    state = entry.state
    return state.phase in BEFORE and state.settings.times.check_in_s > 0 and not entry.seat.checked_in


def _plays_on(entry: Entry) -> bool:
    return not entry.seat.out and (entry.state.phase in BEFORE or entry.state.phase is Phase.RUNNING)


def _may_rejoin(entry: Entry) -> bool:
    return entry.seat.out and entry.state.phase is Phase.RUNNING


def _may_sit_out(entry: Entry) -> bool:
    return not entry.seat.out and entry.state.phase is Phase.RUNNING


def _sits_out(entry: Entry) -> bool:
    event = entry.state.event
    return _may_sit_out(entry) and any(
        (one.entrant, one.round > len(event.rounds)) == (entry.seat.entrant, True) for one in event.requests
    )


def _may_be_struck(entry: Entry) -> bool:
    event, entrant = entry.state.event, entry.seat.entrant
    running = entry.state.phase is Phase.RUNNING
    return running and entrant in event.by_id and not any(entrant in each.ids for each in event.rounds)


async def candidate_of(context: CommandContext, venue: str, version: str) -> Candidate:
    """A version that wants in, as it is now. Raises Refused (``unknown-bot``)."""
    named = await context.version(version)
    owned = await context.store.history.people.bot_owner(named.name)
    return Candidate(
        version=named.version_id,
        bot=named.bot_id,
        name=named.name,
        family=context.accounts.families.leader(named.bot_id),
        owner=None if owned is None else owned.owner,
        rating=context.server.events.rating(venue, named.version_id),
    )


class EventEnter(Command[Done], frozen=True, kw_only=True, tag="event enter"):
    """Enter a version into an event.

    Owners enter their own, within the event's limits, while entry is open; operators any version, beyond the limits.
    """

    allowed = Right.OWN_BOT
    concerns = "version"
    live = True
    audited = ("event",)
    surfaces = (
        CommandLine("event enter", "Enter VERSION into EVENT.", arguments=("event", "version")),
        ApiRoute(
            "enter_event",
            "POST",
            "/events/{event}/entrants",
            body="EnterEvent",
            body_says="A version, by its wire name.",
            status=201,
        ),
        PageForm(PAGE, "Enter it", title="Enter a version", when=takes),
    )

    event: EventWord
    version: VersionWord

    async def perform(self, context: CommandContext) -> Done:
        events = context.server.events
        candidate = await candidate_of(context, events.state(self.event).settings.venue, self.version)
        said = entering(events.state(self.event), candidate, by_operator(context))
        events.say(self.event, said, actor_of(context))
        await context.commit(self, candidate.name, [], event=self.event)
        waits = " It waits for a place." if said.waits else ""
        return Done(sentence=f"{candidate.name} has entered {self.event}.{waits}")


class EventCheckIn(Command[Done], frozen=True, kw_only=True, tag="event check-in"):
    """Say that an entrant will be there at the start."""

    allowed = Right.OWN_BOT
    concerns = "version"
    live = True
    audited = ("event",)
    surfaces = (
        CommandLine("event check-in", "Check VERSION in at EVENT.", arguments=("event", "version")),
        ApiRoute("check_in", "POST", "/events/{event}/entrants/{version}/check-in"),
        PageForm(PAGE, "Check in", place="entrant", when=_checks_in),
    )

    event: EventWord
    version: VersionWord

    async def perform(self, context: CommandContext) -> Done:
        named = await context.version(self.version)
        seat = _say(context, self.event, named, lambda seat: log.CheckedIn(entrant=seat.entrant))
        await context.commit(self, seat.name, [], event=self.event)
        return Done(sentence=f"{seat.name} has checked in at {self.event}.")


class EventWithdraw(Command[Done], frozen=True, kw_only=True, tag="event withdraw"):
    """Take a version out of an event.

    Before the start its entry is taken back. Afterwards it plays no more in it, and its open games are forfeited.
    """

    allowed = Right.OWN_BOT
    concerns = "version"
    live = True
    audited = ("event", "reason")
    surfaces = (
        CommandLine("event withdraw", "Take VERSION out of EVENT.", arguments=("event", "version")),
        ApiRoute(
            "withdraw",
            "POST",
            "/events/{event}/entrants/{version}/withdraw",
            body="Withdraw",
            body_says="Why a version plays no more; operators have to say it.",
        ),
        PageForm(
            PAGE,
            "Withdraw it",
            place="entrant",
            title="Withdraw",
            when=_plays_on,
            warning="{version} will play no more in {event}. After the start its open games are forfeited.",
            grave=True,
        ),
    )

    event: EventWord
    version: VersionWord
    reason: OperatorsWhy = ""

    async def perform(self, context: CommandContext) -> Done:
        named = await context.version(self.version)
        reason = _reason(context, self.reason, f"{named.name} is withdrawn")
        by = _party(context)
        seat = _say(context, self.event, named, lambda seat: log.Withdrawn(entrant=seat.entrant, reason=reason, by=by))
        await context.commit(self, seat.name, [], event=self.event, reason=reason)
        return Done(sentence=f"{seat.name} has withdrawn from {self.event}.")


class EventRejoin(Command[Done], frozen=True, kw_only=True, tag="event rejoin"):
    """Have a version that withdrew after the start paired again.

    An owner may do so unless an operator withdrew it; who is out because it did not check in comes back as a latecomer.
    """

    allowed = Right.OWN_BOT
    concerns = "version"
    live = True
    audited = ("event",)
    surfaces = (
        CommandLine("event rejoin", "Let VERSION come back into EVENT.", arguments=("event", "version")),
        ApiRoute("rejoin", "POST", "/events/{event}/entrants/{version}/rejoin"),
        PageForm(PAGE, "Come back", place="entrant", when=_may_rejoin),
    )

    event: EventWord
    version: VersionWord

    async def perform(self, context: CommandContext) -> Done:
        named = await context.version(self.version)
        state, by = context.server.events.state(self.event), _party(context)
        seat = _say(context, self.event, named, lambda seat: rejoining(state, seat, by))
        await context.commit(self, seat.name, [], event=self.event)
        return Done(sentence=f"{seat.name} plays on in {self.event}.")


class EventBye(Command[Done], frozen=True, kw_only=True, tag="event bye"):
    """Let an entrant sit out a round that has not begun.

    Owners may ask for no point or half a point; a whole one is the operator's to give.
    """

    allowed = Right.OWN_BOT
    concerns = "version"
    live = True
    audited = ("event", "points", "round")
    surfaces = (
        CommandLine("event bye", "Let VERSION sit out a round of EVENT.", arguments=("event", "version")),
        ApiRoute(
            "request_bye",
            "POST",
            "/events/{event}/entrants/{version}/bye",
            body="RequestBye",
            body_says="A round that an entrant sits out, null for the next one, and the points that this gives.",
        ),
        PageForm(PAGE, "Sit it out", place="entrant", title="Sit a round out", when=_may_sit_out),
    )

    event: EventWord
    version: VersionWord
    round: RoundNumber = None
    points: Annotated[
        str, Field(body=Literal["0", "1/2", "1"], label="The points", help="What it gives.", metavar="POINTS")
    ] = "0"

    async def perform(self, context: CommandContext) -> Done:
        named = await context.version(self.version)
        if self.points == "1" and not by_operator(context):
            raise Forbidden(
                Code.NOT_ALLOWED, "A bye for a whole point is the operator's to give. Ask for none or half a point."
            )
        number = self.round or _next_round(context, self.event)
        if self.points not in POINTS:
            raise Invalid(Code.BYE_POINTS, f"A bye cannot give {self.points!r}. Give 0, 1/2 or 1.")
        points = POINTS[self.points]
        seat = _say(
            context, self.event, named, lambda seat: log.ByeAsked(entrant=seat.entrant, round=number, points=points)
        )
        await context.commit(self, seat.name, [], event=self.event, round=number, points=self.points)
        return Done(sentence=f"{seat.name} sits out round {number} of {self.event}; that gives {self.points}.")


class EventCancelBye(Command[Done], frozen=True, kw_only=True, tag="event cancel-bye"):
    """Have an entrant play in a round that has not begun, which it was to sit out."""

    allowed = Right.OWN_BOT
    concerns = "version"
    live = True
    audited = ("event", "reason", "round")
    surfaces = (
        CommandLine(
            "event cancel-bye",
            "Let VERSION play in a round of EVENT that it was to sit out.",
            arguments=("event", "version"),
        ),
        ApiRoute(
            "cancel_bye",
            "POST",
            "/events/{event}/entrants/{version}/cancel-bye",
            body="CancelBye",
            body_says="The round that an entrant was to sit out, null for the next one, and why; operators have to say "
            "that.",
        ),
        PageForm(PAGE, "Play after all", place="entrant", title="Do not sit it out", when=_sits_out),
    )

    event: EventWord
    version: VersionWord
    round: RoundNumber = None
    reason: OperatorsWhy = ""

    async def perform(self, context: CommandContext) -> Done:
        named = await context.version(self.version)
        reason = _reason(context, self.reason, f"{named.name} plays after all")
        number = self.round or _next_round(context, self.event)
        seat = _say(
            context,
            self.event,
            named,
            lambda seat: log.ByeCancelled(entrant=seat.entrant, round=number, reason=reason),
        )
        await context.commit(self, seat.name, [], event=self.event, round=number, reason=reason)
        return Done(sentence=f"{seat.name} plays in round {number} of {self.event}.")


class EventStrike(Command[Done], frozen=True, kw_only=True, tag="event strike"):
    """Strike out an entry that was a mistake, after the start: who has been in no round is in no standings either.

    Before the start it is withdrawn instead.
    """

    allowed = Right.OPERATOR
    concerns = "version"
    live = True
    audited = ("event", "reason")
    surfaces = (
        CommandLine(
            "event strike",
            "Strike VERSION out of EVENT, where it has been in no round.",
            arguments=("event", "version"),
        ),
        ApiRoute(
            "strike",
            "POST",
            "/admin/events/{event}/entrants/{version}/strike",
            body="Strike",
            body_says="Why an entry was a mistake.",
        ),
        PageForm(
            PAGE,
            "Strike it out",
            place="entrant",
            title="Strike it out",
            when=_may_be_struck,
            warning="{version} will be in the standings of {event} no more.",
            grave=True,
        ),
    )

    event: EventWord
    version: VersionWord
    reason: Why

    async def perform(self, context: CommandContext) -> Done:
        named = await context.version(self.version)
        reason = reason_for(self.reason, f"{named.name} is struck out")
        seat = _say(context, self.event, named, lambda seat: log.Struck(entrant=seat.entrant, reason=reason))
        await context.commit(self, seat.name, [], event=self.event, reason=reason)
        return Done(sentence=f"{seat.name} is struck out of {self.event}.")


def _reason(context: CommandContext, reason: str, what: str) -> str:
    """As it is kept. Raises Refused where an operator gives none."""
    return reason_for(reason, what) if by_operator(context) else one_line(reason)


def _next_round(context: CommandContext, event: str) -> int:
    return len(context.server.events.state(event).event.rounds) + 1


def _party(context: CommandContext) -> log.Party:
    return "operator" if by_operator(context) else "owner"


def _say(context: CommandContext, event: str, named: NamedVersion, say: Callable[[Seat], log.Said]) -> Seat:
    """Write what concerns an entrant into the log of its event. Raises Refused."""
    events = context.server.events
    seat = seat_named(events.state(event), named.version_id, named.name)
    events.say(event, say(seat), actor_of(context))
    return seat


COMMANDS: Final[tuple[type[Command[Done]], ...]] = (
    EventEnter,
    EventCheckIn,
    EventWithdraw,
    EventRejoin,
    EventBye,
    EventCancelBye,
    EventStrike,
)
