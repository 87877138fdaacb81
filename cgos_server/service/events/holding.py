"""How an event is held: it starts, is paused and goes on, is extended, ends or is called off.

All of it is the operator's. What cuts into it has a reason, which is in the audit. Must not know: how events go on,
what follows from an entry of their logs.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from cgos_protocol.api.people import Done
from cgos_protocol.errors import Code, Conflict, Invalid
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import Field
from cgos_server.service.commands.reasons import reason_for
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.service.events.entering import PAGE
from cgos_server.service.events.fields import EventWord, Why, actor_of
from cgos_server.tournaments.checking import MOST_ROUNDS
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import LONGEST_GRACE_S
from cgos_server.tournaments.running.state import AFTER, BEFORE, EventState, Phase, after
from cgos_server.tournaments.running.steps import closing


def is_before(state: EventState | None) -> bool:
    """Whether the event has not started yet."""
    return state is not None and state.phase in BEFORE


def is_running(state: EventState | None) -> bool:
    """Whether it has started and is not over."""
    return state is not None and state.phase is Phase.RUNNING


def is_on(state: EventState | None) -> bool:
    """Whether it is neither over nor cancelled."""
    return state is not None and state.phase not in AFTER


def _is_paused(state: EventState | None) -> bool:
    return is_running(state) and state is not None and state.paused is not None


def _goes_on(state: EventState | None) -> bool:
    return is_running(state) and not _is_paused(state)


class EventStart(Command[Done], frozen=True, kw_only=True, tag="event start"):
    """Start an event now.

    Entry closes, if it is open, and ratings are taken. Where a check-in was asked for, who did not check in is out.
    """

    allowed = Right.OPERATOR
    live = True
    surfaces = (
        CommandLine("event start", "Start EVENT now."),
        ApiRoute("start_event", "POST", "/admin/events/{event}/start"),
        PageForm(PAGE, "Start it", when=is_before),
    )

    event: EventWord

    async def perform(self, context: CommandContext) -> Done:
        events = context.server.events
        state, actor = events.state(self.event), actor_of(context)
        if state.phase is Phase.RUNNING:
            raise Conflict(Code.EVENT_PHASE, f"{self.event} has started already.")
        venue = state.settings.venue
        said: list[log.Said] = [log.Started()]
        if state.phase in (Phase.ANNOUNCED, Phase.ENTRY):
            said.insert(0, closing(state, lambda version: events.rating(venue, version)))
        for number, each in enumerate(said, 1):  # or entry would be closed though it cannot start
            state = after(state, log.LogEntry(state.seq + number, context.now_ms(), actor, each))
        for each in said:
            events.say(self.event, each, actor)
        await context.commit(self, self.event, [])
        return Done(sentence=f"{self.event} has started with {len(state.there)} entrants.")


class EventPause(Command[Done], frozen=True, kw_only=True, tag="event pause"):
    """Pause an event: nothing is paired and no game of it begins; games that run go on."""

    allowed = Right.OPERATOR
    live = True
    audited = ("reason",)
    surfaces = (
        CommandLine("event pause", "Pause EVENT: nothing is paired, no game of it begins; games that run go on."),
        ApiRoute(
            "pause_event", "POST", "/admin/events/{event}/pause", body="PauseEvent", body_says="Why an event is paused."
        ),
        PageForm(PAGE, "Pause it", title="Pause", when=_goes_on),
    )

    event: EventWord
    reason: Why

    async def perform(self, context: CommandContext) -> Done:
        await _say_why(self, context, log.Paused, "is paused")
        return Done(sentence=f"{self.event} is paused. Games that run go on.")


class EventResume(Command[Done], frozen=True, kw_only=True, tag="event resume"):
    """Let an event go on that was paused."""

    allowed = Right.OPERATOR
    live = True
    surfaces = (
        CommandLine("event resume", "Let EVENT go on."),
        ApiRoute("resume_event", "POST", "/admin/events/{event}/resume"),
        PageForm(PAGE, "Let it go on", when=_is_paused),
    )

    event: EventWord

    async def perform(self, context: CommandContext) -> Done:
        context.server.events.say(self.event, log.Resumed(), actor_of(context))
        await context.commit(self, self.event, [])
        return Done(sentence=f"{self.event} goes on.")


class EventExtend(Command[Done], frozen=True, kw_only=True, tag="event extend"):
    """Give an event another number of rounds, or another grace, from now on."""

    allowed = Right.OPERATOR
    live = True
    audited = ("grace_s", "reason", "rounds")
    surfaces = (
        CommandLine("event extend", "Give EVENT another number of rounds, or another grace."),
        ApiRoute(
            "extend_event",
            "POST",
            "/admin/events/{event}/extend",
            body="ExtendEvent",
            body_says="What an event has otherwise from now on, and why; null: as before.",
        ),
        PageForm(PAGE, "Change it", title="Another number of rounds, or another grace", when=is_running),
    )

    event: EventWord
    reason: Why
    rounds: Annotated[
        int | None,
        Field(
            body=Annotated[int, Meta(ge=1, le=MOST_ROUNDS)] | None,
            label="The rounds",
            hint="Empty: as before.",
            help="So many rounds in all.",
            metavar="N",
        ),
    ] = None
    grace_s: Annotated[
        int | None,
        Field(
            body=Annotated[int, Meta(ge=1, le=LONGEST_GRACE_S)] | None,
            label="The grace",
            caption="Grace, seconds",
            hint="Empty: as before.",
            help="Who is away when a game is due has so long to come.",
            metavar="SECONDS",
        ),
    ] = None

    async def perform(self, context: CommandContext) -> Done:
        reason = reason_for(self.reason, f"{self.event} is changed")
        if self.rounds is None and self.grace_s is None:
            raise Invalid(Code.EVENT_SETTING, "Say how many rounds it has from now on, or how long the grace is.")
        said = log.Extended(rounds=self.rounds, grace_s=self.grace_s, reason=reason)
        context.server.events.say(self.event, said, actor_of(context))
        given = {"rounds": self.rounds, "grace_s": self.grace_s}
        kept = {name: value for name, value in given.items() if value is not None}
        await context.commit(self, self.event, [], reason=reason, **kept)
        parts = [f"{self.rounds} rounds"] * (self.rounds is not None)
        parts += [f"a grace of {self.grace_s} seconds"] * (self.grace_s is not None)
        return Done(sentence=f"{self.event} has {' and '.join(parts)} from now on.")


class EventFinish(Command[Done], frozen=True, kw_only=True, tag="event finish"):
    """End an event as it stands. Every game of it has its result then."""

    allowed = Right.OPERATOR
    live = True
    audited = ("reason",)
    surfaces = (
        CommandLine("event finish", "End EVENT as it stands, when every game of it has its result."),
        ApiRoute(
            "finish_event",
            "POST",
            "/admin/events/{event}/finish",
            body="FinishEvent",
            body_says="Why an event ends as it stands.",
        ),
        PageForm(
            PAGE, "End it", title="End it as it stands", when=is_running, warning="{event} will be over.", grave=True
        ),
    )

    event: EventWord
    reason: Why

    async def perform(self, context: CommandContext) -> Done:
        await _say_why(self, context, log.Finished, "ends")
        return Done(sentence=f"{self.event} is over.")


class EventCancel(Command[Done], frozen=True, kw_only=True, tag="event cancel"):
    """Call an event off. What was played stays on record; its games that run are ended without a result."""

    allowed = Right.OPERATOR
    live = True
    audited = ("reason",)
    surfaces = (
        CommandLine("event cancel", "Call EVENT off: its games that run are ended without a result."),
        ApiRoute(
            "cancel_event",
            "POST",
            "/admin/events/{event}/cancel",
            body="CancelEvent",
            body_says="Why there is no event any more.",
        ),
        PageForm(
            PAGE,
            "Call it off",
            title="Call it off",
            when=is_on,
            warning="{event} will be called off, and its games that run ended without a result.",
            grave=True,
        ),
    )

    event: EventWord
    reason: Why

    async def perform(self, context: CommandContext) -> Done:
        await _say_why(self, context, log.Cancelled, "is called off")
        return Done(sentence=f"{self.event} is called off.")


async def _say_why(
    command: EventPause | EventFinish | EventCancel,
    context: CommandContext,
    kind: type[log.Paused | log.Finished | log.Cancelled],
    what: str,
) -> None:
    """Write an entry that says nothing but why. Raises Refused; `what` happens to the event."""
    reason = reason_for(command.reason, f"{command.event} {what}")
    context.server.events.say(command.event, kind(reason=reason), actor_of(context))
    await context.commit(command, command.event, [], reason=reason)


COMMANDS: Final[tuple[type[Command[Done]], ...]] = (
    EventStart,
    EventPause,
    EventResume,
    EventExtend,
    EventFinish,
    EventCancel,
)
